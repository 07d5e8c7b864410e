// SPDX-License-Identifier: Apache-2.0
// Whether an operation has the operands that the interface gives it: number, order, types, scales, at the library's
// feature level. The rows are in operations.def.
#include <math.h>
#include <string.h>

#include "fake.h"

enum scale_rule { ANY, SAME, OF_256, OF_128 };

static const struct row {
    int32_t code;
    int32_t f32, u8, i8, i32, f16, boolean;
    const char *operands;
    enum scale_rule rule;
} rows[] = {
#define FAKE_OP(operation, f32, u8, i8, i32, f16, boolean, operands, rule) \
    {NNAPI_##operation, f32, u8, i8, i32, f16, boolean, operands, rule},
#include "operations.def"
#undef FAKE_OP
};

static int32_t level_for(const struct row *row, int32_t type)
{
    switch (type) {
    case ANEURALNETWORKS_TENSOR_FLOAT32: return row->f32;
    case ANEURALNETWORKS_TENSOR_QUANT8_ASYMM: return row->u8;
    case ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED: return row->i8;
    case ANEURALNETWORKS_TENSOR_INT32: return row->i32;
    case ANEURALNETWORKS_TENSOR_FLOAT16: return row->f16;
    case ANEURALNETWORKS_TENSOR_BOOL8: return row->boolean;
    default: return 0;
    }
}

struct match {
    const ANeuralNetworksModel *model;
    const struct row *row;
    const struct fake_operand *x, *w; // the first ones
};

static bool is_scalar_of(const struct fake_operand *operand, int32_t type)
{
    return operand->type == type && operand->has_value;
}

static bool is_weights(const struct match *match, const struct fake_operand *operand)
{
    if (!match->x) return false;
    if (operand->type == match->x->type) return true;
    return fake_is_8_bit(match->x->type) && operand->type == ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL;
}

// A bias of 8-bit products has their scale, and none where that differs by channel.
static bool is_bias(const struct match *match, const struct fake_operand *operand)
{
    if (!match->x || !match->w || operand->rank != 1) return false;
    if (!fake_is_8_bit(match->x->type)) return operand->type == match->x->type;
    if (operand->type != ANEURALNETWORKS_TENSOR_INT32 || operand->zero_point != 0) return false;
    float want = match->w->channels > 0 ? 0 : match->x->scale * match->w->scale;
    return fabsf(operand->scale - want) <= want * 1e-5f;
}

static bool is_x(struct match *match, const struct fake_operand *operand)
{
    if (!fake_is_tensor(operand->type)) return false;
    if (match->x) return operand->type == match->x->type;
    int32_t level = level_for(match->row, operand->type);
    match->x = operand;
    return level > 0 && fake.level >= level;
}

static bool fits(struct match *match, char letter, const struct fake_operand *operand)
{
    int32_t type = operand->type;
    if (fake_is_absent(operand) && !strchr("omnp", letter)) return false;
    bool quantized = match->x && fake_is_8_bit(match->x->type);
    switch (letter) {
    case 'x': return is_x(match, operand);
    case 'w': match->w = operand; return is_weights(match, operand);
    case 'c': return is_bias(match, operand);
    case 'i': return is_scalar_of(operand, ANEURALNETWORKS_INT32);
    case 'f': return is_scalar_of(operand, ANEURALNETWORKS_FLOAT32);
    case 'b': return is_scalar_of(operand, ANEURALNETWORKS_BOOL);
    case 'v': return is_scalar_of(operand, quantized ? ANEURALNETWORKS_INT32 : ANEURALNETWORKS_FLOAT32);
    case 's': return is_scalar_of(operand, ANEURALNETWORKS_INT32) || is_scalar_of(operand, ANEURALNETWORKS_FLOAT32);
    case 'I': return type == ANEURALNETWORKS_TENSOR_INT32;
    case 'B': return type == ANEURALNETWORKS_TENSOR_BOOL8;
    case 'F':
    case 'o': return type == ANEURALNETWORKS_TENSOR_FLOAT32;
    case 'm': return type == ANEURALNETWORKS_TENSOR_QUANT8_SYMM;
    case 'n': return type == ANEURALNETWORKS_TENSOR_QUANT16_SYMM;
    case 'p': return type == ANEURALNETWORKS_TENSOR_INT32;
    case 'q':
        return type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM || type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED ||
               type == ANEURALNETWORKS_TENSOR_QUANT8_SYMM || type == ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL ||
               type == ANEURALNETWORKS_TENSOR_FLOAT16;
    default: return fake_is_tensor(type);
    }
}

// Matches operands [*at, count) with the letters up to `end`. What stands in brackets may be absent at the end.
static bool match_list(struct match *match, const char *letters, char end, const uint32_t *list, uint32_t count)
{
    uint32_t at = 0;
    for (; *letters != end; letters++) {
        if (*letters == '[') {
            if (at == count) return true;
            continue;
        }
        if (*letters == ']') continue;
        if (at == count || !fits(match, *letters, &match->model->operands[list[at++]])) return false;
        if (letters[1] != '+') continue;
        size_t after = strcspn(letters + 2, end ? ">" : "");
        while (count - at > after && fits(match, *letters, &match->model->operands[list[at]])) at++;
        letters++;
    }
    return at == count;
}

static bool has_scale(const struct fake_operand *operand, float scale, int32_t zero_point)
{
    return operand->scale == scale && operand->zero_point == zero_point;
}

static bool scale_fits(const struct match *match, const struct fake_operand *out)
{
    if (!fake_is_8_bit(out->type)) return true;
    bool is_signed = out->type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED;
    switch (match->row->rule) {
    case SAME:
        return !match->x || !fake_is_8_bit(match->x->type) || has_scale(out, match->x->scale, match->x->zero_point);
    case OF_256: return has_scale(out, 1.0f / 256, is_signed ? -128 : 0);
    case OF_128: return has_scale(out, 1.0f / 128, is_signed ? 0 : 128);
    default: return true;
    }
}

static bool is_sequence(int32_t code)
{
    return code == NNAPI_UNIDIRECTIONAL_SEQUENCE_RNN || code == NNAPI_UNIDIRECTIONAL_SEQUENCE_LSTM ||
           code == NNAPI_BIDIRECTIONAL_SEQUENCE_LSTM;
}

// States are the last outputs of a sequence, from feature level 4 on.
static bool states_fit(const struct fake_operation *operation, const ANeuralNetworksModel *model)
{
    if (!is_sequence(operation->code)) return true;
    uint32_t results = 1, states = operation->code == NNAPI_UNIDIRECTIONAL_SEQUENCE_RNN ? 1 : 2;
    if (operation->code == NNAPI_BIDIRECTIONAL_SEQUENCE_LSTM) {
        const struct fake_operand *merges = &model->operands[operation->inputs[FAKE_MERGES]];
        results = merges->small[0] ? 1 : 2;
        states = 4;
    }
    if (operation->output_count == results) return true;
    return operation->output_count == results + states && fake.level >= NNAPI_LEVEL_4;
}

int fake_check_operation(const ANeuralNetworksModel *model, const struct fake_operation *operation)
{
    const char *name = fake_operation_name(operation->code);
    struct match match = {.model = model};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].code == operation->code) match.row = &rows[i];
    FAKE_WANT(match.row, BAD_DATA, "%s (%d) is not known here", name, operation->code);
    const char *outputs = strchr(match.row->operands, '>') + 1;
    FAKE_WANT(match_list(&match, match.row->operands, '>', operation->inputs, operation->input_count), BAD_DATA,
              "%s: its %u inputs are no %s, at feature level %lld", name, operation->input_count, match.row->operands,
              fake.level);
    FAKE_WANT(match_list(&match, outputs, 0, operation->outputs, operation->output_count), BAD_DATA,
              "%s: its %u outputs are no %s", name, operation->output_count, outputs);
    for (uint32_t i = 0; i < operation->output_count; i++)
        FAKE_WANT(scale_fits(&match, &model->operands[operation->outputs[i]]), BAD_DATA,
                  "%s: output %u has scale %g, zero point %d", name, i,
                  (double)model->operands[operation->outputs[i]].scale,
                  model->operands[operation->outputs[i]].zero_point);
    FAKE_WANT(states_fit(operation, model), BAD_DATA, "%s: %u outputs at feature level %lld", name,
              operation->output_count, fake.level);
    if (operation->code == NNAPI_MUL && match.x && fake_is_8_bit(match.x->type)) {
        const struct fake_operand *b = &model->operands[operation->inputs[1]];
        FAKE_WANT(model->operands[operation->outputs[0]].scale > match.x->scale * b->scale, BAD_DATA,
                  "%s: the output's scale is not above the product of the inputs'", name);
    }
    return ANEURALNETWORKS_NO_ERROR;
}
