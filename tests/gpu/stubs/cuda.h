// SPDX-License-Identifier: Apache-2.0
// As much of CUDA's own declarations as the dialect's prelude uses, so that clang can read kernels without the toolkit.
#ifndef HALITE_TESTS_GPU_STUBS_CUDA_H
#define HALITE_TESTS_GPU_STUBS_CUDA_H

#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(most, groups) __attribute__((launch_bounds(most, groups)))
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __restrict__ __restrict

struct uint3 {
    unsigned x, y, z;
};
extern const __device__ uint3 threadIdx, blockIdx;
__device__ void __syncthreads();
__device__ unsigned long __cvta_generic_to_shared(const void *pointer);
__device__ float __int_as_float(int bits);
__device__ int __float_as_int(float number);
__device__ int __mulhi(int a, int b);
__device__ unsigned __umulhi(unsigned a, unsigned b);
__device__ int __clz(int bits);
__device__ float fabsf(float), floorf(float), ceilf(float), expf(float), logf(float), sqrtf(float), rsqrtf(float),
    sinf(float), cosf(float), tanhf(float), roundf(float), rintf(float), fminf(float, float), fmaxf(float, float),
    powf(float, float);

#endif
