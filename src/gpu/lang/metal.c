// SPDX-License-Identifier: Apache-2.0
// The dialect in the Metal shading language, which has most of its words. Functions whose intermediate halves would
// overflow or be too coarse compute in floats. Conversions are functions, because C++ parses
// `(float4(float(a[i]))) + (b)` as a cast of + b.
#include "gpu/lang/prelude.h"

// Defines the conversion to a type from every other.
#define TO(word, type) \
    "template <typename T> static inline " type " " word "(T v) { return " type "(v); }\n"
#define FROM_FOUR(word, vector, type) \
    "static inline " vector " " word "(" type " a, " type " b, " type " c, " type " d) { return " vector "(a, b, c, d); }\n"

#define FLOAT_ARITHMETIC \
    "#define real float\n" \
    "#define real4 float4\n" \
    TO("to_real", "float") TO("to_real4", "float4") TO("splat4", "float4") FROM_FOUR("mk4", "float4", "float")

static const char first[] = "#include <metal_stdlib>\nusing namespace metal;\n";
static const char full[] =
    "#define stor4 float4\n"
    "#define load4(s) (s)\n"
    "#define pack4(v) (v)\n" FLOAT_ARITHMETIC;
static const char half_storage[] =
    "#define stor4 half4\n" TO("load4", "float4") TO("pack4", "half4") FLOAT_ARITHMETIC;
static const char half_arithmetic[] =
    "#define stor4 half4\n"
    "#define load4(s) (s)\n"
    "#define pack4(v) (v)\n"
    "#define real half\n"
    "#define real4 half4\n"
    TO("to_real", "half") TO("to_real4", "half4") TO("splat4", "half4") FROM_FOUR("mk4", "half4", "half");

// Defines a word for a type and for its vector by the function of the library for floats.
#define BY_FLOAT(word, expression) \
    "static inline float " word "_(float v) { return " expression "; }\n" \
    "static inline float4 " word "_(float4 v) { return " expression "; }\n" \
    "static inline half " word "_(half v) { return half(" word "_(float(v))); }\n" \
    "static inline half4 " word "_(half4 v) { return half4(" word "_(float4(v))); }\n" \
    "#define " word "(v) " word "_(v)\n"

static const char words[] =
    "#define FUNCTION_ static inline\n"
    "#define acc4 float4\n"
    FROM_FOUR("mkf4", "float4", "float") FROM_FOUR("mki4", "int4", "int") TO("splatf4", "float4") TO("splati4", "int4")
    TO("to_int", "int") TO("to_float", "float") TO("to_uint_", "uint") TO("to_acc4", "float4") TO("to_float4", "float4")
    TO("to_int4", "int4")
    "#define bits_to_float(x) as_type<float>(x)\n"
    "#define float_to_bits(x) as_type<int>(x)\n"
    "#define is_nan(x) ((as_type<int>(x) & 0x7fffffff) > 0x7f800000)\n"
    GPU_WORDS_LIKE_OPENCL
    BY_FLOAT("tanh", "tanh(v)") BY_FLOAT("exp", "exp(v)") BY_FLOAT("log", "log(v)")
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
    "#define READ_OR_ZERO_(b, n, p) (beside_(n, p) ? splat4(0.0f) : load4(b[at_(n, p)]))\n"
    "#define READ_FLOAT_OR_ZERO_(b, n, p) (beside_(n, p) ? splatf4(0.0f) : b[at_(n, p)])\n";

const struct gpu_prelude gpu_prelude_metal = {
    .first = {first, first, first},
    .types = {full, half_storage, half_arithmetic},
    .words = words,
    .integer_words = "#define mul_high(a, b) mulhi(int(a), int(b))\n"
                     "#define mul_high_u(a, b) int(mulhi(uint(a), uint(b)))\n"
                     "#define leading_zeros(x) int(clz(uint(x)))\n"
                     GPU_WRAPPING_WORDS("uint"),
    GPU_PRELUDE_LIKE_C,
    .buffer = GPU_PRELUDE_BUFFERS("device const ", "device ", "", " [[buffer(@)]]"),
    .shared = "threadgroup ",
    .entry = "kernel void $(",
    .entry_params = "constant params_ &q_ [[buffer(@)]]",
    .entry_close = ",\n    uint3 gid_ [[thread_position_in_grid]],\n    uint3 lid_ [[thread_position_in_threadgroup]],\n"
                   "    uint3 group_ [[threadgroup_position_in_grid]])\n{\n",
};
