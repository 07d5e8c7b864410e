// SPDX-License-Identifier: Apache-2.0
// The dialect in OpenCL C 1.2. Half storage needs no extension, because core OpenCL converts halves in memory. NVIDIA's
// compiler writes them to memory for that, so that it is given the instruction instead. Half arithmetic needs
// cl_khr_fp16.
#include "gpu/lang/prelude.h"

#define HALF_STORAGE \
    "#if defined(__NV_CL_C_VERSION)\n" \
    "static float widen_(ushort u) { float f; asm(\"cvt.f32.f16 %0, %1;\" : \"=f\"(f) : \"h\"(u)); return f; }\n" \
    "static ushort narrow_(float f) { ushort u; asm(\"cvt.rn.f16.f32 %0, %1;\" : \"=h\"(u) : \"f\"(f)); return u; }\n" \
    "static float4 load4(ushort4 u) {\n" \
    "    return (float4)(widen_(u.x), widen_(u.y), widen_(u.z), widen_(u.w));\n" \
    "}\n" \
    "static ushort4 pack4(float4 v) {\n" \
    "    return (ushort4)(narrow_(v.x), narrow_(v.y), narrow_(v.z), narrow_(v.w));\n" \
    "}\n" \
    "#else\n" \
    "static float4 load4(ushort4 u) { return vload_half4(0, (const half *)&u); }\n" \
    "static ushort4 pack4(float4 v) { ushort4 u; vstore_half4_rte(v, 0, (half *)&u); return u; }\n" \
    "#endif\n"

#define FLOAT_ARITHMETIC \
    "#define real float\n" \
    "#define real4 float4\n" \
    "#define to_real(x) ((float)(x))\n" \
    "#define to_real4(v) convert_float4(v)\n" \
    "#define mk4(a, b, c, d) ((float4)(a, b, c, d))\n" \
    "#define splat4(x) ((float4)(x))\n"

static const char full[] =
    "#define stor4 float4\n"
    "#define load4(s) (s)\n"
    "#define pack4(v) (v)\n" FLOAT_ARITHMETIC;
static const char half_storage[] = "#define stor4 ushort4\n" HALF_STORAGE FLOAT_ARITHMETIC;
static const char half_arithmetic[] =
    "#define stor4 half4\n"
    "#define load4(s) (s)\n"
    "#define pack4(v) (v)\n"
    "#define real half\n"
    "#define real4 half4\n"
    "#define to_real(x) ((half)(x))\n"
    "#define to_real4(v) convert_half4(v)\n"
    "#define mk4(a, b, c, d) ((half4)(a, b, c, d))\n"
    "#define splat4(x) ((half4)((half)(x)))\n";

static const char words[] =
    "#define FUNCTION_ static\n"
    "#define acc4 float4\n"
    "#define mkf4(a, b, c, d) ((float4)(a, b, c, d))\n"
    "#define mki4(a, b, c, d) ((int4)(a, b, c, d))\n"
    "#define splatf4(x) ((float4)(x))\n"
    "#define splati4(x) ((int4)(x))\n"
    "#define to_int(x) ((int)(x))\n"
    "#define to_float(x) ((float)(x))\n"
    "#define to_uint_(x) ((uint)(x))\n"
    "#define to_acc4(v) convert_float4(v)\n"
    "#define to_float4(v) convert_float4(v)\n"
    "#define to_int4(v) convert_int4(v)\n"
    "#define bits_to_float(x) as_float(x)\n"
    "#define float_to_bits(x) as_int(x)\n"
    "#define is_nan(x) ((as_int(x) & 0x7fffffff) > 0x7f800000)\n"
    GPU_WORDS_LIKE_OPENCL
    "#define UNROLL _Pragma(\"unroll\")\n"
    // What the words in nvidia.c take. The options of the build name the capability.
    "#define SHARED_ __local\n"
    "#define SHARED_OF_ __local\n"
    "#define SHARED_AT_(p) ((ulong)(p))\n"
    "#define GLOBAL_ __global\n"
    "#define LONG_ ulong\n"
    "#define BARRIER barrier(CLK_LOCAL_MEM_FENCE)\n"
    "#define LID0 ((int)get_local_id(0))\n"
    "#define LID1 ((int)get_local_id(1))\n"
    "#define LID2 ((int)get_local_id(2))\n"
    "#define GROUP0 ((int)get_group_id(0))\n"
    "#define GROUP1 ((int)get_group_id(1))\n"
    "#define GROUP2 ((int)get_group_id(2))\n"
    // get_global_id would add an offset, which is always zero here, in 64 bits.
    "#define GID0 (GROUP0 * GROUP_X + LID0)\n"
    "#define GID1 (GROUP1 * GROUP_Y + LID1)\n"
    "#define GID2 (GROUP2 * GROUP_Z + LID2)\n"
    "#define READ_OR_ZERO_(b, n, p) read_or_zero_(b, n, p)\n"
    "#define READ_FLOAT_OR_ZERO_(b, n, p) read_float_or_zero_(b, n, p)\n";

// These are functions, because ?: with a vector as its condition has another meaning in OpenCL C.
static const char more[] =
    "static int at_(int4 n, int4 p);\n"
    "static bool beside_(int4 n, int4 p);\n"
    "static real4 read_or_zero_(__global const stor4 *b, int4 n, int4 p) {\n"
    "    if (beside_(n, p)) return splat4(0.0f);\n"
    "    return load4(b[at_(n, p)]);\n"
    "}\n"
    "static float4 read_float_or_zero_(__global const float4 *b, int4 n, int4 p) {\n"
    "    if (beside_(n, p)) return splatf4(0.0f);\n"
    "    return b[at_(n, p)];\n"
    "}\n";

// The extension's function needs OpenCL C 3.0. NVIDIA's compiler has the instruction only.
static const char dot_words[] =
    "#if defined(__NV_CL_C_VERSION)\n"
    "static int dot_bytes(int a, int b, int sum) {\n"
    "    int d; asm(\"dp4a.s32.s32 %0, %1, %2, %3;\" : \"=r\"(d) : \"r\"(a), \"r\"(b), \"r\"(sum)); return d;\n"
    "}\n"
    "#elif defined(__opencl_c_integer_dot_product_input_4x8bit_packed)\n"
    "#define dot_bytes(a, b, sum) (dot_4x8packed_ss_int(as_uint(a), as_uint(b)) + (sum))\n"
    "#else\n"
    "#define dot_bytes(a, b, sum) dot_bytes_(a, b, sum)\n"
    "#endif\n";

const struct gpu_prelude gpu_prelude_opencl = {
    .first = {[GPU_F16] = "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"},
    .types = {full, half_storage, half_arithmetic},
    .words = words,
    .more = {more, more, more},
    .integer_words = "#define mul_high(a, b) mul_hi((int)(a), (int)(b))\n"
                     "#define mul_high_u(a, b) as_int(mul_hi(as_uint(a), as_uint(b)))\n"
                     "#define leading_zeros(x) ((int)clz(as_uint(x)))\n"
                     GPU_WRAPPING_WORDS("uint"),
    .dot_words = dot_words,
    .matrix_words = gpu_nvidia_matrix_words,
    .bulk_words = gpu_nvidia_bulk_words,
    .dynamic_shared = "    __local float4 tile[TILE];\n    BEGIN_ARRIVALS_\n",
    GPU_PRELUDE_LIKE_C,
    .buffer = GPU_PRELUDE_BUFFERS("__global const ", "__global ", "restrict ", ""),
    .shared = "__local ",
    .entry = "__kernel __attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, GROUP_Z)))\nvoid $(",
    .entry_params = "struct params_ q_",
    .entry_close = ")\n{\n",
};
