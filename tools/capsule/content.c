// SPDX-License-Identifier: Apache-2.0
// A capsule and its bytes. Nothing of a file is trusted: names lead to files of the archive alone, sizes follow from
// types and shapes and have to be those of the files, and no more memory is taken than the archive is large.
#include <string.h>

#include "base/checked.h"
#include "capsule/capsule.h"
#include "element.h"
#include "json.h"
#include "npy.h"
#include "sha256.h"
#include "values.h"

static const char *const parts[] = {"inputs", "outputs", "nodes"};
enum { PARTS = sizeof parts / sizeof *parts };

static struct hl_capsule_tensors *part_of(struct hl_capsule *capsule, int part)
{
    struct hl_capsule_tensors *const tensors[] = {&capsule->inputs, &capsule->outputs, &capsule->nodes};
    return tensors[part];
}

const char *hl_capsule_string(const cJSON *json, const char *name)
{
    const char *string = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, name));
    return string != NULL ? string : "";
}

// ---- reading ------------------------------------------------------------------------------------

struct reader {
    struct hl_zip zip;
    size_t left; // bytes of tensors that may still be taken
    struct hl_text *error;
};

static const unsigned char *find_file(const struct reader *reader, const char *name, size_t *size)
{
    struct hl_zip_file file;
    for (size_t at = 0; hl_zip_next(&reader->zip, &at, &file);)
        if (file.name_length == strlen(name) && memcmp(file.name, name, file.name_length) == 0)
            return hl_zip_stored(&reader->zip, &file, size);
    return NULL;
}

// A whole number from 0 on; -1: it is none.
static int whole(const cJSON *json)
{
    double number = cJSON_IsNumber(json) ? json->valuedouble : -1;
    return number >= 0 && number <= INT32_MAX && number == (double)(int)number ? (int)number : -1;
}

static bool read_shape(const cJSON *shape, struct hl_diff_tensor *value)
{
    const cJSON *item;
    if (!cJSON_IsArray(shape)) return false;
    value->count = 1;
    cJSON_ArrayForEach(item, shape)
    {
        int dim = whole(item);
        if (dim < 0 || value->rank == HL_DIFF_MAX_RANK || !hl_mul_i64(value->count, dim, &value->count)) return false;
        value->dims[value->rank++] = dim;
    }
    return value->count <= INT64_MAX / 256;
}

static bool same_shape(const struct hl_npy *npy, const struct hl_diff_tensor *value)
{
    return npy->rank == value->rank && memcmp(npy->dims, value->dims, (size_t)value->rank * sizeof *value->dims) == 0;
}

// The tensor's bytes, from its file.
static bool read_value(struct reader *reader, const char *name, struct hl_diff_tensor *value)
{
    size_t size;
    const unsigned char *bytes = find_file(reader, name, &size);
    bool strings = value->type == kTfLiteString;
    struct hl_npy npy;
    if (bytes == NULL) return false;
    const char *ending = strrchr(name, '.');
    if (ending != NULL && strcmp(ending, ".npy") == 0) {
        struct hl_text ignored = {0};
        bool ok = hl_npy_parse(bytes, size, &npy, &ignored) && same_shape(&npy, value) &&
                  hl_npy_type_fits(npy.type, value->type) && hl_element_type(value->type).bits >= 8;
        hl_text_free(&ignored);
        if (!ok) return false;
        bytes = npy.data;
        size = npy.bytes;
    }
    if (strings ? hl_values_strings(bytes, size) != value->count : hl_element_bytes(value->type, value->count) != size)
        return false;
    if (size > reader->left) return false; // files that are named again and again
    reader->left -= size;
    if (size > 0) hl_text_add_bytes(&value->bytes, (const char *)bytes, size);
    return true;
}

static bool read_tensor(struct reader *reader, const cJSON *json, struct hl_capsule_tensor *tensor)
{
    const char *file = hl_capsule_string(json, "file");
    tensor->name = hl_capsule_string(json, "name");
    tensor->node = whole(cJSON_GetObjectItemCaseSensitive(json, "node"));
    tensor->tensor = whole(cJSON_GetObjectItemCaseSensitive(json, "tensor"));
    tensor->value.type = hl_element_named(hl_capsule_string(json, "type"));
    if (hl_element_type(tensor->value.type).view != HL_ELEMENT_NONE &&
        read_shape(cJSON_GetObjectItemCaseSensitive(json, "shape"), &tensor->value) &&
        read_value(reader, file, &tensor->value))
        return true;
    hl_text_add(reader->error, "is a damaged capsule: its file '%s' is not there, or not what capsule.json says", file);
    return false;
}

static bool read_tensors(struct reader *reader, const cJSON *list, struct hl_capsule_tensors *tensors)
{
    if (list == NULL) return true;
    int count = cJSON_GetArraySize(list);
    const cJSON *item;
    tensors->items = hl_alloc((size_t)count, sizeof *tensors->items);
    cJSON_ArrayForEach(item, list)
    {
        if (!read_tensor(reader, item, &tensors->items[tensors->count++])) return false;
    }
    return true;
}

static bool read_model(struct hl_capsule *capsule, struct reader *reader)
{
    const cJSON *facts = cJSON_GetObjectItemCaseSensitive(capsule->manifest, "model");
    const char *hash = hl_capsule_string(facts, "sha256");
    char found[HL_SHA256_TEXT];
    capsule->model = find_file(reader, "model.tflite", &capsule->model_size);
    if (capsule->model != NULL) hl_sha256(capsule->model, capsule->model_size, found);
    if (strlen(hash) == HL_SHA256_TEXT - 1 && (capsule->model == NULL || strcmp(hash, found) == 0)) return true;
    hl_text_add(reader->error, "is a damaged capsule: its model is not the one that capsule.json tells of");
    return false;
}

static bool read_manifest(struct hl_capsule *capsule, struct reader *reader)
{
    size_t size;
    const unsigned char *text = find_file(reader, "capsule.json", &size);
    capsule->manifest = text != NULL ? cJSON_ParseWithLength((const char *)text, size) : NULL;
    const cJSON *version = cJSON_GetObjectItemCaseSensitive(capsule->manifest, "capsule");
    if (whole(version) == HL_CAPSULE_VERSION) return true;
    if (cJSON_IsNumber(version))
        hl_text_add(reader->error, "is a capsule of version %g; %d is read here", version->valuedouble,
                    HL_CAPSULE_VERSION);
    else
        hl_text_add(reader->error, "is no capsule: it has no capsule.json, or none that makes sense");
    return false;
}

bool hl_capsule_read(struct hl_capsule *capsule, const void *bytes, size_t size, struct hl_text *error)
{
    struct reader reader = {.left = size, .error = error};
    *capsule = (struct hl_capsule){0};
    if (!hl_zip_open(&reader.zip, bytes, size)) {
        hl_text_add(error, "is no capsule, which is a ZIP archive");
        return false;
    }
    bool ok = read_manifest(capsule, &reader) && read_model(capsule, &reader);
    for (int i = 0; ok && i < PARTS; i++)
        ok = read_tensors(&reader, cJSON_GetObjectItemCaseSensitive(capsule->manifest, parts[i]), part_of(capsule, i));
    return ok;
}

// ---- writing ------------------------------------------------------------------------------------

static cJSON *write_tensor(const struct hl_capsule_tensor *tensor, const char *part, int number,
                           struct hl_zip_writer *writer)
{
    const struct hl_diff_tensor *value = &tensor->value;
    const int rank = value->rank > 0 ? value->rank : 0;
    struct hl_text name = {0}, file = {0}, ignored = {0};
    bool array = value->rank >= 0 && value->type != kTfLiteString && hl_element_type(value->type).bits >= 8 &&
                 hl_npy_add(&file, value->type, value->rank, value->dims, hl_text_string(&value->bytes), &ignored);
    hl_text_add(&name, "%s/%d.%s", part, number, array ? "npy" : "bin");
    if (array)
        hl_zip_add(writer, name.data, file.data, file.length);
    else
        hl_zip_add(writer, name.data, hl_text_string(&value->bytes), value->bytes.length);
    cJSON *json = cJSON_CreateObject();
    hl_json_add_string(json, "name", tensor->name);
    cJSON_AddStringToObject(json, "type", hl_element_name(value->type));
    cJSON_AddItemToObject(json, "shape", cJSON_CreateIntArray(value->dims, rank));
    cJSON_AddStringToObject(json, "file", name.data);
    hl_text_free(&name);
    hl_text_free(&file);
    hl_text_free(&ignored);
    return json;
}

void hl_capsule_write(struct hl_capsule *capsule, struct hl_zip_writer *writer)
{
    if (capsule->model != NULL) hl_zip_add(writer, "model.tflite", capsule->model, capsule->model_size);
    for (int part = 0; part < PARTS; part++) {
        const struct hl_capsule_tensors *tensors = part_of(capsule, part);
        cJSON *list = cJSON_AddArrayToObject(capsule->manifest, parts[part]);
        for (int i = 0; i < tensors->count; i++) {
            cJSON *json = write_tensor(&tensors->items[i], parts[part], i, writer);
            if (part == PARTS - 1) {
                cJSON_AddNumberToObject(json, "node", tensors->items[i].node);
                cJSON_AddNumberToObject(json, "tensor", tensors->items[i].tensor);
            }
            cJSON_AddItemToArray(list, json);
        }
    }
    char *printed = hl_alloc_check(cJSON_Print(capsule->manifest));
    hl_zip_add(writer, "capsule.json", printed, strlen(printed));
    cJSON_free(printed);
    hl_zip_finish(writer);
}

void hl_capsule_tensors_free(struct hl_capsule_tensors *tensors)
{
    for (int i = 0; i < tensors->count; i++) hl_text_free(&tensors->items[i].value.bytes);
    free(tensors->items);
    *tensors = (struct hl_capsule_tensors){0};
}

void hl_capsule_free(struct hl_capsule *capsule)
{
    for (int i = 0; i < PARTS; i++) hl_capsule_tensors_free(part_of(capsule, i));
    cJSON_Delete(capsule->manifest);
    *capsule = (struct hl_capsule){0};
}
