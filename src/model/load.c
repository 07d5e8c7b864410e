// SPDX-License-Identifier: Apache-2.0
// The life of a model. In: bytes, or the path of a file to map. Out: one TfLiteModel whose structs
// all lie in one arena and whose constants lie in the bytes. It is counted by reference and gives
// everything back with the last one.
#include "model/model.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/file.h"
#include "model/loader.h"

struct hl_model_storage {
    struct TfLiteModel model;
    atomic_int references;
    _Atomic(struct hl_model_companion *) companion; // NULL: nobody has asked for it
    struct hl_arena arena;
    struct hl_file file; // descriptor -1 and no data where the bytes are the caller's
};

// ---- Creation

// Bytes that are no model at all give the original's words and nothing more: programs compare them.
#define NO_MODEL "The model is not a valid Flatbuffer buffer"

static bool check_identifier(const struct hl_flatbuffer *file, bool named, const struct hl_reporter *reporter)
{
    static const char identifier[4] = {'T', 'F', 'L', '3'};
    if (file->size >= 8 && memcmp(file->bytes + 4, identifier, 4) == 0) return true;
    if (file->size >= 12 && memcmp(file->bytes + 8, identifier, 4) == 0)
        hl_report(reporter, "the model starts with a 4-byte size prefix, which TensorFlow Lite files do not have: "
                            "take the first 4 bytes away");
    else if (!named)
        hl_report(reporter, NO_MODEL);
    else if (file->size < 8)
        hl_report(reporter, NO_MODEL ": it has only %zu bytes", file->size);
    else
        hl_report(reporter, NO_MODEL ": a .tflite file has the letters TFL3 at byte 4, this one has not");
    return false;
}

static bool load(struct hl_model_storage *storage, const void *data, size_t size, bool named,
                 const struct hl_reporter *reporter)
{
    struct hl_loader loader = {
        .file = {data, size},
        .reporter = reporter,
        .arena = &storage->arena,
        .model = &storage->model,
        .work_left = 16 * (uint64_t)size + 1048576,
        .subgraph = -1,
        .node = -1,
        .tensor = -1,
    };
    // The structs are up to six times as large as the densest tables that they come from.
    size_t limit = size > (SIZE_MAX - 1048576) / 16 ? SIZE_MAX : 16 * size + 1048576;
    hl_arena_init(&storage->arena, limit);
    storage->model.file_bytes = data;
    storage->model.file_size = size;
    return check_identifier(&loader.file, named, reporter) && hl_flatbuffer_verify(&loader.file, HL_Model, reporter) &&
           hl_load_decode(&loader) && hl_load_verify_graph(&loader);
}

static struct hl_model_storage *create_storage(const struct hl_reporter *reporter)
{
    struct hl_model_storage *storage = calloc(1, sizeof *storage);
    if (!storage) {
        hl_report(reporter, "out of memory while loading a model");
        return NULL;
    }
    storage->model.storage = storage;
    storage->file.descriptor = -1;
    atomic_init(&storage->references, 1);
    atomic_init(&storage->companion, NULL);
    return storage;
}

TfLiteModel *hl_model_create(const void *data, size_t size, const struct hl_reporter *reporter)
{
    if (!data || size == 0) {
        hl_report(reporter, "the model has no bytes");
        return NULL;
    }
    struct hl_model_storage *storage = create_storage(reporter);
    if (!storage) return NULL;
    if (load(storage, data, size, false, reporter)) return &storage->model;
    hl_model_release(&storage->model);
    return NULL;
}

const struct hl_model_subgraph hl_model_empty_subgraph = {.name = "main"};

TfLiteModel *hl_model_create_empty(void)
{
    struct hl_model_storage *storage = create_storage(NULL);
    if (!storage) return NULL;
    storage->model.schema_version = 3;
    storage->model.description = "";
    storage->model.subgraph_count = 1;
    storage->model.subgraphs = &hl_model_empty_subgraph;
    return &storage->model;
}

struct named_reporter {
    const struct hl_reporter *reporter;
    const char *path;
};

static void report_with_path(void *user_data, const char *format, va_list args)
{
    const struct named_reporter *named = user_data;
    char text[1024];
    vsnprintf(text, sizeof text, format, args);
    hl_report(named->reporter, "%s: %s", named->path, text);
}

TfLiteModel *hl_model_create_from_file(const char *path, const struct hl_reporter *reporter)
{
    struct hl_model_storage *storage = create_storage(reporter);
    if (!storage) return NULL;
    struct named_reporter named = {reporter, path};
    struct hl_reporter with_path = {report_with_path, &named};
    if (hl_file_open(&storage->file, path, reporter)) {
        if (storage->file.size == 0)
            hl_report(reporter, "%s: the file is empty", path);
        else if (load(storage, storage->file.data, storage->file.size, true, &with_path))
            return &storage->model;
    }
    hl_model_release(&storage->model);
    return NULL;
}

// ---- References

TfLiteModel *hl_model_retain(const TfLiteModel *model)
{
    struct hl_model_storage *storage = model->storage;
    atomic_fetch_add_explicit(&storage->references, 1, memory_order_relaxed);
    return &storage->model;
}

void hl_model_release(const TfLiteModel *model)
{
    if (!model) return;
    struct hl_model_storage *storage = model->storage;
    if (atomic_fetch_sub_explicit(&storage->references, 1, memory_order_acq_rel) != 1) return;
    struct hl_model_companion *companion = atomic_load_explicit(&storage->companion, memory_order_relaxed);
    if (companion) companion->destroy(companion);
    hl_arena_clear(&storage->arena);
    hl_file_close(&storage->file);
    free(storage);
}

struct hl_model_companion *hl_model_companion(const TfLiteModel *model, struct hl_model_companion *(*create)(void))
{
    struct hl_model_storage *storage = model->storage;
    struct hl_model_companion *there = atomic_load_explicit(&storage->companion, memory_order_acquire);
    struct hl_model_companion *made = there ? NULL : create();
    if (there || !made) return there;
    if (atomic_compare_exchange_strong_explicit(&storage->companion, &there, made, memory_order_acq_rel,
                                                memory_order_acquire))
        return made;
    made->destroy(made); // another thread was faster
    return there;
}

int hl_model_file_descriptor(const TfLiteModel *model)
{
    return model->storage->file.descriptor;
}
