// SPDX-License-Identifier: Apache-2.0
// Chains of element-wise steps: what they read, the tables that bytes become, the PRELUs that
// several of them are, their run over pieces, and the lines that a pool behind them needs.
#include "fast/chain.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "abi/built_types.h"
#include "fast/elements.h"
#include "fast/simd/simd.h"

// What lies in a cache between two nodes is read about as fast as in a chain. (One thread: hair segmentation, with
// tensors of 4 MB, takes 0.73 of its time with chains, MobileNet v3 uint8, whose largest has 200 KB, 1.01.)
enum { MIN_BYTES = 1 << 18 };
// A pool is part of a chain where it would read so much, about what a second-level cache holds. Rows of it are made
// together while the lines that they read have up to LINES_BYTES; those of one row may fill half of that cache. (2x2
// behind 1x1 and 3x3, time in the chain over time apart, one thread of a Zen 4 with 1 MB of that cache: floats and
// bytes of up to 5 MB, which lie in the third level, 0.97 to 1.04, so that memory is all that is saved; of 6 to 100 MB
// 0.73 to 0.95. With two threads 11 MB 0.82, 44 MB 0.64. Lines of 32 to 512 KB made no difference.)
enum { MIN_POOLED_BYTES = 1 << 20, LINES_BYTES = 64 << 10, MAX_LINES_BYTES = 512 << 10 };
// So many of its rows has each thread, or they do not end together.
enum { MIN_ROWS_OF_THREAD = 4 };

// ---- operands -----------------------------------------------------------------------------------

// The period of a tensor's values beside an output: 0 if it is as large, -1 if it has none. It has the output's last
// dimensions, or one value.
static int64_t period_of(const TfLiteTensor *x, const TfLiteTensor *y)
{
    const int more = y->dims->size - x->dims->size;
    const int64_t all = hl_elements(x);
    int64_t count = 1;
    if (TfLiteIntArrayEqual(x->dims, y->dims)) return 0;
    for (int i = x->dims->size - 1; i >= 0 && more >= 0 && x->dims->data[i] == y->dims->data[i + more]; i--)
        count *= x->dims->data[i];
    return more < 0 || (all != count && all != 1) ? -1 : all;
}

bool hl_chain_takes(const TfLiteContext *ctx, const TfLiteNode *node)
{
    const TfLiteTensor *y = &ctx->tensors[node->outputs->data[0]];
    const size_t size = hl_type_size(y->type);
    bool takes = size > 0 && size <= sizeof(float) && hl_elements(y) > 0;
    for (int i = 0; i < node->inputs->size && takes; i++) {
        const TfLiteTensor *x = hl_input(ctx, node, i);
        takes = x && (hl_type_size(x->type) == size || x->type == kTfLiteBool) && period_of(x, y) >= 0;
    }
    return takes;
}

static size_t repeated_bytes(const struct hl_chain_operand *operand)
{
    return (HL_CHAIN_PIECE + (size_t)operand->period) * (size_t)operand->size;
}

// Writes a tensor's values out until they fill a piece, wherever in a period it begins.
static void repeat(const struct hl_chain_operand *operand, const char *data)
{
    const size_t period = (size_t)operand->period * (size_t)operand->size;
    size_t left = repeated_bytes(operand), at = 0;
    for (size_t now; left > 0; left -= now, at += now) {
        now = left < period ? left : period;
        memcpy(operand->repeated + at, data, now);
    }
}

static void set_operand(const TfLiteContext *ctx, const TfLiteNode *lead, const TfLiteNode *const *nodes, int step,
                        int input, struct hl_chain_operand *operand)
{
    const int tensor = nodes[step]->inputs->data[input];
    *operand =
        (struct hl_chain_operand){.value = -1, .tensor = tensor, .size = (int)hl_type_size(ctx->tensors[tensor].type)};
    for (int i = 0; i < step; i++)
        if (nodes[i]->outputs->data[0] == tensor) operand->value = i + 1;
    if (lead->outputs->data[0] == tensor) operand->value = 0;
    operand->constant = hl_is_constant(&ctx->tensors[tensor]);
    if (operand->value < 0)
        operand->period = period_of(&ctx->tensors[tensor], &ctx->tensors[nodes[step]->outputs->data[0]]);
}

// ---- running ------------------------------------------------------------------------------------

static const char *operand_at(const struct hl_chain_run *run, int step, int input,
                              char (*values)[HL_CHAIN_PIECE * sizeof(float)], const char *y, int64_t first)
{
    const struct hl_chain_operand *operand = &run->chain->operands[step][input];
    if (operand->value == 0) return y;
    if (operand->value > 0) return values[operand->value - 1];
    if (operand->repeated) return operand->repeated + first % operand->period * operand->size;
    if (operand->period > 0) first %= operand->period;
    return run->others[step][input] ? run->others[step][input] + first * operand->size : NULL;
}

// y: where element `first` lies.
static void run_elements(const struct hl_chain_run *run, char *y, int64_t first, int64_t count)
{
    _Alignas(HL_LINE) char values[HL_MAX_STEPS - 1][HL_CHAIN_PIECE * sizeof(float)];
    const struct hl_chain *chain = run->chain;
    for (int64_t now; count > 0; first += now, count -= now, y += now * chain->size) {
        now = count < HL_CHAIN_PIECE ? count : HL_CHAIN_PIECE;
        if (chain->wrap > 0 && now > chain->wrap - first % chain->wrap) now = chain->wrap - first % chain->wrap;
        for (int s = 0; s < chain->count; s++)
            chain->steps[s].run(&chain->steps[s], operand_at(run, s, 0, values, y, first),
                                operand_at(run, s, 1, values, y, first), s == chain->count - 1 ? y : values[s], now);
    }
}

void hl_chain_begin(const TfLiteContext *ctx, const struct hl_chain *chain, void *y, struct hl_chain_run *run)
{
    run->chain = chain;
    if (!chain) return;
    *run = (struct hl_chain_run){.chain = chain, .y = y};
    for (int s = 0; s < chain->count; s++)
        for (int i = 0; i < 2; i++) {
            const struct hl_chain_operand *operand = &chain->operands[s][i];
            if (operand->value >= 0 || operand->tensor < 0) continue;
            run->others[s][i] = hl_data(&ctx->tensors[operand->tensor]);
            if (operand->repeated && !operand->constant) repeat(operand, run->others[s][i]);
        }
}

void hl_chain_elements_at(const struct hl_chain_run *run, char *y, int64_t first, int64_t count)
{
    if (run->chain) run_elements(run, y, first, count);
}

void hl_chain_elements(const struct hl_chain_run *run, int64_t first, int64_t count)
{
    if (run->chain) run_elements(run, run->y + first * run->chain->size, first, count);
}

void hl_chain_rows(const struct hl_chain_run *run, int64_t row, int64_t rows)
{
    if (run->chain) hl_chain_elements(run, row * run->chain->channels, rows * run->chain->channels);
}

// ---- a pool at the end --------------------------------------------------------------------------

// Of the tensor that the pool reads, for one row of the pool, with lines that lie between two windows.
int64_t hl_chain_positions_of_row(const struct hl_chain *chain)
{
    const struct hl_pool *pool = chain->pool;
    return (int64_t)pool->width * (pool->stride_h < pool->height ? pool->stride_h : pool->height);
}

// Whether the pool may end a chain behind tensor y: windows of neighboring rows share no lines, which would be made
// twice.
static bool set_pool(struct hl_chain *chain, const struct hl_pool *pool, const TfLiteTensor *y, int workers)
{
    chain->pool = pool;
    chain->batches = y->dims->data[0];
    const int64_t each = hl_chain_positions_of_row(chain) * chain->channels * chain->size;
    if (pool->filter_h > pool->stride_h || pool->y.out == 0 || pool->x.out == 0 || y->bytes < MIN_POOLED_BYTES ||
        each > MAX_LINES_BYTES)
        return false;
    if (workers > 1 && chain->batches * pool->y.out < MIN_ROWS_OF_THREAD * workers) return false;
    const int64_t fair = chain->batches * pool->y.out / workers; // room for more would be in vain
    chain->most_rows = each < LINES_BYTES ? (int)(LINES_BYTES / each) : 1;
    if (chain->most_rows > fair) chain->most_rows = (int)fair;
    chain->lines.stride =
        ((size_t)each * (size_t)chain->most_rows / HL_LINE + 2) * HL_LINE; // apart from the next one's
    return true;
}

static int64_t items_of_batch(const struct hl_chain *chain, int rows)
{
    return (chain->pool->y.out - 1) / rows + 1;
}

int64_t hl_chain_items(const struct hl_chain *chain, int rows)
{
    return chain->batches * items_of_batch(chain, rows);
}

struct hl_chain_lines hl_chain_lines_of(const struct hl_chain *chain, int rows, int64_t item)
{
    const struct hl_pool *pool = chain->pool;
    const int64_t items = items_of_batch(chain, rows);
    struct hl_chain_lines lines = {.batch = item / items, .row = (int)(item % items) * rows};
    lines.end = pool->y.out - lines.row < rows ? pool->y.out : lines.row + rows;
    const int64_t top = (int64_t)lines.row * pool->stride_h - pool->y.before;
    const int64_t bottom = (int64_t)(lines.end - 1) * pool->stride_h - pool->y.before + pool->filter_h;
    lines.top = top < 0 ? 0 : (int)top;
    lines.first = (lines.batch * pool->height + lines.top) * pool->width;
    lines.count = ((bottom < pool->height ? bottom : pool->height) - lines.top) * pool->width;
    return lines;
}

void hl_chain_made(const struct hl_chain_run *run, const struct hl_chain_lines *lines, char *made, int64_t first,
                   int64_t count)
{
    const int64_t channels = run->chain->channels;
    run_elements(run, made + (first - lines->first) * channels * run->chain->size, first * channels, count * channels);
}

void hl_chain_pool(const struct hl_chain_run *run, const struct hl_chain_lines *lines, const char *made)
{
    const struct hl_chain *chain = run->chain;
    const struct hl_pool *pool = chain->pool;
    const int64_t pixel = chain->channels * chain->size, line = pool->x.out * pixel;
    char *y = run->y + (lines->batch * pool->y.out + lines->row) * line;
    struct hl_pool_run pooled = hl_pool_begin(pool, made + lines->count * pixel, y + (lines->end - lines->row) * line);
    for (int row = lines->row; row < lines->end; row++, y += line)
        hl_pool_line(pool, made, lines->top, row, y, &pooled);
}

// ---- bytes become a table -----------------------------------------------------------------------

static void look_up(const struct hl_step *step, const void *a, const void *b, void *y, int64_t count)
{
    (void)b;
    const struct hl_chain *chain = step->state;
    chain->map(a, y, count, chain->table);
}

// A step's operand is known for each value of the lead's output.
static bool is_function(const struct hl_chain *chain, int step)
{
    bool is = true;
    for (int i = 0; i < 2 && is; i++) {
        const struct hl_chain_operand *operand = &chain->operands[step][i];
        is = operand->value >= 0 || operand->tensor < 0 || (operand->constant && operand->period == 1);
    }
    return is;
}

static bool reads_before(const struct hl_chain *chain, int step, int value)
{
    bool reads = false;
    for (int s = step; s < chain->count; s++)
        for (int i = 0; i < 2; i++)
            reads = reads || (chain->operands[s][i].value >= 0 && chain->operands[s][i].value < value);
    return reads;
}

// Steps that are a function of one byte, several of them or one that reads two operands, become one look-up. All 256
// results are computed by the steps themselves.
static void make_table(const TfLiteContext *ctx, struct hl_chain *chain)
{
    int known = 0, count = 0;
    while (known < chain->count && is_function(chain, known)) known++;
    for (int n = 1; n <= known; n++)
        if (!reads_before(chain, n, n)) count = n;
    const bool is_table = count == 1 && chain->operands[0][1].tensor < 0 && chain->operands[0][1].value < 0;
    chain->map = hl_simd_byte_map(hl_simd_best(INT_MAX));
    if (chain->size != 1 || !chain->map || count == 0 || is_table) return;
    struct hl_chain part = *chain;
    part.count = count;
    struct hl_chain_run run;
    hl_chain_begin(ctx, &part, chain->table, &run);
    for (int i = 0; i < 256; i++) chain->table[i] = (uint8_t)i;
    hl_chain_elements(&run, 0, 256);

    chain->count -= count - 1;
    chain->steps[0] = (struct hl_step){.run = look_up, .state = chain};
    chain->operands[0][0] = (struct hl_chain_operand){.value = 0, .tensor = -1};
    chain->operands[0][1] = (struct hl_chain_operand){.value = -1, .tensor = -1};
    for (int s = 1; s < chain->count; s++) {
        chain->steps[s] = part.steps[s + count - 1];
        for (int i = 0; i < 2; i++) {
            chain->operands[s][i] = part.operands[s + count - 1][i];
            if (chain->operands[s][i].value >= 0) chain->operands[s][i].value -= count - 1;
        }
    }
}

// ---- the parts of a PRELU become one step -------------------------------------------------------
//
//     RELU(x) + alpha * -RELU(-x)     or, with alpha negated,     RELU(x) + alpha * RELU(-x)
//
// Converters write PRELU so. (MTCNN's first network, 1280 x 960: six steps behind each of three convolutions.)

// The step that made this value by this kernel, for one reader alone; -1: there is none.
static int made_by(const struct hl_chain *chain, int value, const struct hl_fast *kernel)
{
    int readers = 0;
    for (int s = 0; s < chain->count; s++)
        for (int i = 0; i < 2; i++) readers += chain->operands[s][i].value == value;
    return value > 0 && readers == 1 && chain->steps[value - 1].kernel == kernel ? value - 1 : -1;
}

// The steps of a PRELU, the last one first: ADD, RELU, MUL, NEG (-1: there is none), RELU, NEG.
enum { SUM, ABOVE, PRODUCT, NEGATED, BELOW, MIRRORED, PARTS };

// Finds the parts whose sum is this step; alpha: which operand of the product it is.
static bool find_parts(const struct hl_chain *chain, int sum, int above, int alpha, int *parts)
{
    const struct hl_chain_operand(*operands)[2] = chain->operands;
    parts[SUM] = sum;
    parts[ABOVE] = made_by(chain, operands[sum][above].value, &hl_fast_relu);
    parts[PRODUCT] = made_by(chain, operands[sum][1 - above].value, &hl_fast_mul);
    if (parts[ABOVE] < 0 || parts[PRODUCT] < 0 || operands[parts[PRODUCT]][alpha].value >= 0) return false;
    const int factor = operands[parts[PRODUCT]][1 - alpha].value;
    parts[NEGATED] = made_by(chain, factor, &hl_fast_neg);
    parts[BELOW] = made_by(chain, parts[NEGATED] < 0 ? factor : operands[parts[NEGATED]][0].value, &hl_fast_relu);
    parts[MIRRORED] = parts[BELOW] < 0 ? -1 : made_by(chain, operands[parts[BELOW]][0].value, &hl_fast_neg);
    return parts[MIRRORED] >= 0 && operands[parts[MIRRORED]][0].value == operands[parts[ABOVE]][0].value;
}

static void run_parts(const struct hl_step *step, const void *a, const void *b, void *y, int64_t count)
{
    const struct hl_element_kernels *kernels = step->state;
    kernels->parted_prelu(a, b, y, count, step->params);
}

static void remove_step(struct hl_chain *chain, int step)
{
    chain->count--;
    for (int s = 0; s < chain->count; s++) {
        if (s >= step) {
            chain->steps[s] = chain->steps[s + 1];
            memcpy(chain->operands[s], chain->operands[s + 1], sizeof chain->operands[s]);
        }
        for (int i = 0; i < 2; i++) chain->operands[s][i].value -= chain->operands[s][i].value > step;
    }
}

static void join_parts(struct hl_chain *chain, const struct hl_element_kernels *kernels, int alpha, const int *parts)
{
    static const float signs[2] = {1, -1};
    const int sum = parts[SUM];
    const struct hl_chain_operand x = chain->operands[parts[ABOVE]][0], factor = chain->operands[parts[PRODUCT]][alpha];
    chain->steps[sum] = (struct hl_step){.run = run_parts, .state = kernels, .params = &signs[parts[NEGATED] >= 0]};
    chain->operands[sum][0] = x;
    chain->operands[sum][1] = factor;
    for (int step = sum - 1; step >= 0; step--) // the later ones first, so that numbers stay right
        for (int part = ABOVE; part < PARTS; part++)
            if (parts[part] == step) {
                remove_step(chain, step);
                break;
            }
}

// nodes: of the steps.
static bool has_activation(const struct hl_chain *chain, int step, const TfLiteNode *const *nodes)
{
    if (chain->steps[step].kernel == &hl_fast_add)
        return ((const TfLiteAddParams *)nodes[step]->builtin_data)->activation != kTfLiteActNone;
    if (chain->steps[step].kernel == &hl_fast_mul)
        return ((const TfLiteMulParams *)nodes[step]->builtin_data)->activation != kTfLiteActNone;
    return false;
}

static void join_prelus(struct hl_chain *chain, const TfLiteNode *const *nodes)
{
    const struct hl_element_kernels *kernels = hl_simd_best(INT_MAX)->kernels->elements;
    if (!HL_HAS_PARTED_PRELU || !kernels->parted_prelu || chain->size != sizeof(float)) return;
    for (int s = 0; s < chain->count; s++)
        if (has_activation(chain, s, nodes)) chain->steps[s].kernel = NULL;
    int parts[PARTS];
    for (int s = chain->count - 1; s > 0; s--)
        for (int way = 0; way < 4; way++) {
            if (s >= chain->count || chain->steps[s].kernel != &hl_fast_add) break;
            if (find_parts(chain, s, way % 2, way / 2, parts)) join_parts(chain, kernels, way / 2, parts);
        }
}

// ---- making -------------------------------------------------------------------------------------

bool hl_chain_pays(const struct hl_chain *chain)
{
    return chain->pays;
}

TfLiteStatus hl_chain_create(TfLiteContext *ctx, const TfLiteNode *lead, const TfLiteNode *const *nodes,
                             const struct hl_step *steps, int count, const struct hl_pool *pool,
                             struct hl_chain **created, size_t *bytes)
{
    const TfLiteTensor *y = &ctx->tensors[lead->outputs->data[0]];
    struct hl_chain made = {.size = (int)hl_type_size(y->type), .channels = 1, .count = count};
    if (y->dims->size > 0) made.channels = y->dims->data[y->dims->size - 1];
    *created = NULL;
    const int workers = hl_thread_count(ctx);
    if (pool && !set_pool(&made, pool, y, workers)) return kTfLiteOk;
    size_t repeated = 0;
    for (int s = 0; s < count; s++) {
        made.steps[s] = steps[s];
        for (int i = 0; i < 2; i++) {
            struct hl_chain_operand *operand = &made.operands[s][i];
            *operand = (struct hl_chain_operand){.value = -1, .tensor = -1};
            const int input = steps[s].inputs[i];
            if (input < nodes[s]->inputs->size && (i == 0 || steps[s].run))
                set_operand(ctx, lead, nodes, s, input, operand);
            if (operand->period > made.channels) // all of these end with the shortest
                made.wrap = made.wrap == 0 || operand->period < made.wrap ? operand->period : made.wrap;
            else if (operand->period > 0)
                repeated += repeated_bytes(operand);
        }
    }
    *bytes = sizeof made + repeated + (pool ? HL_LINE + (size_t)workers * made.lines.stride : 0);
    if (*bytes > hl_memory_left(ctx)) return kTfLiteOk;
    struct hl_chain *chain = malloc(*bytes);
    HL_REQUIRE(ctx, lead, chain, "no memory for the %zu bytes of the chain of nodes behind it", *bytes);
    *chain = made;
    char *room = (char *)(chain + 1);
    for (int s = 0; s < count; s++)
        for (int i = 0; i < 2; i++) {
            struct hl_chain_operand *operand = &chain->operands[s][i];
            if (operand->period == 0 || operand->period > chain->channels) continue;
            operand->repeated = room;
            room += repeated_bytes(operand);
            if (operand->constant) repeat(operand, hl_data(&ctx->tensors[operand->tensor]));
        }
    if (pool) chain->lines.first = room + (HL_LINE - (uintptr_t)room % HL_LINE) % HL_LINE;
    join_prelus(chain, nodes);
    for (int s = chain->count - 1; s >= 0; s--)
        if (!chain->steps[s].run) remove_step(chain, s);
    make_table(ctx, chain);
    chain->pays = pool || chain->count < count || y->bytes >= MIN_BYTES;
    *created = chain;
    return kTfLiteOk;
}
