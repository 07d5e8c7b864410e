// SPDX-License-Identifier: Apache-2.0
// Inference requests and answers in the forms of the Open Inference Protocol (KServe's version 2): JSON, and behind it
// tensors as bytes where the binary extension is used. In: a body. Out: memory for the queue; and back. Nothing of a
// request is trusted: its JSON may have no more values than the model's inputs take, which bounds the memory that
// reading it costs.
#include "serve/serve.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include <cjson/cJSON.h>

#include "alloc.h"
#include "element.h"
#include "json.h"

struct reader {
    struct hl_serve_call *call;
    const char *binary; // what is left of it
    size_t binary_bytes;
    struct hl_text *error;
};

static int refuse(const struct reader *reader, const char *format, ...) HL_PRINTF(2, 3);
static int refuse(const struct reader *reader, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    hl_text_clear(reader->error);
    hl_text_add_va(reader->error, format, args);
    va_end(args);
    return HL_HTTP_BAD;
}

static const cJSON *member(const cJSON *object, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(object, name);
}

// A text of the request in a message: its beginning.
enum { SHOWN = 100 };

// Whole numbers that a double holds without gaps reach to 2^53.
#define HL_WHOLE 9007199254740992.0

static bool is_whole(double value, double least, double most)
{
    return value >= least && value <= most && value == floor(value);
}

// ---- values -------------------------------------------------------------------------------------

// False where the type has no such value.
static bool store_value(TfLiteType type, void *data, int64_t i, const cJSON *json)
{
    struct hl_element_type element = hl_element_type(type);
    double value = cJSON_IsTrue(json) ? 1 : cJSON_IsFalse(json) ? 0 : json->valuedouble;
    bool is_number = cJSON_IsNumber(json), is_bool = cJSON_IsBool(json);
    if (!is_number && !(is_bool && type == kTfLiteBool)) return false;
    if (element.view == HL_ELEMENT_REAL) {
        double most = element.bits == 64 ? DBL_MAX : type == kTfLiteFloat16 ? 65504 : (double)FLT_MAX;
        if (!(fabs(value) <= most)) return false;
        hl_element_set_real(type, data, i, value);
        return true;
    }
    int bits = type == kTfLiteBool ? 1 : element.bits;
    double half = ldexp(1, bits - 1), least = element.view == HL_ELEMENT_SIGNED ? -half : 0;
    double most = element.view == HL_ELEMENT_SIGNED ? half - 1 : 2 * half - 1;
    if (bits == 64) least = least < 0 ? -HL_WHOLE : 0, most = HL_WHOLE;
    if (!is_whole(value, least, most)) return false;
    hl_element_set_bits(data, element.bits, i, (uint64_t)(int64_t)value);
    return true;
}

// Stores a list, or lists in lists as the shape has them. `stored` counts; false after a message.
static bool store_list(const struct reader *reader, const struct hl_serve_tensor *tensor, const cJSON *list, int depth,
                       unsigned char *data, int64_t *stored)
{
    const struct hl_serve_call *call = reader->call;
    int64_t most = tensor->elements * call->items;
    int64_t length = depth < tensor->rank ? tensor->dims[depth] * (depth == 0 ? (int64_t)call->items : 1) : 0;
    bool flat = !cJSON_IsArray(list->child);
    if (flat ? depth > 0 && depth != tensor->rank - 1 : depth >= tensor->rank) {
        refuse(reader, "the data of input '%s' are nested otherwise than its shape", tensor->name);
        return false;
    }
    int64_t count = 0;
    for (const cJSON *item = list->child; item != NULL; item = item->next, count++) {
        if (cJSON_IsArray(item) == flat) {
            refuse(reader, "the data of input '%s' mix values and lists", tensor->name);
            return false;
        }
        if (!flat && !store_list(reader, tensor, item, depth + 1, data, stored)) return false;
        if (!flat) continue;
        if (*stored >= most || !store_value(tensor->type, data, *stored, item)) {
            if (*stored < most)
                refuse(reader, "value %" PRId64 " of input '%s' is no %s%s", *stored, tensor->name, tensor->datatype,
                       hl_element_type(tensor->type).bits == 64 ? ", or one that JSON has no exact form for" : "");
            else
                refuse(reader, "input '%s' has more than %" PRId64 " values", tensor->name, most);
            return false;
        }
        ++*stored;
    }
    if (!flat || depth > 0) {
        if (count == length) return true;
        refuse(reader, "the data of input '%s' hold a list of %" PRId64 " where its shape says %" PRId64, tensor->name,
               count, length);
        return false;
    }
    return true;
}

// ---- inputs -------------------------------------------------------------------------------------

static void add_shape(struct hl_text *text, const struct hl_serve_tensor *tensor, int batch)
{
    hl_text_add(text, "%s[", tensor->datatype);
    for (int i = 0; i < tensor->rank; i++) hl_text_add(text, "%s%d", i > 0 ? "," : "", tensor->dims[i]);
    hl_text_add(text, "]");
    if (batch > 1) hl_text_add(text, ", or up to %d times that in the first dimension,", batch);
}

// The number of items that a shape means; 0: it does not fit.
static int items_of_shape(const struct hl_serve_tensor *tensor, const cJSON *shape, int batch)
{
    if (!cJSON_IsArray(shape) || cJSON_GetArraySize(shape) != tensor->rank) return 0;
    int items = 1, i = 0;
    for (const cJSON *dim = shape->child; dim != NULL; dim = dim->next, i++) {
        double wanted = tensor->dims[i], given = dim->valuedouble;
        if (!cJSON_IsNumber(dim)) return 0;
        if (i == 0 && wanted > 0 && given != wanted && is_whole(given / wanted, 1, batch))
            items = (int)(given / wanted);
        else if (given != wanted)
            return 0;
    }
    return items;
}

static int check_shape(struct reader *reader, const struct hl_serve_tensor *tensor, const cJSON *input, bool first)
{
    struct hl_serve_call *call = reader->call;
    const char *datatype = cJSON_GetStringValue(member(input, "datatype"));
    int items = items_of_shape(tensor, member(input, "shape"), call->model->batch);
    if (items == 0 || datatype == NULL || strcmp(datatype, tensor->datatype) != 0) {
        struct hl_text wanted = {0};
        add_shape(&wanted, tensor, call->model->batch);
        refuse(reader, "input '%s' wants the datatype and shape %s", tensor->name, wanted.data);
        hl_text_free(&wanted);
        return HL_HTTP_BAD;
    }
    if (!first && items != call->items)
        return refuse(reader, "input '%s' is a batch of %d, the one before of %d", tensor->name, items, call->items);
    call->items = items;
    return HL_HTTP_OK;
}

// Kernels read a bool as C does, which has two values.
static bool are_bools(const char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if ((unsigned char)bytes[i] > 1) return false;
    return true;
}

static int take_binary(struct reader *reader, int index, const cJSON *size)
{
    const struct hl_serve_tensor *tensor = &reader->call->model->inputs[index];
    size_t wanted = tensor->bytes * (size_t)reader->call->items;
    if (!cJSON_IsNumber(size) || size->valuedouble != (double)wanted)
        return refuse(reader, "binary_data_size of input '%s' is not %zu", tensor->name, wanted);
    if (reader->binary_bytes < wanted)
        return refuse(reader, "%zu bytes are left for input '%s', which has %zu", reader->binary_bytes, tensor->name,
                      wanted);
    if (tensor->type == kTfLiteBool && !are_bools(reader->binary, wanted))
        return refuse(reader, "a byte of input '%s' is neither 0 nor 1", tensor->name);
    reader->call->inputs[index] = reader->binary;
    reader->binary += wanted;
    reader->binary_bytes -= wanted;
    return HL_HTTP_OK;
}

static int take_json(struct reader *reader, int index, const cJSON *data, unsigned char *decoded)
{
    const struct hl_serve_tensor *tensor = &reader->call->model->inputs[index];
    int64_t wanted = tensor->elements * reader->call->items, stored = 0;
    if (!cJSON_IsArray(data))
        return refuse(reader, "input '%s' has neither a list 'data' nor the parameter binary_data_size", tensor->name);
    if (!store_list(reader, tensor, data, 0, decoded, &stored)) return HL_HTTP_BAD;
    if (stored != wanted)
        return refuse(reader, "input '%s' has %" PRId64 " values, not %" PRId64, tensor->name, stored, wanted);
    reader->call->inputs[index] = decoded;
    return HL_HTTP_OK;
}

static int find_tensor(const struct hl_serve_tensor *tensors, int count, const char *name)
{
    for (int i = 0; name != NULL && i < count; i++)
        if (strcmp(tensors[i].name, name) == 0) return i;
    for (int i = 0; name != NULL && i < count; i++)
        if (strcmp(tensors[i].tensor_name, name) == 0) return i;
    return -1;
}

// "the name 'x'", or what it is in place of a name.
static int refuse_name(const struct reader *reader, const char *side, const char *name,
                       const struct hl_serve_tensor *tensors, int count)
{
    if (name == NULL) return refuse(reader, "an %s has no name", side);
    struct hl_text names = {0};
    for (int i = 0; i < count; i++) hl_text_add(&names, "%s'%s'", i > 0 ? ", " : "", tensors[i].name);
    refuse(reader, "the model has no %s '%.*s'; it has %s", side, (int)SHOWN, name, hl_text_string(&names));
    hl_text_free(&names);
    return HL_HTTP_BAD;
}

static int read_inputs(struct reader *reader, const cJSON *inputs)
{
    struct hl_serve_call *call = reader->call;
    const struct hl_serve_model *model = call->model;
    int count = cJSON_GetArraySize(inputs), status = HL_HTTP_OK;
    if (!cJSON_IsArray(inputs) || count != model->input_count)
        return refuse(reader, "'inputs' is not a list of %d", model->input_count);
    size_t bytes = 0;
    for (int i = 0; i < count; i++) bytes += model->inputs[i].bytes;
    bool first = true;
    unsigned char *decoded = NULL;
    for (const cJSON *input = inputs->child; input != NULL && status == HL_HTTP_OK; input = input->next) {
        const char *name = cJSON_GetStringValue(member(input, "name"));
        int index = find_tensor(model->inputs, count, name);
        if (index < 0) return refuse_name(reader, "input", name, model->inputs, count);
        if (call->inputs[index] != NULL) return refuse(reader, "input '%s' is there twice", model->inputs[index].name);
        status = check_shape(reader, &model->inputs[index], input, first);
        if (status != HL_HTTP_OK) return status;
        if (first) decoded = call->decoded = malloc(bytes * (size_t)call->items + 1);
        if (decoded == NULL) return refuse(reader, "there is no memory for the inputs"), HL_HTTP_ENDING;
        const cJSON *size = member(member(input, "parameters"), "binary_data_size");
        status =
            size != NULL ? take_binary(reader, index, size) : take_json(reader, index, member(input, "data"), decoded);
        decoded += model->inputs[index].bytes * (size_t)call->items;
        first = false;
    }
    return status;
}

// ---- the rest of a request ----------------------------------------------------------------------

static int read_outputs(const struct reader *reader, const cJSON *outputs, bool binary)
{
    struct hl_serve_call *call = reader->call;
    const struct hl_serve_model *model = call->model;
    for (int i = 0; i < model->output_count; i++) {
        call->wanted[i] = outputs == NULL;
        call->binary[i] = binary;
    }
    if (outputs == NULL) return HL_HTTP_OK;
    if (!cJSON_IsArray(outputs) || cJSON_GetArraySize(outputs) > model->output_count)
        return refuse(reader, "'outputs' is not a list of at most %d", model->output_count);
    for (const cJSON *output = outputs->child; output != NULL; output = output->next) {
        const char *name = cJSON_GetStringValue(member(output, "name"));
        int index = find_tensor(model->outputs, model->output_count, name);
        if (index < 0) return refuse_name(reader, "output", name, model->outputs, model->output_count);
        const cJSON *form = member(member(output, "parameters"), "binary_data");
        if (form != NULL) call->binary[index] = cJSON_IsTrue(form);
        call->wanted[index] = true;
    }
    return HL_HTTP_OK;
}

static int read_parameters(const struct reader *reader, const cJSON *parameters)
{
    struct hl_serve_call *call = reader->call;
    const cJSON *timeout = member(parameters, "timeout"), *priority = member(parameters, "priority");
    call->timeout = (int64_t)(1e6 * call->model->deadline);
    if (timeout != NULL) {
        if (!cJSON_IsNumber(timeout) || !is_whole(timeout->valuedouble, 1, 86400e6))
            return refuse(reader, "the parameter timeout is no number of microseconds, 1 to 86400000000");
        int64_t given = (int64_t)timeout->valuedouble * 1000;
        if (call->timeout == 0 || given < call->timeout) call->timeout = given;
    }
    if (priority != NULL) {
        if (!cJSON_IsNumber(priority) || !is_whole(priority->valuedouble, INT32_MIN, INT32_MAX))
            return refuse(reader, "the parameter priority is no whole number of 32 bits");
        call->priority = (int32_t)priority->valuedouble;
    }
    return HL_HTTP_OK;
}

// An upper bound of the values in a JSON text: each but the first follows one of these characters.
static size_t count_values(const char *json, size_t length)
{
    size_t count = 1;
    for (size_t i = 0; i < length; i++) count += json[i] == ',' || json[i] == '[' || json[i] == '{' || json[i] == ':';
    return count;
}

// Lists in lists have as many values again for each dimension at worst, where all are 1.
static double most_values(const struct hl_serve_model *model)
{
    enum { REST = 4096 }; // names, shapes, parameters
    double most = REST;
    for (int i = 0; i < model->input_count; i++)
        most += (double)model->inputs[i].elements * model->batch * (model->inputs[i].rank + 1);
    return most;
}

static int read_json(struct reader *reader, const cJSON *json)
{
    struct hl_serve_call *call = reader->call;
    if (!cJSON_IsObject(json)) return refuse(reader, "the request is no JSON object");
    const cJSON *parameters = member(json, "parameters"), *id = member(json, "id");
    if (id != NULL && !cJSON_IsString(id)) return refuse(reader, "'id' is no string");
    if (id != NULL) call->id = hl_alloc_string(id->valuestring);
    int status = read_parameters(reader, parameters);
    if (status == HL_HTTP_OK) status = read_inputs(reader, member(json, "inputs"));
    if (status == HL_HTTP_OK)
        status = read_outputs(reader, member(json, "outputs"), cJSON_IsTrue(member(parameters, "binary_data_output")));
    if (status == HL_HTTP_OK && reader->binary_bytes > 0)
        return refuse(reader, "%zu bytes are behind the last input's", reader->binary_bytes);
    return status;
}

int hl_serve_call_read(struct hl_serve_call *call, struct hl_serve_model *model, const char *body, size_t length,
                       size_t header, struct hl_text *error)
{
    *call = (struct hl_serve_call){.model = model, .items = 1};
    call->inputs = hl_alloc((size_t)model->input_count, sizeof *call->inputs);
    call->outputs = hl_alloc((size_t)model->output_count, sizeof *call->outputs);
    call->wanted = hl_alloc((size_t)model->output_count, sizeof *call->wanted);
    call->binary = hl_alloc((size_t)model->output_count, sizeof *call->binary);
    struct reader reader = {.call = call, .error = error, .binary = body + header, .binary_bytes = length - header};
    if ((double)count_values(body, header) > most_values(model))
        return refuse(&reader, "the JSON has more values than the model's inputs take");
    const char *end = NULL;
    cJSON *json = cJSON_ParseWithLengthOpts(body, header, &end, false);
    if (json == NULL) {
        size_t at = end != NULL && end >= body ? (size_t)(end - body) : 0;
        return refuse(&reader, "the JSON cannot be read at byte %zu", at);
    }
    while (end < body + header && (*end == ' ' || *end == '\t' || *end == '\n' || *end == '\r')) end++;
    int status = end == body + header
                     ? read_json(&reader, json)
                     : refuse(&reader, "something stands behind the JSON, at byte %zu", (size_t)(end - body));
    cJSON_Delete(json);
    return status;
}

bool hl_serve_call_make_room(struct hl_serve_call *call)
{
    const struct hl_serve_model *model = call->model;
    size_t bytes = 0;
    for (int i = 0; i < model->output_count; i++)
        if (call->wanted[i]) bytes += model->outputs[i].bytes * (size_t)call->items;
    unsigned char *at = call->results = malloc(bytes + 1);
    for (int i = 0; i < model->output_count && at != NULL; i++) {
        if (!call->wanted[i]) continue;
        call->outputs[i] = at;
        at += model->outputs[i].bytes * (size_t)call->items;
    }
    return call->results != NULL;
}

void hl_serve_call_free(struct hl_serve_call *call)
{
    free(call->id);
    free(call->inputs);
    free(call->outputs);
    free(call->wanted);
    free(call->binary);
    free(call->decoded);
    free(call->results);
    *call = (struct hl_serve_call){0};
}

// ---- answers ------------------------------------------------------------------------------------

void hl_serve_add_string(struct hl_text *text, const char *string)
{
    cJSON *object = hl_alloc_check(cJSON_CreateObject());
    hl_json_add_string(object, "string", string);
    char *printed = hl_alloc_check(cJSON_PrintUnformatted(object->child));
    hl_text_add(text, "%s", printed);
    cJSON_free(printed);
    cJSON_Delete(object);
}

// Nine digits tell each float from its neighbors, seventeen each double. JSON has no word for what is no number.
static void add_real(struct hl_text *text, TfLiteType type, const void *data, int64_t i)
{
    double value = hl_element_real(type, data, i);
    if (!isfinite(value))
        hl_text_add(text, "null");
    else
        hl_text_add(text, "%.*g", type == kTfLiteFloat64 ? 17 : type == kTfLiteFloat32 ? 9 : 5, value);
}

static void add_values(struct hl_text *text, const struct hl_serve_tensor *tensor, const void *data, int64_t count)
{
    struct hl_element_type element = hl_element_type(tensor->type);
    for (int64_t i = 0; i < count; i++) {
        if (i > 0) hl_text_add_bytes(text, ",", 1);
        if (tensor->type == kTfLiteBool)
            hl_text_add(text, hl_element_bits(data, 8, i) != 0 ? "true" : "false");
        else if (element.view == HL_ELEMENT_REAL)
            add_real(text, tensor->type, data, i);
        else if (element.view == HL_ELEMENT_SIGNED)
            hl_text_add(text, "%" PRId64, hl_element_signed(data, element.bits, i));
        else
            hl_text_add(text, "%" PRIu64, hl_element_bits(data, element.bits, i));
    }
}

static void add_output(struct hl_text *text, const struct hl_serve_call *call, int index)
{
    const struct hl_serve_tensor *tensor = &call->model->outputs[index];
    hl_text_add(text, "{\"name\":");
    hl_serve_add_string(text, tensor->name);
    hl_text_add(text, ",\"datatype\":\"%s\",\"shape\":[", tensor->datatype);
    for (int i = 0; i < tensor->rank; i++)
        hl_text_add(text, "%s%" PRId64, i > 0 ? "," : "", (int64_t)tensor->dims[i] * (i == 0 ? call->items : 1));
    if (call->binary[index]) {
        hl_text_add(text, "],\"parameters\":{\"binary_data_size\":%zu}}", tensor->bytes * (size_t)call->items);
        return;
    }
    hl_text_add(text, "],\"data\":[");
    add_values(text, tensor, call->outputs[index], tensor->elements * call->items);
    hl_text_add(text, "]}");
}

void hl_serve_call_write(const struct hl_serve_call *call, struct hl_text *answer, size_t *header)
{
    const struct hl_serve_model *model = call->model;
    bool any = false, binary = false;
    hl_text_add(answer, "{\"model_name\":");
    hl_serve_add_string(answer, model->name);
    hl_text_add(answer, ",\"model_version\":\"1\"");
    if (call->id != NULL) {
        hl_text_add(answer, ",\"id\":");
        hl_serve_add_string(answer, call->id);
    }
    hl_text_add(answer, ",\"outputs\":[");
    for (int i = 0; i < model->output_count; i++) {
        if (!call->wanted[i]) continue;
        if (any) hl_text_add(answer, ",");
        add_output(answer, call, i);
        any = true;
        binary = binary || call->binary[i];
    }
    hl_text_add(answer, "]}");
    *header = binary ? answer->length : 0;
    for (int i = 0; i < model->output_count; i++)
        if (call->wanted[i] && call->binary[i])
            hl_text_add_bytes(answer, (const char *)call->outputs[i], model->outputs[i].bytes * (size_t)call->items);
}
