// SPDX-License-Identifier: Apache-2.0
// See wire.h. Both conversions follow protobuf-c's description of the message, so a new field is one line in a .proto
// file.
#include "wire.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "files.h"
#include "json.h"
#include "message.h"
#include "output_file.h"

// COCO's 40,000 pictures make 40 MiB.
static const size_t file_limit = (size_t)1 << 30;

static bool is_json(const char *path)
{
    return hl_files_ends_with(path, ".json");
}

#if defined(HALITE_PROTOBUF)
#include "benchmark_result.pb-c.h"
#include "evaluation.pb-c.h"
#include "profiling.pb-c.h"

static const ProtobufCMessageDescriptor *const descriptors[] = {
    [HL_WIRE_METRICS] = &tflite__evaluation__evaluation_stage_metrics__descriptor,
    [HL_WIRE_GROUND_TRUTH] = &tflite__evaluation__object_detection_ground_truth__descriptor,
    [HL_WIRE_BENCHMARK] = &tflite__tools__benchmark__benchmark_result__descriptor,
    [HL_WIRE_PROFILE] = &tflite__profiling__benchmark_profiling_data__descriptor,
    [HL_WIRE_RUNTIME] = &tflite__profiling__model_runtime_details__descriptor,
};

static bool can(const char *path, struct hl_text *error)
{
    (void)path;
    (void)error;
    return true;
}

// ---- tree -> message ----------------------------------------------------------------------------

static ProtobufCMessage *message_of(const ProtobufCMessageDescriptor *descriptor, const cJSON *tree);

// Writes one value of a field to `at`.
static void store(const ProtobufCFieldDescriptor *field, const cJSON *value, char *at)
{
    switch (field->type) {
    case PROTOBUF_C_TYPE_INT32: *(int32_t *)at = (int32_t)value->valuedouble; break;
    case PROTOBUF_C_TYPE_INT64: *(int64_t *)at = (int64_t)value->valuedouble; break;
    case PROTOBUF_C_TYPE_FLOAT: *(float *)at = (float)value->valuedouble; break;
    case PROTOBUF_C_TYPE_DOUBLE: *(double *)at = value->valuedouble; break;
    case PROTOBUF_C_TYPE_STRING: *(char **)at = hl_alloc_string(value->valuestring); break;
    case PROTOBUF_C_TYPE_ENUM:
        *(int *)at = protobuf_c_enum_descriptor_get_value_by_name(field->descriptor, value->valuestring)->value;
        break;
    case PROTOBUF_C_TYPE_MESSAGE: *(ProtobufCMessage **)at = message_of(field->descriptor, value); break;
    default: break;
    }
}

static size_t size_of(const ProtobufCFieldDescriptor *field)
{
    switch (field->type) {
    case PROTOBUF_C_TYPE_INT32:
    case PROTOBUF_C_TYPE_ENUM:
    case PROTOBUF_C_TYPE_FLOAT: return 4;
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_DOUBLE: return 8;
    default: return sizeof(void *);
    }
}

static ProtobufCMessage *message_of(const ProtobufCMessageDescriptor *descriptor, const cJSON *tree)
{
    ProtobufCMessage *message = hl_alloc(1, descriptor->sizeof_message);
    descriptor->message_init(message);
    for (const cJSON *item = tree->child; item != NULL; item = item->next) {
        const ProtobufCFieldDescriptor *field =
            protobuf_c_message_descriptor_get_field_by_name(descriptor, item->string);
        char *at = (char *)message + field->offset, *quantifier = (char *)message + field->quantifier_offset;
        if (field->label == PROTOBUF_C_LABEL_REPEATED) {
            size_t count = (size_t)cJSON_GetArraySize(item), size = size_of(field), i = 0;
            char *values = hl_alloc(count, size);
            for (const cJSON *value = item->child; value != NULL; value = value->next)
                store(field, value, values + size * i++);
            *(size_t *)quantifier = count;
            *(void **)at = values;
        } else {
            store(field, item, at);
            if (field->type != PROTOBUF_C_TYPE_STRING && field->type != PROTOBUF_C_TYPE_MESSAGE)
                *(protobuf_c_boolean *)quantifier = 1;
        }
    }
    return message;
}

static bool add_packed(enum hl_wire_message kind, const cJSON *tree, struct hl_text *bytes, struct hl_text *error)
{
    (void)error;
    ProtobufCMessage *message = message_of(descriptors[kind], tree);
    size_t size = protobuf_c_message_get_packed_size(message);
    hl_text_reserve(bytes, size);
    bytes->length = protobuf_c_message_pack(message, (uint8_t *)bytes->data);
    protobuf_c_message_free_unpacked(message, NULL);
    return true;
}

// ---- message -> tree ----------------------------------------------------------------------------

static cJSON *tree_of(const ProtobufCMessage *message);

// Without enums, which no message has that is read.
static cJSON *value_of(const ProtobufCFieldDescriptor *field, const char *at)
{
    switch (field->type) {
    case PROTOBUF_C_TYPE_INT32: return cJSON_CreateNumber(*(const int32_t *)at);
    case PROTOBUF_C_TYPE_INT64: return cJSON_CreateNumber((double)*(const int64_t *)at);
    case PROTOBUF_C_TYPE_FLOAT: return cJSON_CreateNumber((double)*(const float *)at);
    case PROTOBUF_C_TYPE_DOUBLE: return cJSON_CreateNumber(*(const double *)at);
    case PROTOBUF_C_TYPE_STRING: return cJSON_CreateString(*(char *const *)at);
    default: return tree_of(*(const ProtobufCMessage *const *)at);
    }
}

static cJSON *tree_of(const ProtobufCMessage *message)
{
    cJSON *tree = hl_alloc_check(cJSON_CreateObject());
    for (unsigned i = 0; i < message->descriptor->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &message->descriptor->fields[i];
        const char *at = (const char *)message + field->offset;
        const char *quantifier = (const char *)message + field->quantifier_offset;
        if (field->label == PROTOBUF_C_LABEL_REPEATED) {
            cJSON *list = hl_alloc_check(cJSON_AddArrayToObject(tree, field->name));
            const char *values = *(const char *const *)at;
            for (size_t n = 0; n < *(const size_t *)quantifier; n++)
                cJSON_AddItemToArray(list, hl_alloc_check(value_of(field, values + n * size_of(field))));
            continue;
        }
        bool pointer = field->type == PROTOBUF_C_TYPE_STRING || field->type == PROTOBUF_C_TYPE_MESSAGE;
        if (pointer ? *(const void *const *)at != NULL : *(const protobuf_c_boolean *)quantifier)
            cJSON_AddItemToObject(tree, field->name, hl_alloc_check(value_of(field, at)));
    }
    return tree;
}

static cJSON *unpack(enum hl_wire_message kind, const struct hl_text *bytes, struct hl_text *error)
{
    const uint8_t *data = (const uint8_t *)hl_text_string(bytes);
    ProtobufCMessage *message = protobuf_c_message_unpack(descriptors[kind], NULL, bytes->length, data);
    if (message == NULL) {
        hl_text_add(error, "is no serialized message %s", descriptors[kind]->short_name);
        return NULL;
    }
    cJSON *tree = tree_of(message);
    protobuf_c_message_free_unpacked(message, NULL);
    return tree;
}

#else // without protobuf-c

static bool can(const char *path, struct hl_text *error)
{
    if (is_json(path)) return true;
    hl_text_add(error, "this build of Halite has no serialized messages (protobuf-c was missing): use JSON, in a file "
                       "whose name ends in .json");
    return false;
}

static bool add_packed(enum hl_wire_message kind, const cJSON *tree, struct hl_text *bytes, struct hl_text *error)
{
    (void)kind;
    (void)tree;
    (void)bytes;
    return can("", error);
}

static cJSON *unpack(enum hl_wire_message kind, const struct hl_text *bytes, struct hl_text *error)
{
    (void)kind;
    (void)bytes;
    can("", error);
    return NULL;
}
#endif

// ---- files --------------------------------------------------------------------------------------

bool hl_wire_check(const char *path)
{
    struct hl_text error = {0};
    bool ok = *path == '\0' || can(path, &error);
    if (!ok) hl_error(HL_TFLITE, path, "%s", error.data);
    hl_text_free(&error);
    return ok && (*path == '\0' || hl_output_check(HL_TFLITE, path));
}

bool hl_wire_write(const char *path, enum hl_wire_message message, const cJSON *tree)
{
    struct hl_text bytes = {0}, error = {0};
    bool ok = true;
    if (is_json(path)) {
        char *text = hl_alloc_check(cJSON_Print(tree));
        hl_text_add(&bytes, "%s\n", text);
        cJSON_free(text);
    } else {
        ok = add_packed(message, tree, &bytes, &error);
    }
    if (!ok) hl_error(HL_TFLITE, path, "%s", error.data);
    ok = ok && hl_output_write(HL_TFLITE, path, bytes.data, bytes.length);
    hl_text_free(&bytes);
    hl_text_free(&error);
    return ok;
}

cJSON *hl_wire_read(const char *path, enum hl_wire_message message, struct hl_text *error)
{
    struct hl_text bytes = {0};
    cJSON *tree = NULL;
    if (hl_files_read(path, file_limit, &bytes, error)) {
        if (is_json(path))
            tree = cJSON_ParseWithLength(hl_text_string(&bytes), bytes.length);
        else
            tree = unpack(message, &bytes, error);
        if (is_json(path) && tree == NULL) hl_text_add(error, "is no JSON");
    }
    hl_text_free(&bytes);
    return tree;
}
