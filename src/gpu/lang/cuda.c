// SPDX-License-Identifier: Apache-2.0
// The dialect in CUDA C++. The texts need no header, so that NVRTC can compile them. CUDA's float4 has no operators, so
// this prelude defines its own vectors. Halves are stored as bits, and PTX instructions compute with two at a time.
#include "gpu/lang/prelude.h"

// Defines the operators of a vector type with vectors and with numbers.
static const char vectors[] =
    "#define FUNCTION_ static __device__ __forceinline__\n"
    "struct __align__(16) f4_ { float x, y, z, w; };\n"
    "struct __align__(16) i4_ { int x, y, z, w; };\n"
    "FUNCTION_ f4_ mkf4(float a, float b, float c, float d) { f4_ v; v.x = a; v.y = b; v.z = c; v.w = d; return v; }\n"
    "FUNCTION_ i4_ mki4(int a, int b, int c, int d) { i4_ v; v.x = a; v.y = b; v.z = c; v.w = d; return v; }\n"
    "FUNCTION_ f4_ splatf4(float a) { return mkf4(a, a, a, a); }\n"
    "FUNCTION_ i4_ splati4(int a) { return mki4(a, a, a, a); }\n"
    "#define OPERATOR_(op, T, S, make, splat) \\\n"
    "FUNCTION_ T operator op(T a, T b) { return make(a.x op b.x, a.y op b.y, a.z op b.z, a.w op b.w); } \\\n"
    "FUNCTION_ T operator op(T a, S b) { return a op splat(b); } \\\n"
    "FUNCTION_ T operator op(S a, T b) { return splat(a) op b; } \\\n"
    "FUNCTION_ T &operator op##=(T &a, T b) { a = a op b; return a; } \\\n"
    "FUNCTION_ T &operator op##=(T &a, S b) { a = a op splat(b); return a; }\n"
    "OPERATOR_(+, f4_, float, mkf4, splatf4)\n"
    "OPERATOR_(-, f4_, float, mkf4, splatf4)\n"
    "OPERATOR_(*, f4_, float, mkf4, splatf4)\n"
    "OPERATOR_(/, f4_, float, mkf4, splatf4)\n"
    "OPERATOR_(+, i4_, int, mki4, splati4)\n"
    "OPERATOR_(-, i4_, int, mki4, splati4)\n"
    "OPERATOR_(*, i4_, int, mki4, splati4)\n"
    "FUNCTION_ f4_ operator-(f4_ v) { return mkf4(-v.x, -v.y, -v.z, -v.w); }\n"
    "FUNCTION_ i4_ operator-(i4_ v) { return mki4(-v.x, -v.y, -v.z, -v.w); }\n"
    "#define float4 f4_\n"
    "#define int4 i4_\n";

#define FLOAT_ARITHMETIC \
    "#define real float\n" \
    "#define real4 f4_\n" \
    "#define to_real(x) ((float)(x))\n" \
    "#define to_real4(v) (v)\n" \
    "#define to_acc4(v) (v)\n" \
    "#define mk4(a, b, c, d) mkf4(a, b, c, d)\n" \
    "#define splat4(x) splatf4(x)\n"

// A half is stored as its bits. `h_` converts to float implicitly, for comparisons and conversions to int. Only to_real
// converts back.
#define HALVES \
    "FUNCTION_ float widen_(unsigned short u) { float f; asm(\"cvt.f32.f16 %0, %1;\" : \"=f\"(f) : \"h\"(u)); return f; }\n" \
    "FUNCTION_ unsigned short narrow_(float f) {\n" \
    "    unsigned short u; asm(\"cvt.rn.f16.f32 %0, %1;\" : \"=h\"(u) : \"f\"(f)); return u;\n" \
    "}\n" \
    "struct h_ { unsigned short u; __device__ __forceinline__ operator float() const { return widen_(u); } };\n" \
    "struct __align__(8) h4_ { h_ x, y, z, w; };\n" \
    "FUNCTION_ h_ to_real_(float f) { h_ h; h.u = narrow_(f); return h; }\n"

static const char full[] = FLOAT_ARITHMETIC
    "#define stor4 f4_\n"
    "#define load4(s) (s)\n"
    "#define pack4(v) (v)\n";
static const char half_storage[] = FLOAT_ARITHMETIC HALVES
    "#define stor4 h4_\n"
    "FUNCTION_ f4_ load4(h4_ s) { return mkf4(s.x, s.y, s.z, s.w); }\n"
    "FUNCTION_ h4_ pack4(f4_ v) {\n"
    "    h4_ s; s.x = to_real_(v.x); s.y = to_real_(v.y); s.z = to_real_(v.z); s.w = to_real_(v.w); return s;\n"
    "}\n";
static const char half_arithmetic[] = HALVES
    "#define stor4 h4_\n"
    "#define load4(s) (s)\n"
    "#define pack4(v) (v)\n"
    "#define real h_\n"
    "#define real4 h4_\n"
    "FUNCTION_ h_ to_real_(h_ h) { return h; }\n"
    "FUNCTION_ h_ to_real_(int i) { return to_real_((float)i); }\n"
    "#define to_real(x) to_real_(x)\n"
    "FUNCTION_ h4_ mk4(h_ a, h_ b, h_ c, h_ d) { h4_ v; v.x = a; v.y = b; v.z = c; v.w = d; return v; }\n"
    "FUNCTION_ h4_ splat4(h_ a) { return mk4(a, a, a, a); }\n"
    "FUNCTION_ h4_ splat4(float a) { return splat4(to_real_(a)); }\n"
    "FUNCTION_ h4_ splat4(int a) { return splat4(to_real_(a)); }\n"
    "FUNCTION_ h4_ to_real4(f4_ v) { return mk4(to_real_(v.x), to_real_(v.y), to_real_(v.z), to_real_(v.w)); }\n"
    "FUNCTION_ h4_ to_real4(h4_ v) { return v; }\n"
    "FUNCTION_ f4_ to_acc4(h4_ v) { return mkf4(v.x, v.y, v.z, v.w); }\n"
    "FUNCTION_ f4_ to_acc4(f4_ v) { return v; }\n"
    "FUNCTION_ unsigned pair_(h_ a, h_ b) { return a.u | (unsigned)b.u << 16; }\n"
    "FUNCTION_ h_ half_(unsigned u) { h_ h; h.u = (unsigned short)u; return h; }\n"
    "FUNCTION_ h4_ pairs_(unsigned a, unsigned b) { return mk4(half_(a), half_(a >> 16), half_(b), half_(b >> 16)); }\n"
    "#define HALF_OPERATOR_(op, two, name) \\\n"
    "FUNCTION_ h_ operator op(h_ a, h_ b) { \\\n"
    "    h_ r; asm(name \".f16 %0, %1, %2;\" : \"=h\"(r.u) : \"h\"(a.u), \"h\"(b.u)); return r; } \\\n"
    "FUNCTION_ unsigned two(unsigned a, unsigned b) { \\\n"
    "    unsigned r; asm(name \".f16x2 %0, %1, %2;\" : \"=r\"(r) : \"r\"(a), \"r\"(b)); return r; } \\\n"
    "FUNCTION_ h4_ operator op(h4_ a, h4_ b) { \\\n"
    "    return pairs_(two(pair_(a.x, a.y), pair_(b.x, b.y)), two(pair_(a.z, a.w), pair_(b.z, b.w))); }\n"
    "HALF_OPERATOR_(+, add2_, \"add.rn\")\n"
    "HALF_OPERATOR_(-, sub2_, \"sub.rn\")\n"
    "HALF_OPERATOR_(*, mul2_, \"mul.rn\")\n"
    "FUNCTION_ h_ operator/(h_ a, h_ b) { return to_real_((float)a / (float)b); }\n"
    "FUNCTION_ h_ operator-(h_ a) { return half_(a.u ^ 0x8000u); }\n"
    "FUNCTION_ h4_ operator/(h4_ a, h4_ b) { return mk4(a.x / b.x, a.y / b.y, a.z / b.z, a.w / b.w); }\n"
    "FUNCTION_ h4_ operator-(h4_ a) { return mk4(-a.x, -a.y, -a.z, -a.w); }\n"
    "#define HALF_ASSIGN_(op) \\\n"
    "FUNCTION_ h4_ operator op(h4_ a, h_ b) { return a op splat4(b); } \\\n"
    "FUNCTION_ h4_ operator op(h_ a, h4_ b) { return splat4(a) op b; } \\\n"
    "FUNCTION_ h_ &operator op##=(h_ &a, h_ b) { a = a op b; return a; } \\\n"
    "FUNCTION_ h4_ &operator op##=(h4_ &a, h4_ b) { a = a op b; return a; } \\\n"
    "FUNCTION_ h4_ &operator op##=(h4_ &a, h_ b) { a = a op b; return a; }\n"
    "HALF_ASSIGN_(+) HALF_ASSIGN_(-) HALF_ASSIGN_(*) HALF_ASSIGN_(/)\n";

// Defines a word for float and float4. The macro that hides the built-in function comes last.
#define UNARY(word, expression) \
    "FUNCTION_ float " word "_(float v) { return " expression "; }\n" \
    "FUNCTION_ f4_ " word "_(f4_ v) { return mkf4(" word "_(v.x), " word "_(v.y), " word "_(v.z), " word "_(v.w)); }\n"
#define BINARY(word, expression) \
    "FUNCTION_ float " word "_(float a, float b) { return " expression "; }\n" \
    "FUNCTION_ f4_ " word "_(f4_ a, f4_ b) {\n" \
    "    return mkf4(" word "_(a.x, b.x), " word "_(a.y, b.y), " word "_(a.z, b.z), " word "_(a.w, b.w));\n" \
    "}\n"
#define HALF_UNARY(word) \
    "FUNCTION_ h_ " word "_(h_ v) { return to_real_(" word "_((float)v)); }\n" \
    "FUNCTION_ h4_ " word "_(h4_ v) { return mk4(" word "_(v.x), " word "_(v.y), " word "_(v.z), " word "_(v.w)); }\n"
#define HALF_BINARY(word) \
    "FUNCTION_ h_ " word "_(h_ a, h_ b) { return to_real_(" word "_((float)a, (float)b)); }\n" \
    "FUNCTION_ h4_ " word "_(h4_ a, h4_ b) {\n" \
    "    return mk4(" word "_(a.x, b.x), " word "_(a.y, b.y), " word "_(a.z, b.z), " word "_(a.w, b.w));\n" \
    "}\n"
#define HIDE1(word) "#define " word "(v) " word "_(v)\n"
#define HIDE2(word) "#define " word "(a, b) " word "_(a, b)\n"
#define HIDE_ALL \
    HIDE1("abs") HIDE1("floor") HIDE1("ceil") HIDE1("exp") HIDE1("log") HIDE1("sqrt") HIDE1("rsqrt") HIDE1("sin") \
    HIDE1("cos") HIDE1("tanh") HIDE1("round_away") HIDE1("round_even") HIDE1("sign_of") HIDE2("min") HIDE2("max") \
    HIDE2("pow") "#define pow_safe(a, b) pow_(a, b)\n"

static const char words[] =
    "#define acc4 f4_\n"
    "#define to_int(x) ((int)(x))\n"
    "#define to_float(x) ((float)(x))\n"
    "#define to_uint_(x) ((unsigned)(x))\n"
    "FUNCTION_ f4_ to_float4(i4_ v) { return mkf4((float)v.x, (float)v.y, (float)v.z, (float)v.w); }\n"
    "FUNCTION_ i4_ to_int4(f4_ v) { return mki4((int)v.x, (int)v.y, (int)v.z, (int)v.w); }\n"
    "FUNCTION_ float dot4(f4_ a, f4_ b) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }\n"
    "#define bits_to_float(x) __int_as_float(x)\n"
    "#define float_to_bits(x) __float_as_int(x)\n"
    "#define is_nan(x) ((__float_as_int(x) & 0x7fffffff) > 0x7f800000)\n"
    "#define pick(c, a, b) ((c) ? (a) : (b))\n"
    "#define mad(a, b, c) ((a) * (b) + (c))\n"
    "#define UNROLL _Pragma(\"unroll\")\n"
    // What the words in nvidia.c take.
    "#define CAPABILITY_ (__CUDA_ARCH__ / 10)\n"
    "#define SHARED_ __shared__\n"
    "#define SHARED_OF_\n"
    "#define SHARED_AT_(p) __cvta_generic_to_shared(p)\n"
    "#define GLOBAL_\n"
    "#define LONG_ unsigned long long\n"
    // Where kernels of a list may overlap: lets the next one start, and waits for those before this one. Compilers would
    // move loads of constants behind the wait, so the loads before it are volatile, and the wait needs their results.
    "FUNCTION_ i4_ load_early_(const i4_ *p, int &early) {\n"
    "    i4_ v;\n"
    "    asm volatile(\"ld.global.nc.v4.s32 {%0, %1, %2, %3}, [%4];\"\n"
    "                 : \"=r\"(v.x), \"=r\"(v.y), \"=r\"(v.z), \"=r\"(v.w) : \"l\"(p));\n"
    "    early |= v.w;\n"
    "    return v;\n"
    "}\n"
    "#define LOAD_EARLY_(b, i) load_early_(b + (i), early_)\n"
    "#if __CUDA_ARCH__ >= 900\n"
    "#define LET_NEXT_START_ asm volatile(\"griddepcontrol.launch_dependents;\")\n"
    "#define WAIT_ asm volatile(\"griddepcontrol.wait;\" : : : \"memory\")\n"
    "#define WAIT { \\\n"
    "    asm volatile(\"{.reg .pred p; setp.ne.s32 p, %0, 0; @p griddepcontrol.wait; @!p griddepcontrol.wait;}\" \\\n"
    "                 : : \"r\"(early_) : \"memory\"); }\n"
    "#else\n"
    "#define LET_NEXT_START_\n"
    "#define WAIT_\n"
    "#define WAIT\n"
    "#endif\n"
    "#define BARRIER __syncthreads()\n"
    "#define LID0 ((int)threadIdx.x)\n"
    "#define LID1 ((int)threadIdx.y)\n"
    "#define LID2 ((int)threadIdx.z)\n"
    "#define GROUP0 ((int)blockIdx.x)\n"
    "#define GROUP1 ((int)blockIdx.y)\n"
    "#define GROUP2 ((int)blockIdx.z)\n"
    "#define GID0 (GROUP0 * GROUP_X + LID0)\n"
    "#define GID1 (GROUP1 * GROUP_Y + LID1)\n"
    "#define GID2 (GROUP2 * GROUP_Z + LID2)\n"
    "#define READ_OR_ZERO_(b, n, p) (beside_(n, p) ? splat4(0.0f) : load4(b[at_(n, p)]))\n"
    "#define READ_FLOAT_OR_ZERO_(b, n, p) (beside_(n, p) ? splatf4(0.0f) : b[at_(n, p)])\n"
    UNARY("abs", "fabsf(v)") UNARY("floor", "floorf(v)") UNARY("ceil", "ceilf(v)") UNARY("exp", "expf(v)")
    UNARY("log", "logf(v)") UNARY("sqrt", "sqrtf(v)") UNARY("rsqrt", "rsqrtf(v)") UNARY("sin", "sinf(v)")
    UNARY("cos", "cosf(v)") UNARY("tanh", "tanhf(v)") UNARY("round_away", "roundf(v)")
    UNARY("round_even", "rintf(v)") UNARY("sign_of", "(float)(v > 0.0f) - (float)(v < 0.0f)")
    BINARY("min", "fminf(a, b)") BINARY("max", "fmaxf(a, b)") BINARY("pow", "powf(a, b)")
    "FUNCTION_ int min_(int a, int b) { return a < b ? a : b; }\n"
    "FUNCTION_ int max_(int a, int b) { return a > b ? a : b; }\n";

static const char more[] = HIDE_ALL;
static const char more_half[] =
    "FUNCTION_ i4_ to_int4(h4_ v) { return to_int4(to_acc4(v)); }\n"
    HALF_UNARY("abs") HALF_UNARY("floor") HALF_UNARY("ceil") HALF_UNARY("exp") HALF_UNARY("log") HALF_UNARY("sqrt")
    HALF_UNARY("rsqrt") HALF_UNARY("sin") HALF_UNARY("cos") HALF_UNARY("tanh") HALF_UNARY("round_away")
    HALF_UNARY("round_even") HALF_UNARY("sign_of") HALF_BINARY("min") HALF_BINARY("max") HALF_BINARY("pow")
    HIDE_ALL;

const struct gpu_prelude gpu_prelude_cuda = {
    .first = {vectors, vectors, vectors},
    .types = {full, half_storage, half_arithmetic},
    .words = words,
    .more = {more, more, more_half},
    .integer_words = "#define mul_high(a, b) __mulhi(a, b)\n"
                     "#define mul_high_u(a, b) ((int)__umulhi((unsigned)(a), (unsigned)(b)))\n"
                     "#define leading_zeros(x) __clz(x)\n"
                     GPU_WRAPPING_WORDS("unsigned"),
    .dot_words = "FUNCTION_ int dot_bytes(int a, int b, int sum) {\n"
                 "    int d; asm(\"dp4a.s32.s32 %0, %1, %2, %3;\" : \"=r\"(d) : \"r\"(a), \"r\"(b), \"r\"(sum)); return d;\n"
                 "}\n",
    .matrix_words = gpu_nvidia_matrix_words,
    .bulk_words = gpu_nvidia_bulk_words,
    .dynamic_shared = "    extern __shared__ f4_ tile[];\n    BEGIN_ARRIVALS_\n",
    GPU_PRELUDE_LIKE_C,
    .buffer = GPU_PRELUDE_BUFFERS("const ", "", "__restrict__ ", ""),
    // With __restrict__, values are read by instructions for memory that nobody writes, and the assembler moves these
    // before the wait: of four kernels with windows of style transfer one read its patch too early (CUDA 13.5, sm_90).
    .late_value = "const b_$_type_ *b_$",
    .shared = "__shared__ ",
    .entry = "extern \"C\" __global__ void __launch_bounds__(GROUP_X * GROUP_Y * GROUP_Z, GROUPS_)\n$(",
    .entry_params = "const params_ q_",
    .entry_close = ")\n{\n",
    .start = {"    LET_NEXT_START_;\n    WAIT_;\n", "    LET_NEXT_START_;\n    int early_ = 0;\n"},
};
