// SPDX-License-Identifier: Apache-2.0
// What comes before a text of CUDA C++ that the host's compiler reads: as much of CUDA's own declarations as the
// dialect uses, and what its PTX instructions do.
#ifndef HALITE_TESTS_FAKES_CUDA_KERNEL_H
#define HALITE_TESTS_FAKES_CUDA_KERNEL_H

#include "base/half.h"
#include "common/grid_kernel.h"

#define __CUDA_ARCH__ 900
#define __device__
#define __global__ __attribute__((visibility("hidden")))
#define __shared__ GRID_SHARED
#define __forceinline__ inline
// Shared memory whose size the launch gives: as much as a kernel may ask for.
#define FAKE_DYNAMIC(type, name) static __attribute__((aligned(16))) type name[232448 / sizeof(type)]
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))
#define threadIdx grid_now.local
#define blockIdx grid_now.group
#define __syncthreads() GRID_BARRIER()
#define __cvta_generic_to_shared(pointer) ((unsigned long)(pointer))
#define __int_as_float(bits) hl_float_from_bits((uint32_t)(bits))
#define __float_as_int(number) ((int)hl_float_bits(number))

extern "C" float fabsf(float), floorf(float), ceilf(float), expf(float), logf(float), sqrtf(float), sinf(float),
    cosf(float), tanhf(float), roundf(float), rintf(float), fminf(float, float), fmaxf(float, float),
    powf(float, float);
static inline float rsqrtf(float v)
{
    return 1.0f / sqrtf(v);
}

static inline int __mulhi(int a, int b)
{
    return (int)(((long long)a * b) >> 32);
}
static inline unsigned __umulhi(unsigned a, unsigned b)
{
    return (unsigned)(((unsigned long long)a * b) >> 32);
}
static inline int __clz(int bits)
{
    return bits == 0 ? 32 : __builtin_clz((unsigned)bits);
}

// Whether a work-item has waited for earlier kernels since the last question.
static int has_waited_;
extern "C" __attribute__((visibility("default"))) int fake_cuda_has_waited()
{
    int waited = has_waited_;
    has_waited_ = 0;
    return waited;
}

// The instructions, told apart by their operands and by their first letter.
static inline void ptx_(const char *text)
{
    if (__builtin_strcmp(text, "griddepcontrol.wait;") == 0) has_waited_ = 1;
}
static inline void ptx_(const char *text, int)
{
    if (__builtin_strstr(text, "griddepcontrol.wait;")) has_waited_ = 1;
}
// Of barriers that count bytes nothing is left: a copy in bulk is done at once.
static inline void ptx_(const char *, unsigned long) {}
static inline void ptx_(const char *, unsigned long, int) {}
static inline void ptx_(const char *, unsigned long to, const void *from, int bytes, unsigned long)
{
    __builtin_memcpy((void *)to, from, (unsigned long)bytes);
}
static inline void ptx_(const char *, int &x, int &y, int &z, int &w, const void *from)
{
    const int *four = (const int *)from;
    x = four[0], y = four[1], z = four[2], w = four[3];
}
static inline void ptx_(const char *, float &to, unsigned short from)
{
    to = hl_half_to_float(from);
}
static inline void ptx_(const char *, unsigned short &to, float from)
{
    to = hl_half_from_float(from);
}
static inline void ptx_(const char *text, unsigned short &to, unsigned short a, unsigned short b)
{
    float x = hl_half_to_float(a), y = hl_half_to_float(b);
    to = hl_half_from_float(text[0] == 'a' ? x + y : text[0] == 's' ? x - y : x * y);
}
static inline void ptx_(const char *text, unsigned &to, unsigned a, unsigned b)
{
    unsigned short low, high;
    ptx_(text, low, (unsigned short)a, (unsigned short)b);
    ptx_(text, high, (unsigned short)(a >> 16), (unsigned short)(b >> 16));
    to = low | (unsigned)high << 16;
}
static inline void ptx_(const char *, unsigned &to, float high, float low)
{
    to = hl_half_from_float(low) | (unsigned)hl_half_from_float(high) << 16;
}
static inline void ptx_(const char *, int &to, int a, int b, int sum)
{
    for (int shift = 0; shift < 32; shift += 8) sum += (signed char)(a >> shift) * (signed char)(b >> shift);
    to = sum;
}

// A matrix product of a warp, m16n8k16 of halves or m16n8k8 of TF32: lane 4 g + t has rows g and g + 8 of a, column g
// of b, and the columns 2 t and 2 t + 1 of c.
static unsigned mma_operands_[1024][6];
static inline float mma_number_(bool halves, int lane, int first, int row, int k)
{
    unsigned bits = mma_operands_[lane][first + row + (k / (halves ? 8 : 4)) * (first == 0 ? 2 : 1)];
    if (!halves) return hl_float_from_bits(bits & 0xffffe000u);
    return hl_half_to_float((unsigned short)(bits >> (k % 2 * 16)));
}
static inline void ptx_(const char *text, float &c0, float &c1, float &c2, float &c3, unsigned a0, unsigned a1,
                        unsigned a2, unsigned a3, unsigned b0, unsigned b1)
{
    bool halves = __builtin_strstr(text, "f16.f16") != 0;
    int me =
        (int)((grid_now.local.z * grid_now.group_size.y + grid_now.local.y) * grid_now.group_size.x + grid_now.local.x);
    int warp = me / 32 * 32, g = me % 32 / 4, t = me % 4;
    unsigned mine[6] = {a0, a1, a2, a3, b0, b1};
    float *c[4] = {&c0, &c1, &c2, &c3};
    GRID_BARRIER();
    for (int i = 0; i < 6; i++) mma_operands_[me][i] = mine[i];
    GRID_BARRIER();
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < (halves ? 16 : 8); k++) {
            int holder = halves ? k % 8 / 2 : k % 4;
            *c[i] += mma_number_(halves, warp + 4 * g + holder, 0, i / 2, k) *
                     mma_number_(halves, warp + 4 * (2 * t + i % 2) + holder, 4, 0, k);
        }
}

#endif
