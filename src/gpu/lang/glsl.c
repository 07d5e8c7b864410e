// SPDX-License-Identifier: Apache-2.0
// The dialect in GLSL: 450 for Vulkan, with constants that may be set when a pipeline is made, and ES 3.10. Halves lie in
// memory as pairs in 32-bit words, which needs no feature of 16-bit storage; half arithmetic needs shaderFloat16 in Vulkan and
// is mediump in ES.
#include "gpu/lang/prelude.h"

#define FLOAT_ARITHMETIC \
    "#define real float\n" \
    "#define real4 vec4\n" \
    "#define to_real(x) float(x)\n" \
    "#define to_real4(v) vec4(v)\n" \
    "#define mk4(a, b, c, d) vec4(a, b, c, d)\n" \
    "#define splat4(x) vec4(x)\n"

#define HALF_STORAGE \
    "#define stor4 uvec2\n" \
    "vec4 load4(uvec2 u) { return vec4(unpackHalf2x16(u.x), unpackHalf2x16(u.y)); }\n" \
    "uvec2 pack4(vec4 v) { return uvec2(packHalf2x16(v.xy), packHalf2x16(v.zw)); }\n"

static const char full[] =
    "#define stor4 vec4\n"
    "#define load4(s) (s)\n"
    "#define pack4(v) (v)\n" FLOAT_ARITHMETIC;
static const char half_storage[] = HALF_STORAGE FLOAT_ARITHMETIC;
static const char half_arithmetic[] =
    "#define stor4 uvec2\n"
    "f16vec4 load4(uvec2 u) { return f16vec4(unpackFloat2x16(u.x), unpackFloat2x16(u.y)); }\n"
    "uvec2 pack4(f16vec4 v) { return uvec2(packFloat2x16(v.xy), packFloat2x16(v.zw)); }\n"
    "#define real float16_t\n"
    "#define real4 f16vec4\n"
    "#define to_real(x) float16_t(x)\n"
    "#define to_real4(v) f16vec4(v)\n"
    "#define mk4(a, b, c, d) f16vec4(a, b, c, d)\n"
    "#define splat4(x) f16vec4(x)\n";
static const char half_mediump[] = HALF_STORAGE
    "#define real mediump float\n"
    "#define real4 mediump vec4\n"
    "#define to_real(x) float(x)\n"
    "#define to_real4(v) vec4(v)\n"
    "#define mk4(a, b, c, d) vec4(a, b, c, d)\n"
    "#define splat4(x) vec4(x)\n";

// A function for numbers and vectors of four.
#define BOTH(name, body) "float " name "(float v) " body "vec4 " name "(vec4 v) " body

#define WORDS \
    "#define FUNCTION_\n" \
    "#define int4 ivec4\n" \
    "#define float4 vec4\n" \
    "#define acc4 vec4\n" \
    "#define mkf4(a, b, c, d) vec4(a, b, c, d)\n" \
    "#define mki4(a, b, c, d) ivec4(a, b, c, d)\n" \
    "#define splatf4(x) vec4(x)\n" \
    "#define splati4(x) ivec4(x)\n" \
    "#define to_int(x) int(x)\n" \
    "#define to_float(x) float(x)\n" \
    "#define to_uint_(x) uint(x)\n" \
    "#define to_acc4(v) vec4(v)\n" \
    "#define to_float4(v) vec4(v)\n" \
    "#define to_int4(v) ivec4(v)\n" \
    "#define bits_to_float(x) intBitsToFloat(x)\n" \
    "#define pick(c, a, b) ((c) ? (a) : (b))\n" \
    "#define mad(a, b, c) ((a) * (b) + (c))\n" \
    "#define rsqrt(v) inversesqrt(v)\n" \
    "#define round_even(v) roundEven(v)\n" \
    "#define sign_of(v) sign(v)\n" \
    "#define dot4(a, b) dot(a, b)\n" \
    "#define LID0 int(gl_LocalInvocationID.x)\n" \
    "#define LID1 int(gl_LocalInvocationID.y)\n" \
    "#define LID2 int(gl_LocalInvocationID.z)\n" \
    "#define GROUP0 int(gl_WorkGroupID.x)\n" \
    "#define GROUP1 int(gl_WorkGroupID.y)\n" \
    "#define GROUP2 int(gl_WorkGroupID.z)\n" \
    "#define GID0 int(gl_GlobalInvocationID.x)\n" \
    "#define GID1 int(gl_GlobalInvocationID.y)\n" \
    "#define GID2 int(gl_GlobalInvocationID.z)\n" \
    "#define READ_OR_ZERO_(b, n, p) (beside_(n, p) ? splat4(0.0f) : load4(b[at_(n, p)]))\n" \
    BOTH("round_away", "{ return sign(v) * (floor(abs(v)) + step(0.5, abs(v) - floor(abs(v)))); }\n") \
    /* by way of exp in many drivers, which overflows */ \
    BOTH("tanh_", "{ return tanh(clamp(v, -15.0, 15.0)); }\n") \
    /* pow of a negative number is undefined */ \
    "float pow_safe(float a, float b) {\n" \
    "    float whole = floor(b);\n" \
    "    float result = pow(abs(a), b);\n" \
    "    if (a == 0.0) result = b == 0.0 ? 1.0 : (b > 0.0 ? 0.0 : intBitsToFloat(0x7f800000));\n" \
    "    if (a < 0.0 && whole - 2.0 * floor(whole * 0.5) == 1.0) result = -result;\n" \
    "    if (a < 0.0 && whole != b) result = intBitsToFloat(0x7fc00000);\n" \
    "    return result;\n" \
    "}\n" \
    "vec4 pow_safe(vec4 a, vec4 b) {\n" \
    "    return vec4(pow_safe(a.x, b.x), pow_safe(a.y, b.y), pow_safe(a.z, b.z), pow_safe(a.w, b.w));\n" \
    "}\n"

static const char words_vulkan[] = WORDS
    "#define UNROLL [[unroll]]\n"
    "#define BARRIER barrier()\n"
    "#define GROUP_X int(gl_WorkGroupSize.x)\n"
    "#define GROUP_Y int(gl_WorkGroupSize.y)\n"
    "#define GROUP_Z int(gl_WorkGroupSize.z)\n";
static const char words_gles[] = WORDS
    "#define UNROLL\n"
    "void barrier_() { memoryBarrierShared(); barrier(); }\n"
    "#define BARRIER barrier_()\n";

// Functions whose halves would overflow or are too coarse in between: by way of float.
#define BY_FLOAT(name) \
    "float16_t " name "(float16_t v) { return float16_t(" name "(float(v))); }\n" \
    "f16vec4 " name "(f16vec4 v) { return f16vec4(" name "(vec4(v))); }\n"
#define BY_FLOAT_AS(name, word) \
    BOTH(name, "{ return " word "(v); }\n") BY_FLOAT(name) "#define " word "(v) " name "(v)\n"
static const char more[] = "#define tanh(v) tanh_(v)\n";
static const char more_half[] = BY_FLOAT("tanh_") BY_FLOAT("round_away")
    BY_FLOAT_AS("exp_", "exp") BY_FLOAT_AS("log_", "log") BY_FLOAT_AS("sin_", "sin") BY_FLOAT_AS("cos_", "cos")
    "#define tanh(v) tanh_(v)\n"
    "float16_t pow_safe(float16_t a, float16_t b) { return float16_t(pow_safe(float(a), float(b))); }\n"
    "f16vec4 pow_safe(f16vec4 a, f16vec4 b) { return f16vec4(pow_safe(vec4(a), vec4(b))); }\n";

#define VERSION_VULKAN "#version 450\n#extension GL_EXT_control_flow_attributes : require\n"
#define VERSION_GLES "#version 310 es\nprecision highp float;\nprecision highp int;\n"
#define BUFFER(binding, access, type, name) \
    "layout(std430, " binding "binding = @) " access " restrict buffer B@_ { " type " " name "[]; };\n"
#define BUFFERS(binding) { \
        [GPU_IN] = BUFFER(binding, "readonly", "stor4", "b_$"), \
        [GPU_OUT] = BUFFER(binding, "writeonly", "stor4", "b_$"), \
        [GPU_WEIGHTS] = BUFFER(binding, "readonly", "stor4", "b_$"), \
        [GPU_RAW_IN] = BUFFER(binding, "readonly", "float", "$"), \
        [GPU_RAW_OUT] = BUFFER(binding, "writeonly", "float", "$"), \
        [GPU_BYTES_IN] = BUFFER(binding, "readonly", "int", "$"), \
        [GPU_BYTES_OUT] = BUFFER(binding, "writeonly", "int", "$"), \
    }

const struct gpu_prelude gpu_prelude_vulkan = {
    .first = {VERSION_VULKAN, VERSION_VULKAN,
              VERSION_VULKAN "#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require\n"},
    .types = {full, half_storage, half_arithmetic},
    .words = words_vulkan,
    .more = {more, more, more_half},
    .constant = "layout(constant_id = @) const int $ = @;\n",
    .group = "layout(local_size_x = @, local_size_y = @, local_size_z = @) in;\n"
             "layout(local_size_x_id = 100, local_size_y_id = 101, local_size_z_id = 102) in;\n",
    .params_open = "layout(push_constant) uniform Q_ {\n",
    .param = "    int4 $;\n",
    .params_close = "};\n",
    .buffer = BUFFERS("set = 0, "),
    .shared = "shared ",
    .entry = "void main(",
    .entry_close = ")\n{\n",
    .globals = true,
    .constants_stay = true,
};

const struct gpu_prelude gpu_prelude_gles = {
    .first = {VERSION_GLES, VERSION_GLES, VERSION_GLES},
    .types = {full, half_storage, half_mediump},
    .words = words_gles,
    .more = {more, more, more},
    .constant = "#define $ @\n",
    .group = "#define GROUP_X @\n#define GROUP_Y @\n#define GROUP_Z @\n"
             "layout(local_size_x = GROUP_X, local_size_y = GROUP_Y, local_size_z = GROUP_Z) in;\n",
    .params_open = "layout(std140, binding = 0) uniform Q_ {\n",
    .param = "    int4 $;\n",
    .params_close = "};\n",
    .buffer = BUFFERS(""),
    .shared = "shared ",
    .entry = "void main(",
    .entry_close = ")\n{\n",
    .globals = true,
};
