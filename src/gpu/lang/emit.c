// SPDX-License-Identifier: Apache-2.0
// Writes the whole source of a kernel: the prelude of the language, constants, params, buffers, the words for each
// argument, the epilogue, and the body with line breaks. All that differs between languages comes from a table
// (prelude.h). This file concatenates texts; what it writes itself is in the dialect and the same for all languages.
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "gpu/lang/prelude.h"

static const struct gpu_prelude *const preludes[] = {
    [GPU_OPENCL] = &gpu_prelude_opencl, [GPU_VULKAN] = &gpu_prelude_vulkan, [GPU_GLES] = &gpu_prelude_gles,
    [GPU_CUDA] = &gpu_prelude_cuda,     [GPU_METAL] = &gpu_prelude_metal,
};

bool gpu_kernel_has_language(const struct gpu_kernel *kernel, enum gpu_language language)
{
    const struct gpu_prelude *prelude = preludes[language];
    return (!kernel->fragments || prelude->fragment_words) && (!kernel->dynamic_shared || prelude->bulk_words);
}

int gpu_kernel_arg_count(const struct gpu_kernel *kernel)
{
    int count = 0;
    while (kernel->args[count].kind != GPU_ARG_END) count++;
    return count;
}

int gpu_kernel_weights_arg(const struct gpu_kernel *kernel)
{
    int i = 0;
    for (enum gpu_arg_kind kind; (kind = kernel->args[i].kind) != GPU_ARG_END; i++)
        if (kind == GPU_WEIGHTS || kind == GPU_INTS) return i;
    return -1;
}

static int own_constants(const struct gpu_kernel *kernel)
{
    int count = 0;
    while (kernel->constants && kernel->constants[count].name) count++;
    return count;
}

int gpu_kernel_constant_index(const struct gpu_kernel *kernel, const char *name)
{
    int own = own_constants(kernel);
    while (own-- > 0 && strcmp(kernel->constants[own].name, name) != 0) continue;
    return own;
}

int gpu_kernel_constant_count(const struct gpu_kernel *kernel)
{
    return own_constants(kernel) + (kernel->epilogue ? GPU_EPILOGUE_STAGES : 0);
}

int gpu_kernel_shape_count(const struct gpu_kernel *kernel)
{
    int count = 0;
    for (const struct gpu_arg *arg = kernel->args; arg->kind != GPU_ARG_END; arg++) count += gpu_arg_is_value(arg->kind);
    return count;
}

int gpu_kernel_param_count(const struct gpu_kernel *kernel)
{
    int count = gpu_kernel_shape_count(kernel);
    for (const char *const *name = kernel->params; *name; name++) count++;
    return count + (kernel->epilogue ? GPU_EPILOGUE_STAGES / 2 : 0);
}

// ---- pieces of the source. hl_text_take, the last step, checks whether there was memory for all of them.
static void put(struct hl_text *text, const char *from)
{
    if (from) hl_text_append_bytes(text, from, strlen(from));
}

// Writes a template in which each $ stands for the name and each @ for the next of the numbers.
static void put_with(struct hl_text *text, const char *template, const char *name, const int numbers[3])
{
    if (!template) return;
    for (const char *at = template; *at; at++) {
        char number[16];
        size_t plain = strcspn(at, "$@");
        hl_text_append_bytes(text, at, plain);
        at += plain;
        if (*at == '$') {
            put(text, name);
        } else if (*at == '@') {
            snprintf(number, sizeof number, "%d", *numbers++);
            put(text, number);
        } else {
            break;
        }
    }
}

// Writes the body, which is one line, with breaks after ; { } outside of parentheses, and indents it by braces.
static void put_body(struct hl_text *text, const char *body)
{
    int depth = 1, parentheses = 0;
    bool line_start = true;
    for (const char *at = body; *at; at++) {
        if (line_start) {
            while (*at == ' ') at++;
            if (!*at) break;
            if (*at == '}') depth--;
            for (int i = 0; i < depth; i++) put(text, "    ");
            line_start = false;
        } else if (*at == '}') {
            depth--;
        }
        hl_text_append_bytes(text, at, 1);
        parentheses += (*at == '(') - (*at == ')');
        depth += *at == '{';
        line_start = !parentheses && (*at == ';' || *at == '{' || *at == '}');
        if (line_start) put(text, "\n");
    }
    if (!line_start) put(text, "\n");
}

// ---- the words for arguments, written in the dialect
static const char *const access_words[GPU_ARG_KINDS] = {
    [GPU_IN] = "#define at_$(p) at_(n_$, p)\n"
               "#define read_$(p) load_$(at_(n_$, p))\n",
    [GPU_OUT] = "#define at_$(p) at_(n_$, p)\n"
                "#define write_$(p, v) store_$(at_(n_$, p), masked_(n_$, p, v))\n",
    [GPU_WEIGHTS] = "#define $(i) load_$(i)\n",
    [GPU_CODES_IN] = "#define at_$(p) at_(n_$, p)\n"
                     "#define load_$(i) b_$[i]\n"
                     "#define read_$(p) b_$[at_(n_$, p)]\n"
                     "#define read_$_or_zero(p) pick(beside_(n_$, p), 0, b_$[at_(n_$, p)])\n",
    [GPU_CODES_OUT] = "#define at_$(p) at_(n_$, p)\n"
                      "#define store_$(i, v) b_$[i] = (v)\n"
                      "#define write_$(p, v) b_$[at_(n_$, p)] = (v)\n",
    [GPU_INTS] = "#define $(i) b_$[i]\n"
                 "#define early_$(i) LOAD_EARLY_(b_$, i)\n"
                 "#define fetch_$(slot, to, from, count) FETCH_(b_$, slot, to, from, count)\n",
};
// Access to the memory of an argument: [0] stored as the program's stor4, [1] as floats where stor4 is halves.
static const char *const storage_words[2][GPU_ARG_KINDS] = {
    {
        [GPU_IN] = "#define load_$(i) load4(b_$[i])\n"
                   "#define read_$_or_zero(p) READ_OR_ZERO_(b_$, n_$, p)\n",
        [GPU_OUT] = "#define store_$(i, v) b_$[i] = pack4(v)\n",
        [GPU_WEIGHTS] = "#define load_$(i) load4(b_$[i])\n",
    },
    {
        [GPU_IN] = "#define load_$(i) b_$[i]\n"
                   "#define read_$_or_zero(p) READ_FLOAT_OR_ZERO_(b_$, n_$, p)\n",
        [GPU_OUT] = "#define store_$(i, v) b_$[i] = (v)\n",
        [GPU_WEIGHTS] = "#define load_$(i) b_$[i]\n",
    },
};
// The same if a constant of the program chooses between the two. @ is the bit of the argument in FLOATS_, and f_$ is the
// buffer as floats.
static const char *const either_words[GPU_ARG_KINDS] = {
    [GPU_IN] = "FUNCTION_ float4 load_$(int i) {\n"
               "    if ((FLOATS_ & @) != 0) return f_$[i];\n"
               "    return load4(b_$[i]);\n"
               "}\n"
               "#define read_$_or_zero(p) (beside_(n_$, p) ? splat4(0.0f) : load_$(at_(n_$, p)))\n",
    [GPU_OUT] = "FUNCTION_ void store_$(int i, float4 v) {\n"
                "    if ((FLOATS_ & @) != 0) f_$[i] = v;\n"
                "    else b_$[i] = pack4(v);\n"
                "}\n",
    [GPU_WEIGHTS] = "FUNCTION_ float4 load_$(int i) {\n"
                    "    if ((FLOATS_ & @) != 0) return f_$[i];\n"
                    "    return load4(b_$[i]);\n"
                    "}\n",
};
static const char shape_words[] = "#define $_w (n_$.x)\n"
                                  "#define $_h (n_$.y)\n"
                                  "#define $_c (n_$.z)\n"
                                  "#define $_b (n_$.w)\n"
                                  "#define $_s slices_(n_$)\n"
                                  "#define outside_$(p) outside_(n_$, p)\n";
// n: the sizes (w, h, c, b) of a value; p: a position (x, y, slice, batch) in it.
static const char common_words[] =
    "#define bits_to_float4(v) mkf4(bits_to_float((v).x), bits_to_float((v).y), bits_to_float((v).z), bits_to_float((v).w))\n"
    "#define float4_to_bits(v) mki4(float_to_bits((v).x), float_to_bits((v).y), float_to_bits((v).z), float_to_bits((v).w))\n"
    "FUNCTION_ int slices_(int4 n) { return (n.z + 3) >> 2; }\n"
    "FUNCTION_ int at_(int4 n, int4 p) { return ((p.w * slices_(n) + p.z) * n.y + p.y) * n.x + p.x; }\n"
    "FUNCTION_ bool beside_(int4 n, int4 p) { return to_uint_(p.x) >= to_uint_(n.x) || to_uint_(p.y) >= to_uint_(n.y); }\n"
    "FUNCTION_ bool outside_(int4 n, int4 p) {\n"
    "    return beside_(n, p) || to_uint_(p.z) >= to_uint_(slices_(n)) || to_uint_(p.w) >= to_uint_(n.w);\n"
    "}\n"
    "FUNCTION_ real4 masked_(int4 n, int4 p, real4 v) {\n"
    "    int left = n.z - 4 * p.z;\n"
    "    if (left < 4) {\n"
    "        v.y = pick(left > 1, v.y, to_real(0.0f));\n"
    "        v.z = pick(left > 2, v.z, to_real(0.0f));\n"
    "        v.w = to_real(0.0f);\n"
    "    }\n"
    "    return v;\n"
    "}\n"
    "FUNCTION_ int4 position_(int4 n, int x, int y, int z) {\n"
    "    int batch = 0;\n"
    "    if (n.w > 1) {\n"
    "        batch = z / slices_(n);\n"
    "        z -= batch * slices_(n);\n"
    "    }\n"
    "    return mki4(x, y, z, batch);\n"
    "}\n"
    "FUNCTION_ real lane(real4 v, int i) { return pick(i < 2, pick(i == 0, v.x, v.y), pick(i == 2, v.z, v.w)); }\n"
    "FUNCTION_ float not_below_(float v, float low) { return pick(v < low && !is_nan(v), low, v); }\n"
    "FUNCTION_ float not_above_(float v, float high) { return pick(v > high && !is_nan(v), high, v); }\n"
    "FUNCTION_ float4 at_least(float4 v, float4 low) {\n"
    "    return mkf4(not_below_(v.x, low.x), not_below_(v.y, low.y), not_below_(v.z, low.z), not_below_(v.w, low.w));\n"
    "}\n"
    "FUNCTION_ float4 at_most(float4 v, float4 high) {\n"
    "    return mkf4(not_above_(v.x, high.x), not_above_(v.y, high.y), not_above_(v.z, high.z), not_above_(v.w, high.w));\n"
    "}\n"
    "FUNCTION_ float finite_(float v) {\n"
    "    return pick((float_to_bits(v) & 0x7fffffff) == 0x7f800000, bits_to_float(float_to_bits(v) - 1), v);\n"
    "}\n"
    "FUNCTION_ float4 finite(float4 v) { return mkf4(finite_(v.x), finite_(v.y), finite_(v.z), finite_(v.w)); }\n"
    "FUNCTION_ int imod_positive_(int a, int b) { return pick(a >= 0, a % b, b - 1 - (-1 - a) % b); }\n"
    "FUNCTION_ int imod(int a, int b) { return pick(b > 0, imod_positive_(a, b), -imod_positive_(-a, -b)); }\n";

// ---- the words for integers. `rescale` is the fixed-point multiplication of quantized operators: by multiplier *
// 2^(shift - 31), the product rounded half up, the shift to the right half away from zero. `rescale_wide` multiplies by
// the double (high * 2^32 + low) * 2^-shift, whose 53 bits are in high and low, shift in 41..95: the product is rounded
// to 53 bits and then half away from zero, as the CPU does it in doubles. Below a half the rounding to 53 bits can only
// reach the half, which adding half a unit of the last of the 53 bits does as well.
static const char integer_words[] =
    "FUNCTION_ int byte_of(int v, int i) { return (v << (24 - 8 * i)) >> 24; }\n"
    "FUNCTION_ int pack_bytes(int a, int b, int c, int d) {\n"
    "    return (a & 255) | ((b & 255) << 8) | ((c & 255) << 16) | (d << 24);\n"
    "}\n"
    "FUNCTION_ int int_lane(int4 v, int i) { return pick(i < 2, pick(i == 0, v.x, v.y), pick(i == 2, v.z, v.w)); }\n"
    "FUNCTION_ int dot_bytes_(int a, int b, int sum) {\n"
    "    return sum + byte_of(a, 0) * byte_of(b, 0) + byte_of(a, 1) * byte_of(b, 1) + byte_of(a, 2) * byte_of(b, 2) +\n"
    "           (a >> 24) * (b >> 24);\n"
    "}\n"
    "FUNCTION_ int shift_round(int v, int right) {\n"
    "    int mask = ~(-1 << right);\n"
    "    int threshold = (mask >> 1) + pick(v < 0, 1, 0);\n"
    "    return (v >> right) + pick((v & mask) > threshold, 1, 0);\n"
    "}\n"
    "FUNCTION_ int high_product(int a, int b) {\n"
    "    int low = wrap_mul(a, b);\n"
    "    return (mul_high(a, b) << 1) + shift_right_u(low, 31) + ((low >> 30) & 1);\n"
    "}\n"
    "FUNCTION_ int rescale(int v, int multiplier, int shift) {\n"
    "    return shift_round(high_product(v << max(shift, 0), multiplier), max(-shift, 0));\n"
    "}\n"
    "FUNCTION_ int below_u_(int a, int b) { return pick((a ^ (1 << 31)) < (b ^ (1 << 31)), 1, 0); }\n"
    "FUNCTION_ int rescale_wide(int v, int high, int low, int shift) {\n"
    "    int size = pick(v < 0, -v, v);\n"
    "    int p0 = wrap_mul(size, low);\n"
    "    int part = wrap_mul(size, high);\n"
    "    int p1 = wrap_add(mul_high_u(size, low), part);\n"
    "    int p2 = mul_high_u(size, high) + below_u_(p1, part);\n"
    "    int beyond = pick(p2 != 0, 43 - leading_zeros(p2), 11 - leading_zeros(p1));\n"
    "    if (beyond > 0) {\n"
    "        int carry = below_u_(wrap_add(p0, 1 << (beyond - 1)), p0);\n"
    "        p1 = wrap_add(p1, carry);\n"
    "        if (carry == 1 && p1 == 0) p2 += 1;\n"
    "    }\n"
    "    int q = 0;\n"
    "    if (shift > 64) {\n"
    "        q = (p2 + (1 << (shift - 65))) >> (shift - 64);\n"
    "    } else {\n"
    "        p1 = wrap_add(p1, 1 << (shift - 33));\n"
    "        p2 += below_u_(p1, 1 << (shift - 33));\n"
    "        q = p2;\n"
    "        if (shift < 64) q = shift_right_u(p1, shift - 32) | (p2 << (64 - shift));\n"
    "        if (shift < 64 && (p2 >> (shift - 33)) != 0) q = 1 << 30;\n"
    "    }\n"
    "    return pick(v < 0, -q, q);\n"
    "}\n"
    // v + zero within low and high, for any v
    "FUNCTION_ int stored(int v, int zero, int low, int high) { return min(max(v, low - zero), high - zero) + zero; }\n";

static const char plain_dot_words[] = "#define dot_bytes(a, b, sum) dot_bytes_(a, b, sum)\n";

// ---- the words for matrix units. 32 work-items multiply 16 positions x 16 channels of x by 16 channels x 16 outputs of
// weights. Work-item 4 g + t has slice t of x at positions g (xa) and g + 8 (xb), and the weights of the same channels for
// the outputs o = 4 (g / 2) + g % 2 (wa) and o + 2 (wb). It adds output slice t at both positions to a and b. The plain
// code exchanges x and weights in shared memory, in an array of its own.
#define HAS_MATRIX_UNITS "CAPABILITY_ >= 80" // of NVIDIA's devices, in languages with a word for them
static const char matrix_array[] = "float4 exchange_[GROUP_X * GROUP_Y * GROUP_Z * 4]";
static const char matrix_words[] =
    "#define MATRIX_REST 0.0f\n"
    "#define MATRIX_OPERANDS(first, last, xa, xb) { \\\n"
    "    first = mkf4((xa).x, (xb).x, (xa).y, (xb).y); \\\n"
    "    last = mkf4((xa).z, (xb).z, (xa).w, (xb).w); \\\n"
    "}\n"
    "#define MATRIX_STEP(a, b, rest_a, rest_b, first, last, wa, wb) { \\\n"
    "    int item_ = (LID2 * GROUP_Y + LID1) * GROUP_X + LID0; \\\n"
    "    int first_ = item_ - LID0; \\\n"
    "    BARRIER; \\\n"
    "    exchange_[item_ * 4] = mkf4((first).x, (first).z, (last).x, (last).z); \\\n"
    "    exchange_[item_ * 4 + 1] = mkf4((first).y, (first).w, (last).y, (last).w); \\\n"
    "    exchange_[item_ * 4 + 2] = bits_to_float4(wa); \\\n"
    "    exchange_[item_ * 4 + 3] = bits_to_float4(wb); \\\n"
    "    BARRIER; \\\n"
    "    for (int k_ = 0; k_ < 4; k_ += 1) { \\\n"
    "        int x_ = (item_ - LID0 % 4 + k_) * 4; \\\n"
    "        int w_ = (first_ + LID0 % 4 * 8 + k_) * 4 + 2; \\\n"
    "        a += mkf4(dot4(exchange_[x_], exchange_[w_]), dot4(exchange_[x_], exchange_[w_ + 16]), \\\n"
    "                  dot4(exchange_[x_], exchange_[w_ + 1]), dot4(exchange_[x_], exchange_[w_ + 17])); \\\n"
    "        b += mkf4(dot4(exchange_[x_ + 1], exchange_[w_]), dot4(exchange_[x_ + 1], exchange_[w_ + 16]), \\\n"
    "                  dot4(exchange_[x_ + 1], exchange_[w_ + 1]), dot4(exchange_[x_ + 1], exchange_[w_ + 17])); \\\n"
    "    } \\\n"
    "}\n";

// The words of floats as those of codes, for kernels that move elements of either.
static const char moving_words[] =
    "#undef real\n#define real int\n"
    "#undef real4\n#define real4 int\n"
    "#undef to_real\n#define to_real(x) to_int(x)\n"
    "#undef splat4\n#define splat4(x) pack_bytes(to_int(x), to_int(x), to_int(x), to_int(x))\n"
    "#undef mk4\n#define mk4(a, b, c, d) pack_bytes(a, b, c, d)\n"
    "#define lane(v, i) byte_of(v, i)\n"
    "#define finish(v, p) (v)\n";

// ---- the epilogue. A stage changes float4 v. Its operands are the floats a and b, and float4 r, the other value or the
// numbers of the four channels.
static const struct stage {
    const char *text;
    bool takes_value;
} known_stages[] = {
#define STAGE(NAME, name, takes_value, text) [GPU_EPI_##NAME] = {text, takes_value},
#include "gpu/lang/epilogue.def"
#undef STAGE
};
enum { STAGE_TEXTS = sizeof known_stages / sizeof *known_stages };

static const char *stage_text(int op)
{
    return op >= 0 && op < STAGE_TEXTS ? known_stages[op].text : NULL;
}

static bool takes_value(int op)
{
    return op >= 0 && op < STAGE_TEXTS && known_stages[op].takes_value;
}

bool gpu_stage_takes_value(enum gpu_epilogue_op op)
{
    return takes_value((int)op);
}

// Each stage's params: the index of its first vector of numbers, or a, the slices of a value that has fewer, or b, and
// both as floats.
static const struct {
    const char *first, *slices, *floats;
} stage_params[GPU_EPILOGUE_STAGES] = {{"E0_.x", "E0_.y", "bits_to_float(e0_.x), bits_to_float(e0_.y)"},
                                       {"E0_.z", "E0_.w", "bits_to_float(e0_.z), bits_to_float(e0_.w)"},
                                       {"E1_.x", "E1_.y", "bits_to_float(e1_.x), bits_to_float(e1_.y)"},
                                       {"E1_.z", "E1_.w", "bits_to_float(e1_.z), bits_to_float(e1_.w)"}};

static int operation(int stage)
{
    return stage % GPU_STAGE_OF_CHANNELS;
}

static bool is_stage_constant(const struct gpu_kernel *kernel, int i)
{
    return i >= own_constants(kernel) || strncmp(kernel->constants[i].name, "STAGE", 5) == 0;
}

static bool has_stages(const struct gpu_kernel *kernel)
{
    bool has = false;
    for (int i = 0; i < gpu_kernel_constant_count(kernel); i++) has = has || is_stage_constant(kernel, i);
    return has;
}

// Writes a function with one branch for each operation in use.
static void put_stages(struct hl_text *text, const struct gpu_prelude *prelude, const struct gpu_kernel *kernel,
                       const int *constants)
{
    bool used[STAGE_TEXTS] = {false};
    int count = 0;
    for (int i = 0; i < gpu_kernel_constant_count(kernel); i++) {
        int stage = constants ? constants[i] : i < own_constants(kernel) ? kernel->constants[i].value : GPU_EPI_NONE;
        if (is_stage_constant(kernel, i) && stage_text(operation(stage))) used[operation(stage)] = true;
    }
    for (int op = 0; op < STAGE_TEXTS; op++) {
        used[op] = stage_text(op) && (used[op] || prelude->constants_stay);
        count += used[op];
    }
    if (!count) {
        put(text, "#define stage_(op, v, r, a, b) (v)\n");
    } else {
        put(text, "FUNCTION_ float4 stage_(int op, float4 v, float4 r, float a, float b) {\n");
        for (int op = 0; op < STAGE_TEXTS; op++) {
            if (!used[op]) continue;
            put_with(text, "    if (op == @) ", NULL, (int[3]){op});
            put(text, stage_text(op));
            put(text, "\n");
        }
        put(text, "    return v;\n}\n");
    }
    put(text, "#define stage(op, v, a, b) stage_(op, v, splatf4(0.0f), a, b)\n"
              "#define stage_with(op, v, r, a, b) stage_(op, v, r, a, b)\n");
}

// Writes what the vector `at` of numbers of channels is.
static void put_numbers(struct hl_text *text, const struct gpu_kernel *kernel, enum gpu_stage_source source,
                        const char *at)
{
    const int arg = gpu_kernel_weights_arg(kernel);
    const bool own = source == GPU_STAGE_OF_WEIGHTS;
    put(text, own && kernel->args[arg].kind == GPU_INTS ? "bits_to_float4(" : "to_acc4(");
    put(text, own ? kernel->args[arg].name : "load_r_");
    put_with(text, "($ + (p).z))", at, NULL);
}

// Writes operand_, which is r of a stage, for constants that stay.
static void put_operand_function(struct hl_text *text, const struct gpu_kernel *kernel)
{
    put(text, "FUNCTION_ float4 operand_(int stage, int at, int slices, int4 p) {\n    float4 r = splatf4(0.0f);\n");
    for (int op = 0; op < STAGE_TEXTS; op++)
        if (takes_value(op)) put_with(text, "    if (stage == @) r = to_acc4(read_r_(p));\n", NULL, (int[3]){op});
    static const enum gpu_stage_source sources[] = {GPU_STAGE_OF_CHANNELS, GPU_STAGE_OF_WEIGHTS};
    const int count = gpu_kernel_weights_arg(kernel) < 0 ? 1 : 2;
    for (int i = 0; i < count; i++) {
        put_with(text, "    if (stage - stage % @ == @) r = ", NULL, (int[3]){GPU_STAGE_OF_CHANNELS, (int)sources[i]});
        put_numbers(text, kernel, sources[i], "at");
        put(text, ";\n");
    }
    put_with(text, "    if (stage - stage % @ == @) r = read_first_r_(slices, p);\n", NULL,
             (int[3]){GPU_STAGE_OF_CHANNELS, GPU_STAGE_OF_FEWER});
    put(text, "    return r;\n}\n");
}

// Writes r of stage i, where the constants are known.
static void put_operand(struct hl_text *text, const struct gpu_kernel *kernel, int stage, int i)
{
    if (stage >= GPU_STAGE_OF_FEWER)
        put_with(text, "read_first_r_($, p)", stage_params[i].slices, NULL);
    else if (stage >= GPU_STAGE_OF_CHANNELS)
        put_numbers(text, kernel, (enum gpu_stage_source)(stage - operation(stage)), stage_params[i].first);
    else
        put(text, takes_value(stage) ? "to_acc4(read_r_(p))" : "splatf4(0.0f)");
}

// Writes one call for each stage. The buffers are no globals in all languages: a macro reads what stages take from them.
static void put_epilogue(struct hl_text *text, const struct gpu_prelude *prelude, const struct gpu_kernel *kernel,
                         const int *stages)
{
    const bool all = prelude->constants_stay;
    bool any = all;
    for (int i = 0; i < GPU_EPILOGUE_STAGES; i++) any = any || stage_text(operation(stages[i]));
    if (!any) {
        put(text, "#define finish(v, p) (v)\n");
        return;
    }
    if (all) put_operand_function(text, kernel);
    put(text, "FUNCTION_ real4 finish_(real4 u, float4 r0, float4 r1, float4 r2, float4 r3, int4 e0_, int4 e1_) {\n"
              "    float4 v = to_acc4(u);\n");
    for (int i = 0; i < GPU_EPILOGUE_STAGES; i++) {
        if (!all && !stage_text(operation(stages[i]))) continue;
        put_with(text, "    v = stage_(EPI_@ % @, v, r@, $);\n", stage_params[i].floats,
                 (int[3]){i, GPU_STAGE_OF_CHANNELS, i});
    }
    put(text, "    return to_real4(v);\n}\n#define finish(v, p) finish_(v, ");
    for (int i = 0; i < GPU_EPILOGUE_STAGES; i++) {
        if (all) {
            put_with(text, "operand_(EPI_@, $, ", stage_params[i].first, (int[3]){i});
            put_with(text, "$, p)", stage_params[i].slices, NULL);
        } else put_operand(text, kernel, stages[i], i);
        put(text, ", ");
    }
    put(text, "E0_, E1_)\n");
}

// ---- the parts of a program
// Returns the value that the grid covers: position() maps an id to a position in it, and the residual has its shape.
static const char *grid_value(const struct gpu_kernel *kernel)
{
    const char *name = NULL;
    for (const struct gpu_arg *arg = kernel->args; arg->kind != GPU_ARG_END; arg++) {
        if (!gpu_arg_is_value(arg->kind)) continue;
        if (gpu_arg_is_written(arg->kind)) return arg->name;
        if (!name) name = arg->name;
    }
    return name;
}

// Defines the names of a list "FIRST SECOND" as the numbers from 0 on.
static void put_value_names(struct hl_text *text, const char *names)
{
    for (int value = 0; names && *names; value++) {
        size_t length = strcspn(names, " ");
        put(text, "#define ");
        hl_text_append_bytes(text, names, length);
        put_with(text, " @\n", NULL, (int[3]){value});
        names += length + (names[length] == ' ');
    }
}

static void put_constants(struct hl_text *text, const struct gpu_prelude *prelude, const struct gpu_kernel *kernel,
                          const int *constants, const int group[3])
{
    static const char *const stages[GPU_EPILOGUE_STAGES] = {"EPI_0", "EPI_1", "EPI_2", "EPI_3"};
    int own = own_constants(kernel), all = gpu_kernel_constant_count(kernel);
    for (int i = 0; i < all; i++) {
        int value = constants ? constants[i] : i < own ? kernel->constants[i].value : 0;
        const char *name = i < own ? kernel->constants[i].name : stages[i - own];
        int numbers[3] = {i, value};
        put_with(text, prelude->constant, name, prelude->constants_stay ? numbers : numbers + 1);
    }
    put_with(text, prelude->group, NULL, group ? group : kernel->group);
    for (int i = 0; i < GPU_KERNEL_NAMES; i++) put_value_names(text, kernel->value_names[i]);
}

// Writes the template once for each int4, in the order that kernel.h states.
static void put_params(struct hl_text *text, const struct gpu_kernel *kernel, const char *template)
{
    char name[80];
    for (const struct gpu_arg *arg = kernel->args; arg->kind != GPU_ARG_END; arg++) {
        if (!gpu_arg_is_value(arg->kind)) continue;
        snprintf(name, sizeof name, "n_%s", arg->name);
        put_with(text, template, name, NULL);
    }
    for (const char *const *param = kernel->params; *param; param++) {
        snprintf(name, sizeof name, "P_%s", *param);
        put_with(text, template, name, NULL);
    }
    if (kernel->epilogue) {
        put_with(text, template, "E0_", NULL);
        put_with(text, template, "E1_", NULL);
    }
}

// The arguments of the kernel, and r_ after them if it has an epilogue.
static int buffer_count(const struct gpu_kernel *kernel)
{
    return gpu_kernel_arg_count(kernel) + kernel->epilogue;
}

static struct gpu_arg buffer_of(const struct gpu_kernel *kernel, int i)
{
    return i < gpu_kernel_arg_count(kernel) ? kernel->args[i] : (struct gpu_arg){GPU_IN, "r_"};
}

static void put_buffers(struct hl_text *text, const struct gpu_prelude *prelude, const struct gpu_kernel *kernel, bool either)
{
    for (int i = 0; i < buffer_count(kernel); i++) {
        struct gpu_arg arg = buffer_of(kernel, i);
        if (i && !prelude->globals) put(text, ",\n    ");
        const bool late = kernel->waits && arg.kind == GPU_IN && prelude->late_value;
        put_with(text, late ? prelude->late_value : prelude->buffer[arg.kind], arg.name, (int[3]){i, i});
        if (either && gpu_arg_is_real(arg.kind)) put_with(text, prelude->float_buffer[arg.kind], arg.name, (int[3]){i, i});
    }
}

static void put_access(struct hl_text *text, const struct gpu_kernel *kernel)
{
    for (const struct gpu_arg *arg = kernel->args; arg->kind != GPU_ARG_END; arg++) {
        put_with(text, access_words[arg->kind], arg->name, NULL);
        if (gpu_arg_is_value(arg->kind)) put_with(text, shape_words, arg->name, NULL);
    }
    const char *grid = grid_value(kernel);
    if (!grid) return;
    put_with(text, "#define position() position_(n_$, GID0, GID1, GID2)\n", grid, NULL);
    if (!kernel->epilogue) return;
    put_with(text, "#define read_r_(p) load_r_(at_(n_$, p))\n", grid, NULL);
    put_with(text, "#define read_first_r_(slices, p) ((p).z < (slices) ? "
                   "to_acc4(load_r_(at_(mki4(n_$.x, n_$.y, 4 * (slices), n_$.w), p))) : splatf4(0.0f))\n", grid, NULL);
}

// either: the words need the buffers, so that put_either writes them after these.
static void put_storage(struct hl_text *text, const struct gpu_kernel *kernel, unsigned floats, bool either)
{
    for (int i = 0; i < buffer_count(kernel); i++) {
        struct gpu_arg arg = buffer_of(kernel, i);
        const char *type = !either && floats >> i & 1 ? "#define b_$_type_ float4\n" : "#define b_$_type_ stor4\n";
        if (gpu_arg_is_real(arg.kind)) put_with(text, type, arg.name, NULL);
        if (!either) put_with(text, storage_words[floats >> i & 1][arg.kind], arg.name, NULL);
    }
}

static void put_either(struct hl_text *text, const struct gpu_kernel *kernel)
{
    for (int i = 0; i < buffer_count(kernel); i++) {
        struct gpu_arg arg = buffer_of(kernel, i);
        put_with(text, either_words[arg.kind], arg.name, (int[3]){1 << i, 1 << i});
    }
}

// arrays: declarations, and NULL.
static void put_arrays(struct hl_text *text, const struct gpu_prelude *prelude, const char *const *arrays)
{
    for (; *arrays; arrays++) {
        put(text, prelude->shared);
        put(text, *arrays);
        put(text, ";\n");
    }
}

static void put_shared(struct hl_text *text, const struct gpu_prelude *prelude, const struct gpu_kernel *kernel)
{
    static const char *const plain[] = {matrix_array, NULL};
    put_arrays(text, prelude, kernel->shared);
    if (kernel->dynamic_shared) put(text, prelude->dynamic_shared);
    if (!kernel->matrix) return;
    if (prelude->matrix_words) put(text, "#if !(" HAS_MATRIX_UNITS ")\n");
    put_arrays(text, prelude, plain);
    if (prelude->matrix_words) put(text, "#endif\n");
}

static void put_matrix_words(struct hl_text *text, const struct gpu_prelude *prelude)
{
    if (prelude->matrix_words) put(text, "#if " HAS_MATRIX_UNITS "\n");
    put(text, prelude->matrix_words);
    if (prelude->matrix_words) put(text, "#else\n");
    put(text, matrix_words);
    if (prelude->matrix_words) put(text, "#endif\n");
}

char *gpu_emit(const struct gpu_kernel *kernel, enum gpu_language language, enum gpu_precision precision,
               unsigned floats, const int *constants, const int group[3])
{
    const struct gpu_prelude *prelude = preludes[language];
    static const int none[GPU_EPILOGUE_STAGES];
    const int *stages = constants ? constants + own_constants(kernel) : none;
    int params = gpu_kernel_param_count(kernel);
    bool either = prelude->constants_stay && precision == GPU_F16S;
    struct hl_text text = {0};

    put(&text, prelude->first[precision]);
    if (kernel->byte_dots) put(&text, prelude->dot_first);
    if (kernel->cooperative) put(&text, prelude->cooperative_first);
    put(&text, prelude->types[precision]);
    put(&text, prelude->words);
    put(&text, prelude->more[precision]);
    put(&text, common_words);
    if (kernel->integers || kernel->moves_codes) {
        put(&text, prelude->integer_words);
        put(&text, integer_words);
        put(&text, kernel->byte_dots && prelude->dot_words ? prelude->dot_words : plain_dot_words);
    }
    if (kernel->moves_codes) put(&text, moving_words);
    put_constants(&text, prelude, kernel, constants, group);
    if (kernel->matrix) put_matrix_words(&text, prelude);
    if (kernel->dynamic_shared) put(&text, prelude->bulk_words);
    if (kernel->fragments) put(&text, kernel->cooperative ? prelude->cooperative_words : prelude->fragment_words);
    if (prelude->start[1])
        put(&text, gpu_kernel_constant_index(kernel, "RESIDENT") >= 0 ? "#define GROUPS_ RESIDENT\n"
                   : kernel->waits                                    ? "#define GROUPS_ 2\n"
                                                                      : "#define GROUPS_ 1\n");
    if (kernel->waits && !prelude->start[1]) put(&text, "#define WAIT\n#define LOAD_EARLY_(b, i) b[i]\n");
    if (params) {
        put(&text, prelude->params_open);
        put_params(&text, kernel, prelude->param);
        put(&text, prelude->params_close);
        if (prelude->param_access) put_params(&text, kernel, prelude->param_access);
    }
    if (either)
        put_with(&text, prelude->constant, "FLOATS_", (int[3]){GPU_FLOATS_CONSTANT, 0});
    put_storage(&text, kernel, floats, either);
    put_access(&text, kernel);
    if (prelude->globals) {
        put_buffers(&text, prelude, kernel, either);
        put_shared(&text, prelude, kernel);
    }
    if (either) put_either(&text, kernel);
    if (has_stages(kernel)) put_stages(&text, prelude, kernel, constants);
    if (kernel->epilogue) put_epilogue(&text, prelude, kernel, stages);
    put_with(&text, prelude->entry, kernel->name, NULL);
    if (!prelude->globals) {
        put_buffers(&text, prelude, kernel, false);
        if (params) {
            put(&text, ",\n    ");
            put_with(&text, prelude->entry_params, NULL,
                     (int[3]){buffer_count(kernel)});
        }
    }
    put(&text, prelude->entry_close);
    put(&text, prelude->start[kernel->waits]);
    if (!prelude->globals) put_shared(&text, prelude, kernel);
    put_body(&text, kernel->body);
    put(&text, "}\n");
    return hl_text_take(&text);
}
