// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: any bytes as a capsule. One that is read holds what capsule.h promises: tensors of the sizes that
// their types and shapes say, no more of them than there are bytes, and it can be written and read again. Seeds are
// parts of capsules, since checksums keep a fuzzer out of whole ones: the first byte says whether the rest is an
// archive, or a capsule.json for an archive that this target makes.
#include "fuzz.h"

#include <stdlib.h>

#include "capsule/capsule.h"
#include "element.h"
#include "npy.h"

static void promise(bool holds)
{
    if (!holds) abort();
}

static size_t check_tensors(const struct hl_capsule_tensors *tensors)
{
    size_t sum = 0;
    for (int i = 0; i < tensors->count; i++) {
        const struct hl_capsule_tensor *tensor = &tensors->items[i];
        const struct hl_diff_tensor *value = &tensor->value;
        promise(tensor->name != NULL && value->rank >= 0 && value->rank <= HL_DIFF_MAX_RANK && value->count >= 0);
        promise(value->type == kTfLiteString || value->bytes.length == hl_element_bytes(value->type, value->count));
        sum += value->bytes.length;
    }
    return sum;
}

static void check(const void *bytes, size_t size, bool again)
{
    struct hl_text error = {0};
    struct hl_capsule capsule;
    if (hl_capsule_read(&capsule, bytes, size, &error)) {
        size_t sum = check_tensors(&capsule.inputs) + check_tensors(&capsule.outputs) + check_tensors(&capsule.nodes);
        promise(sum <= size && error.length == 0);
        if (capsule.model != NULL) fuzz_sum(capsule.model, capsule.model_size);
        if (again) {
            struct hl_zip_writer writer = {0};
            static const char *const made[] = {"inputs", "outputs", "nodes"};
            struct hl_capsule copy = capsule;
            copy.manifest = cJSON_Duplicate(capsule.manifest, true);
            for (int i = 0; i < 3; i++)
                while (cJSON_HasObjectItem(copy.manifest, made[i])) cJSON_DeleteItemFromObject(copy.manifest, made[i]);
            hl_capsule_write(&copy, &writer);
            check(writer.bytes.data, writer.bytes.length, false);
            hl_zip_writer_free(&writer);
            cJSON_Delete(copy.manifest);
        }
    } else {
        promise(error.length > 0);
    }
    hl_capsule_free(&capsule);
    hl_text_free(&error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const float numbers[] = {1, 2, 3, 4, 5, 6};
    static const int dims[] = {2, 3};
    if (size == 0) return 0;
    if (data[0] != 'j') {
        check(data + 1, size - 1, true);
        return 0;
    }
    struct hl_zip_writer writer = {0};
    struct hl_text array = {0}, error = {0};
    promise(hl_npy_add(&array, kTfLiteFloat32, 2, dims, numbers, &error));
    hl_zip_add(&writer, "capsule.json", data + 1, size - 1);
    hl_zip_add(&writer, "a.npy", array.data, array.length);
    hl_zip_add(&writer, "b.bin", numbers, sizeof numbers);
    hl_zip_add(&writer, "model.tflite", "", 0);
    hl_zip_finish(&writer);
    check(writer.bytes.data, writer.bytes.length, true);
    hl_zip_writer_free(&writer);
    hl_text_free(&array);
    return 0;
}
