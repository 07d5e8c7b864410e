// SPDX-License-Identifier: Apache-2.0
// The dialect in the Metal shading language, which has most of its words. Functions that overflow in between, or are coarse in
// halves, go by way of float.
#include "gpu/lang/prelude.h"

#define FLOAT_ARITHMETIC \
    "#define real float\n" \
    "#define real4 float4\n" \
    "#define to_real(x) float(x)\n" \
    "#define to_real4(v) float4(v)\n" \
    "#define mk4(a, b, c, d) float4(a, b, c, d)\n" \
    "#define splat4(x) float4(x)\n"

static const char first[] = "#include <metal_stdlib>\nusing namespace metal;\n";
static const char full[] =
    "#define stor4 float4\n"
    "#define load4(s) (s)\n"
    "#define pack4(v) (v)\n" FLOAT_ARITHMETIC;
static const char half_storage[] =
    "#define stor4 half4\n"
    "#define load4(s) float4(s)\n"
    "#define pack4(v) half4(v)\n" FLOAT_ARITHMETIC;
static const char half_arithmetic[] =
    "#define stor4 half4\n"
    "#define load4(s) (s)\n"
    "#define pack4(v) (v)\n"
    "#define real half\n"
    "#define real4 half4\n"
    "#define to_real(x) half(x)\n"
    "#define to_real4(v) half4(v)\n"
    "#define mk4(a, b, c, d) half4(a, b, c, d)\n"
    "#define splat4(x) half4(x)\n";

// A word for one type and for its vector, by way of what the library has for (vectors of) float.
#define BY_FLOAT(word, expression) \
    "static inline float " word "_(float v) { return " expression "; }\n" \
    "static inline float4 " word "_(float4 v) { return " expression "; }\n" \
    "static inline half " word "_(half v) { return half(" word "_(float(v))); }\n" \
    "static inline half4 " word "_(half4 v) { return half4(" word "_(float4(v))); }\n" \
    "#define " word "(v) " word "_(v)\n"

static const char words[] =
    "#define FUNCTION_ static inline\n"
    "#define acc4 float4\n"
    "#define mkf4(a, b, c, d) float4(a, b, c, d)\n"
    "#define mki4(a, b, c, d) int4(a, b, c, d)\n"
    "#define splatf4(x) float4(x)\n"
    "#define splati4(x) int4(x)\n"
    "#define to_int(x) int(x)\n"
    "#define to_float(x) float(x)\n"
    "#define to_uint_(x) uint(x)\n"
    "#define to_acc4(v) float4(v)\n"
    "#define to_float4(v) float4(v)\n"
    "#define to_int4(v) int4(v)\n"
    "#define bits_to_float(x) as_type<float>(x)\n"
    "#define pick(c, a, b) ((c) ? (a) : (b))\n"
    "#define mad(a, b, c) ((a) * (b) + (c))\n"
    "#define abs(v) fabs(v)\n"
    "#define round_away(v) round(v)\n"
    "#define round_even(v) rint(v)\n"
    "#define sign_of(v) sign(v)\n"
    "#define pow_safe(a, b) pow(a, b)\n"
    "#define dot4(a, b) dot(a, b)\n"
    BY_FLOAT("tanh", "tanh(clamp(v, -15.0f, 15.0f))") BY_FLOAT("exp", "exp(v)") BY_FLOAT("log", "log(v)")
    BY_FLOAT("sin", "sin(v)") BY_FLOAT("cos", "cos(v)")
    "#define UNROLL _Pragma(\"clang loop unroll(full)\")\n"
    "#define BARRIER threadgroup_barrier(mem_flags::mem_threadgroup)\n"
    "#define GID0 int(gid_.x)\n"
    "#define GID1 int(gid_.y)\n"
    "#define GID2 int(gid_.z)\n"
    "#define LID0 int(lid_.x)\n"
    "#define LID1 int(lid_.y)\n"
    "#define LID2 int(lid_.z)\n"
    "#define GROUP0 int(group_.x)\n"
    "#define GROUP1 int(group_.y)\n"
    "#define GROUP2 int(group_.z)\n"
    "#define READ_OR_ZERO_(b, n, p) (beside_(n, p) ? splat4(0.0f) : load4(b[at_(n, p)]))\n";

const struct gpu_prelude gpu_prelude_metal = {
    .first = {first, first, first},
    .types = {full, half_storage, half_arithmetic},
    .words = words,
    .constant = "#define $ @\n",
    .group = "#define GROUP_X @\n#define GROUP_Y @\n#define GROUP_Z @\n",
    .params_open = "struct params_ {\n",
    .param = "    int4 $;\n",
    .params_close = "};\n",
    .param_access = "#define $ q_.$\n",
    .buffer =
        {
            [GPU_IN] = "device const stor4 *b_$ [[buffer(@)]]",
            [GPU_OUT] = "device stor4 *b_$ [[buffer(@)]]",
            [GPU_WEIGHTS] = "device const stor4 *b_$ [[buffer(@)]]",
            [GPU_RAW_IN] = "device const float *$ [[buffer(@)]]",
            [GPU_RAW_OUT] = "device float *$ [[buffer(@)]]",
        },
    .shared = "threadgroup ",
    .entry = "kernel void $(",
    .entry_params = "constant params_ &q_ [[buffer(@)]]",
    .entry_close = ",\n    uint3 gid_ [[thread_position_in_grid]],\n    uint3 lid_ [[thread_position_in_threadgroup]],\n"
                   "    uint3 group_ [[threadgroup_position_in_grid]])\n{\n",
};
