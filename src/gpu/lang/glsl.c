// SPDX-License-Identifier: Apache-2.0
// The dialect in GLSL: version 450 for Vulkan, with specialization constants, and version 3.10 for OpenGL ES. Halves are
// stored as pairs in 32-bit words, which needs no extension for 16-bit storage. Half arithmetic needs shaderFloat16 in
// Vulkan and is mediump in OpenGL ES.
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

// Defines a function for numbers and for vectors of four.
#define BOTH(name, body) "float " name "(float v) " body "vec4 " name "(vec4 v) " body

// sin and cos to 2 units in the last place for all arguments. The language promises little accuracy for its own, and none
// beyond pi. The argument is reduced to v = n * pi / 2 + r with r in -pi/4 .. pi/4:
//   Up to 8192, pi / 2 is subtracted in parts with so few bits that their products with n are exact.
//   Above, v is multiplied as an integer by the 96 bits of 2 / pi that decide the angle. The bits before these contribute
//   whole turns, the bits after them less than a float can represent.
// The polynomials for r have a relative error of 2^-27 (found by Remez's algorithm).
#define WAVES \
    "float far_(uint bits, out int quarter) {\n" \
    "    const uint digits[8] = uint[8](0u, 0xA2F9836Eu, 0x4E441529u, 0xFC2757D1u, 0xF534DDC0u, 0xDB629599u, 0x3C439041u,\n" \
    "                                   0xFE5163ABu);\n" \
    "    uint number = bits & 0x7fffffu | 0x800000u;\n" \
    "    int first = int(bits >> 23) - 120;\n" \
    "    int word = first >> 5, left = first & 31;\n" \
    "    uint part[3];\n" \
    "    for (int i = 0; i < 3; i += 1) {\n" \
    "        part[i] = digits[word + i] << left;\n" \
    "        if (left > 0) part[i] |= digits[word + i + 1] >> (32 - left);\n" \
    "    }\n" \
    "    uint high, low, carried, last, carry;\n" \
    "    umulExtended(number, part[1], high, low);\n" \
    "    umulExtended(number, part[2], carried, last);\n" \
    "    low = uaddCarry(low, carried, carry);\n" \
    "    high += number * part[0] + carry;\n" \
    "    int turn = int(high << 2 | low >> 30);\n" \
    "    quarter = int(high >> 30) + (turn < 0 ? 1 : 0);\n" \
    "    return (float(turn) * 2.3283064e-10 + float(low << 2) * 5.4210109e-20) * 1.57079633;\n" \
    "}\n" \
    "float wave_(float v, int quarter) {\n" \
    "    uint bits = floatBitsToUint(v) & 0x7fffffffu;\n" \
    "    if (bits >= 0x7f800000u) return intBitsToFloat(0x7fc00000);\n" \
    "    float n = roundEven(v * 0.636619772);\n" \
    "    float r = ((v - n * 1.5703125) - n * 4.837512969970703e-4) - n * 7.549533620476723e-8 - n * 2.563344151594519e-12;\n" \
    "    if (bits < 0x46000000u) {\n" \
    "        quarter += int(n);\n" \
    "    } else {\n" \
    "        int turned;\n" \
    "        r = far_(bits, turned);\n" \
    "        r = v < 0.0 ? -r : r;\n" \
    "        quarter += v < 0.0 ? -turned : turned;\n" \
    "    }\n" \
    "    float z = r * r;\n" \
    "    float up = r + r * z * (-0.1666665467 + z * (0.008332100474 + z * -0.0001950389756));\n" \
    "    float across = 1.0 - 0.5 * z + z * z * (0.04166665465 + z * (-0.001388765394 + z * 2.446377549e-5));\n" \
    "    float wave = (quarter & 1) == 1 ? across : up;\n" \
    "    return (quarter & 2) == 2 ? -wave : wave;\n" \
    "}\n" \
    "float sin_(float v) { return wave_(v, 0); }\n" \
    "float cos_(float v) { return wave_(v, 1); }\n" \
    "vec4 sin_(vec4 v) { return vec4(sin_(v.x), sin_(v.y), sin_(v.z), sin_(v.w)); }\n" \
    "vec4 cos_(vec4 v) { return vec4(cos_(v.x), cos_(v.y), cos_(v.z), cos_(v.w)); }\n"

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
    "#define float_to_bits(x) floatBitsToInt(x)\n" \
    "#define is_nan(x) ((floatBitsToInt(x) & 0x7fffffff) > 0x7f800000)\n" \
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
    "#define READ_FLOAT_OR_ZERO_(b, n, p) (beside_(n, p) ? splatf4(0.0f) : b[at_(n, p)])\n" \
    BOTH("round_away", "{ return sign(v) * (floor(abs(v)) + step(0.5, abs(v) - floor(abs(v)))); }\n") \
    /* by way of exp in many drivers, which overflows; a clamp may lose a NaN */ \
    "float tanh_(float v) { return is_nan(v) ? v : tanh(clamp(v, -15.0, 15.0)); }\n" \
    "vec4 tanh_(vec4 v) { return vec4(tanh_(v.x), tanh_(v.y), tanh_(v.z), tanh_(v.w)); }\n" \
    /* as C's: pow of a negative number is undefined here, and so are infinities and NaN */ \
    "float pow_safe(float a, float b) {\n" \
    "    float size = abs(a), whole = floor(b), result = pow(size, b);\n" \
    "    float infinity = intBitsToFloat(0x7f800000);\n" \
    "    bool grows = b > 0.0, odd = whole == b && abs(b) < 16777216.0 && whole - 2.0 * floor(whole * 0.5) == 1.0;\n" \
    "    bool far = (floatBitsToInt(b) & 0x7fffffff) == 0x7f800000;\n" \
    "    if (a < 0.0 && whole != b) result = intBitsToFloat(0x7fc00000);\n" \
    "    if (far) result = size == 1.0 ? 1.0 : (size > 1.0) == grows ? infinity : 0.0;\n" \
    "    if (size == 0.0) result = grows ? 0.0 : infinity;\n" \
    "    if (floatBitsToInt(size) == 0x7f800000) result = grows ? infinity : 0.0;\n" \
    "    if (odd && floatBitsToInt(a) < 0) result = -result;\n" \
    "    if (is_nan(a) || is_nan(b)) result = intBitsToFloat(0x7fc00000);\n" \
    "    if (b == 1.0) result = a;\n" \
    "    return b == 0.0 || a == 1.0 ? 1.0 : result;\n" \
    "}\n" \
    "vec4 pow_safe(vec4 a, vec4 b) {\n" \
    "    return vec4(pow_safe(a.x, b.x), pow_safe(a.y, b.y), pow_safe(a.z, b.z), pow_safe(a.w, b.w));\n" \
    "}\n" WAVES

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

// Defines functions that compute in floats, because an intermediate half would overflow or be too coarse.
#define BY_FLOAT(name) \
    "float16_t " name "(float16_t v) { return float16_t(" name "(float(v))); }\n" \
    "f16vec4 " name "(f16vec4 v) { return f16vec4(" name "(vec4(v))); }\n"
#define BY_FLOAT_AS(name, word) \
    BOTH(name, "{ return " word "(v); }\n") BY_FLOAT(name) "#define " word "(v) " name "(v)\n"
#define HIDE_COARSE "#define tanh(v) tanh_(v)\n#define sin(v) sin_(v)\n#define cos(v) cos_(v)\n"
static const char more[] = HIDE_COARSE;
static const char more_half[] = BY_FLOAT("tanh_") BY_FLOAT("round_away")
    BY_FLOAT("sin_") BY_FLOAT("cos_") BY_FLOAT_AS("exp_", "exp") BY_FLOAT_AS("log_", "log") HIDE_COARSE
    "float16_t pow_safe(float16_t a, float16_t b) { return float16_t(pow_safe(float(a), float(b))); }\n"
    "f16vec4 pow_safe(f16vec4 a, f16vec4 b) { return f16vec4(pow_safe(vec4(a), vec4(b))); }\n";

#define VERSION_VULKAN "#version 450\n#extension GL_EXT_control_flow_attributes : require\n"
#define VERSION_GLES "#version 310 es\nprecision highp float;\nprecision highp int;\n"
#define BUFFER_AS(block, binding, access, type, name) \
    "layout(std430, " binding "binding = @) " access " restrict buffer " block "@_ { " type " " name "[]; };\n"
#define BUFFER(binding, access, type, name) BUFFER_AS("B", binding, access, type, name)
#define BUFFERS(binding) { \
        [GPU_IN] = BUFFER(binding, "readonly", "b_$_type_", "b_$"), \
        [GPU_OUT] = BUFFER(binding, "writeonly", "b_$_type_", "b_$"), \
        [GPU_WEIGHTS] = BUFFER(binding, "readonly", "b_$_type_", "b_$"), \
        [GPU_CODES_IN] = BUFFER(binding, "readonly", "int", "b_$"), \
        [GPU_CODES_OUT] = BUFFER(binding, "writeonly", "int", "b_$"), \
        [GPU_INTS] = BUFFER(binding, "readonly", "ivec4", "b_$"), \
        [GPU_RAW_IN] = BUFFER(binding, "readonly", "float", "$"), \
        [GPU_RAW_OUT] = BUFFER(binding, "writeonly", "float", "$"), \
        [GPU_BYTES_IN] = BUFFER(binding, "readonly", "int", "$"), \
        [GPU_BYTES_OUT] = BUFFER(binding, "writeonly", "int", "$"), \
    }

static const char integer_words[] =
    "int mul_high(int a, int b) { int high, low; imulExtended(a, b, high, low); return high; }\n"
    "int mul_high_u(int a, int b) { uint high, low; umulExtended(uint(a), uint(b), high, low); return int(high); }\n"
    "#define leading_zeros(x) (31 - findMSB(uint(x)))\n"
    "#define wrap_add(a, b) ((a) + (b))\n"
    "#define wrap_mul(a, b) ((a) * (b))\n"
    "#define shift_right_u(x, n) int(uint(x) >> (n))\n";

// OpSDot, of four bytes packed into an int (0), with the capabilities DotProductInput4x8BitPacked and DotProduct.
// GLSL has no word of its own for it that glslang 12 knows.
static const char dot_words[] =
    "spirv_instruction(extensions = [\"SPV_KHR_integer_dot_product\"], capabilities = [6018, 6019], id = 4450)\n"
    "int packed_dot_(int a, int b, spirv_literal int format);\n"
    "#define dot_bytes(a, b, sum) (packed_dot_(a, b, 0) + (sum))\n";

// Numbers as halves, and those of their split: the first half of each number, and what it leaves, times 2048. The first
// one is rounded by its bits, since compilers may take a number that goes to a half and back for the number itself: with
// driver 580 of an H100 nothing was left. Numbers that halves do not hold in all 11 bits are left whole.
#define HALF_WORDS \
    "ivec4 halves_of(vec4 a, vec4 b) {\n" \
    "    return ivec4(packHalf2x16(a.xy), packHalf2x16(a.zw), packHalf2x16(b.xy), packHalf2x16(b.zw));\n" \
    "}\n" \
    "vec4 first_halves(vec4 v) {\n" \
    "    vec4 first = uintBitsToFloat(floatBitsToUint(v) + 0x1000u & 0xffffe000u);\n" \
    "    return mix(first, vec4(0.0), lessThan(abs(v), vec4(6.103515625e-5)));\n" \
    "}\n" \
    "ivec4 rests_of(vec4 a, vec4 b) {\n" \
    "    return halves_of((a - first_halves(a)) * 2048.0, (b - first_halves(b)) * 2048.0);\n" \
    "}\n" \
    "vec4 four_halves(int low, int high) { return vec4(unpackHalf2x16(uint(low)), unpackHalf2x16(uint(high))); }\n"

// Fragments in plain code are where they begin, and work-item 4 g + t has the sums of slice t at positions g and g + 8.
static const char fragment_words[] = HALF_WORDS
    "#define SUBGROUP (LID2 * GROUP_Y + LID1)\n"
    "#define FRAGMENTS_X(name, count) int name[count]\n"
    "#define FRAGMENTS_W(name, count) int name[count]\n"
    "#define FRAGMENTS_SUM(name, count) vec4 name[2 * (count)]\n"
    "#define LOAD_X(x, at) x = at\n"
    "#define LOAD_W(w, at) w = at\n"
    "#define LOAD_W_OF_TILE(w, at) w = ~(at)\n"
    "#define CLEAR_SUM(name, i) { name[2 * (i)] = vec4(0.0); name[2 * (i) + 1] = vec4(0.0); }\n"
    "float dot_halves_(ivec4 a, ivec4 b) {\n"
    "    return dot(four_halves(a.x, a.y), four_halves(b.x, b.y)) + dot(four_halves(a.z, a.w), four_halves(b.z, b.w));\n"
    "}\n"
    "vec4 dots_(ivec4 x, ivec4 w0, ivec4 w1, ivec4 w2, ivec4 w3) {\n"
    "    return vec4(dot_halves_(x, w0), dot_halves_(x, w1), dot_halves_(x, w2), dot_halves_(x, w3));\n"
    "}\n"
    "#define W_(w, i) ((w) < 0 ? tile[~(w) + (i) / 2 * ROW + (i) % 2] : b_weights[(w) + (i)])\n"
    "#define ADD_PRODUCT(name, i, x, w) { \\\n"
    "    for (int k_ = 0; k_ < 2; k_ += 1) { \\\n"
    "        int x_ = (x) + LID0 / 4 * ROW + k_; \\\n"
    "        int w_ = LID0 % 4 * 8 + k_; \\\n"
    "        name[2 * (i)] += dots_(tile[x_], W_(w, w_), W_(w, w_ + 2), W_(w, w_ + 4), W_(w, w_ + 6)); \\\n"
    "        x_ += 8 * ROW; \\\n"
    "        name[2 * (i) + 1] += dots_(tile[x_], W_(w, w_), W_(w, w_ + 2), W_(w, w_ + 4), W_(w, w_ + 6)); \\\n"
    "    } \\\n"
    "}\n"
    "#define ADD_REST(name, rest, i) { \\\n"
    "    name[2 * (i)] += rest[2 * (i)] * (1.0 / 2048.0); \\\n"
    "    name[2 * (i) + 1] += rest[2 * (i) + 1] * (1.0 / 2048.0); \\\n"
    "}\n"
    "#define STORE_SUM(at, name, i) { \\\n"
    "    tile[(at) + LID0 / 4 * 5 + LID0 % 4] = floatBitsToInt(name[2 * (i)]); \\\n"
    "    tile[(at) + LID0 / 4 * 5 + 40 + LID0 % 4] = floatBitsToInt(name[2 * (i) + 1]); \\\n"
    "}\n";

// Cooperative matrices of 16 x 16: OpTypeCooperativeMatrixKHR (4456) and its load, store and product. glslang 12 takes no
// types as operands of types, so the first one is a number of bits, which gpu_shaders replaces by the type of floats.
// Shared memory is written and read by other invocations of the group: what is stored is made available (8) and what is
// loaded visible (16) to it, as no private pointer (32).
#define COOPERATIVE "extensions = [\"SPV_KHR_cooperative_matrix\"], capabilities = [6022, 9]"
#define MATRIX_TYPE(name, bits, use) \
    "#define " name " spirv_type(" COOPERATIVE ", id = 4456, " bits ", SUBGROUP_SCOPE_, SIDE_, SIDE_, " use ")\n"
static const char cooperative_words[] = HALF_WORDS
    "const int HALF_BITS_ = 16;\n"
    "const int FLOAT_BITS_ = 32;\n"
    "const int SUBGROUP_SCOPE_ = 3;\n"
    "const int GROUP_SCOPE_ = 2;\n"
    "const int SIDE_ = 16;\n"
    "const int USE_X_ = 0;\n"
    "const int USE_W_ = 1;\n"
    "const int USE_SUM_ = 2;\n"
    MATRIX_TYPE("matrix_x_", "HALF_BITS_", "USE_X_") MATRIX_TYPE("matrix_w_", "HALF_BITS_", "USE_W_")
    MATRIX_TYPE("matrix_sum_", "FLOAT_BITS_", "USE_SUM_")
    "spirv_instruction(id = 4457)\n"
    "matrix_x_ load_x_(spirv_by_reference ivec4 from, int by_row, int stride, spirv_literal int access, int scope);\n"
    "spirv_instruction(id = 4457) matrix_w_ load_w_(spirv_by_reference ivec4 from, int by_column, int stride);\n"
    "spirv_instruction(id = 4457)\n"
    "matrix_w_ load_shared_w_(spirv_by_reference ivec4 from, int by_column, int stride, spirv_literal int access, int scope);\n"
    "spirv_instruction(id = 4458)\n"
    "void store_sum_(spirv_by_reference ivec4 to, matrix_sum_ v, int by_row, int stride, spirv_literal int access,\n"
    "                int scope);\n"
    "spirv_instruction(id = 4459) matrix_sum_ multiply_add_(matrix_x_ x, matrix_w_ w, matrix_sum_ sum);\n"
    "spirv_instruction(id = 80) matrix_sum_ fill_(float v);\n"
    "spirv_instruction(id = 129) matrix_sum_ add_(matrix_sum_ a, matrix_sum_ b);\n"
    "spirv_instruction(id = 143) matrix_sum_ times_(matrix_sum_ a, float b);\n"
    "#define SUBGROUP int(gl_SubgroupID)\n"
    "#define FRAGMENTS_X(name, count) matrix_x_ name[count]\n"
    "#define FRAGMENTS_W(name, count) matrix_w_ name[count]\n"
    "#define FRAGMENTS_SUM(name, count) matrix_sum_ name[count]\n"
    "#define LOAD_X(x, at) x = load_x_(tile[at], 0, ROW, 48, GROUP_SCOPE_)\n"
    "#define LOAD_W(w, at) w = load_w_(b_weights[at], 1, 2)\n"
    "#define LOAD_W_OF_TILE(w, at) w = load_shared_w_(tile[at], 1, ROW, 48, GROUP_SCOPE_)\n"
    "#define CLEAR_SUM(name, i) name[i] = fill_(0.0)\n"
    "#define ADD_PRODUCT(name, i, x, w) name[i] = multiply_add_(x, w, name[i])\n"
    "#define ADD_REST(name, rest, i) name[i] = add_(name[i], times_(rest[i], 1.0 / 2048.0))\n"
    "#define STORE_SUM(at, name, i) store_sum_(tile[at], name[i], 0, 5, 40, GROUP_SCOPE_)\n";

// The templates that both have.
#define TEMPLATES \
    .integer_words = integer_words, \
    .param = "    int4 $;\n", \
    .params_close = "};\n", \
    .shared = "shared ", \
    .entry = "void main(", \
    .entry_close = ")\n{\n", \
    .globals = true

const struct gpu_prelude gpu_prelude_vulkan = {
    .first = {VERSION_VULKAN, VERSION_VULKAN,
              VERSION_VULKAN "#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require\n"},
    .types = {full, half_storage, half_arithmetic},
    .words = words_vulkan,
    .more = {more, more, more_half},
    .dot_words = dot_words,
    .dot_first = "#extension GL_EXT_spirv_intrinsics : require\n",
    .fragment_words = fragment_words,
    .cooperative_words = cooperative_words,
    .cooperative_first = "#pragma use_vulkan_memory_model\n#extension GL_EXT_spirv_intrinsics : require\n"
                         "#extension GL_KHR_shader_subgroup_basic : require\n",
    .constant = "layout(constant_id = @) const int $ = @;\n",
    .group = "layout(local_size_x = @, local_size_y = @, local_size_z = @) in;\n"
             "layout(local_size_x_id = 100, local_size_y_id = 101, local_size_z_id = 102) in;\n",
    .params_open = "layout(push_constant) uniform Q_ {\n",
    .buffer = BUFFERS("set = 0, "),
    .float_buffer =
        {
            [GPU_IN] = BUFFER_AS("F", "set = 0, ", "readonly", "vec4", "f_$"),
            [GPU_OUT] = BUFFER_AS("F", "set = 0, ", "writeonly", "vec4", "f_$"),
            [GPU_WEIGHTS] = BUFFER_AS("F", "set = 0, ", "readonly", "vec4", "f_$"),
        },
    TEMPLATES,
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
    .buffer = BUFFERS(""),
    TEMPLATES,
};
