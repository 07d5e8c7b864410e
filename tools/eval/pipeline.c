// SPDX-License-Identifier: Apache-2.0
// A ring of places. Picture n belongs to place n modulo their number; a thread takes the next picture when its place is
// free, and the reader waits for the place of the picture that is next in order.
#include "eval/pipeline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/thread.h"
#include "base/threads.h"
#include "files.h"
#include "image.h"
#include "model_file.h"

enum { MAX_THREADS = 64, PLACES_PER_THREAD = 2 };

struct place {
    bool ready;
    bool ok;
    float *pixels; // scaled
    void *input;
    struct hl_text error;
    double microseconds;
};

struct hl_pipeline {
    struct hl_pipeline_setting setting;
    size_t bytes; // of an input
    struct place *places;
    int place_count;
    struct hl_mutex mutex;
    struct hl_condition freed, filled;
    int taken; // pictures before this one are in work or done
    int read;  // those before this one were read; the one before it is lent
    bool stop;
    struct hl_thread threads[MAX_THREADS];
    int thread_count;
};

// ---- one picture --------------------------------------------------------------------------------

// .rgb8: the pixels as they go into the model, no header.
static bool load_raw(const char *path, const struct hl_preprocess_shape *shape, float *pixels, struct hl_text *error)
{
    size_t count = (size_t)shape->width * (size_t)shape->height * (size_t)shape->channels;
    struct hl_text file = {0};
    bool ok = hl_files_read(path, count, &file, error);
    if (ok && file.length != count) {
        hl_text_add(error, "holds %zu bytes; a .rgb8 file for this model has %zu", file.length, count);
        ok = false;
    }
    for (size_t i = 0; ok && i < count; i++) pixels[i] = (float)(unsigned char)file.data[i];
    hl_text_free(&file);
    return ok;
}

static bool load(const struct hl_pipeline *pipeline, const char *path, struct place *place)
{
    const struct hl_pipeline_setting *setting = &pipeline->setting;
    const struct hl_preprocess_shape *shape = &setting->shape;
    if (hl_files_ends_with_any_case(path, ".rgb8")) {
        if (!load_raw(path, shape, place->pixels, &place->error)) return false;
    } else {
        struct hl_image image;
        if (!hl_image_load(path, &image, &place->error)) return false;
        hl_preprocess_scale(&image, setting->crop, shape->width, shape->height, shape->channels, place->pixels);
        hl_image_free(&image);
    }
    size_t count = (size_t)shape->width * (size_t)shape->height * (size_t)shape->channels;
    return hl_preprocess_store(place->pixels, count, shape->channels, &setting->normalization, shape->type,
                               setting->quantization, place->input);
}

// ---- the threads --------------------------------------------------------------------------------

// The number of a picture to work on, -1 when there is none. Holds the mutex.
static int take(struct hl_pipeline *pipeline)
{
    while (!pipeline->stop && pipeline->taken < pipeline->setting.count &&
           pipeline->taken >= pipeline->read - 1 + pipeline->place_count)
        hl_condition_wait(&pipeline->freed, &pipeline->mutex);
    if (pipeline->stop || pipeline->taken >= pipeline->setting.count) return -1;
    return pipeline->taken++;
}

static void work(void *given)
{
    struct hl_pipeline *pipeline = given;
    hl_mutex_lock(&pipeline->mutex);
    for (int n; (n = take(pipeline)) >= 0;) {
        hl_mutex_unlock(&pipeline->mutex);
        struct place *place = &pipeline->places[n % pipeline->place_count];
        hl_text_clear(&place->error);
        double start = hl_seconds();
        place->ok = load(pipeline, pipeline->setting.paths[n], place);
        place->microseconds = floor(1e6 * (hl_seconds() - start));
        hl_mutex_lock(&pipeline->mutex);
        place->ready = true;
        hl_condition_signal(&pipeline->filled);
    }
    hl_mutex_unlock(&pipeline->mutex);
}

bool hl_pipeline_next(struct hl_pipeline *pipeline, struct hl_pipeline_item *item)
{
    if (pipeline->read >= pipeline->setting.count) return false;
    hl_mutex_lock(&pipeline->mutex);
    struct place *place = &pipeline->places[pipeline->read % pipeline->place_count];
    // What was lent until now is free.
    if (pipeline->read > pipeline->setting.first)
        pipeline->places[(pipeline->read - 1) % pipeline->place_count].ready = false;
    const char *path = pipeline->setting.paths[pipeline->read++];
    hl_condition_broadcast(&pipeline->freed);
    while (!place->ready) hl_condition_wait(&pipeline->filled, &pipeline->mutex);
    hl_mutex_unlock(&pipeline->mutex);
    *item = (struct hl_pipeline_item){
        .path = path,
        .input = place->ok ? place->input : NULL,
        .bytes = pipeline->bytes,
        .error = hl_text_string(&place->error),
        .microseconds = place->microseconds,
    };
    return true;
}

// ---- life ---------------------------------------------------------------------------------------

static int choose_threads(int wanted)
{
    int processors = hl_processors();
    if (wanted <= 0) wanted = processors < MAX_THREADS ? processors : 1;
    return wanted < MAX_THREADS ? wanted : MAX_THREADS;
}

struct hl_pipeline *hl_pipeline_create(const struct hl_pipeline_setting *setting, struct hl_text *error)
{
    const struct hl_preprocess_shape *shape = &setting->shape;
    int threads = choose_threads(setting->threads);
    struct hl_pipeline *pipeline = hl_alloc(1, sizeof *pipeline);
    pipeline->setting = *setting;
    pipeline->taken = pipeline->read = setting->first;
    size_t count = (size_t)shape->width * (size_t)shape->height * (size_t)shape->channels;
    pipeline->bytes = count * (shape->type == kTfLiteFloat32 ? sizeof(float) : 1);
    pipeline->place_count = PLACES_PER_THREAD * threads;
    pipeline->places = hl_alloc((size_t)pipeline->place_count, sizeof *pipeline->places);
    hl_mutex_init(&pipeline->mutex);
    hl_condition_init(&pipeline->freed);
    hl_condition_init(&pipeline->filled);
    for (int i = 0; i < pipeline->place_count; i++) {
        struct place *place = &pipeline->places[i];
        place->pixels = malloc(count * sizeof *place->pixels);
        place->input = malloc(pipeline->bytes);
        if (place->pixels != NULL && place->input != NULL) continue;
        hl_text_add(error, "%d pictures of %d x %d pixels do not fit into memory", pipeline->place_count, shape->width,
                    shape->height);
        goto fail;
    }
    for (int i = 0; i < threads; i++) {
        if (!hl_thread_start(&pipeline->threads[i], work, pipeline)) break;
        pipeline->thread_count++;
    }
    if (pipeline->thread_count > 0) return pipeline;
    hl_text_add(error, "no thread can be started to read pictures");
fail:
    hl_pipeline_destroy(pipeline);
    return NULL;
}

void hl_pipeline_destroy(struct hl_pipeline *pipeline)
{
    if (pipeline == NULL) return;
    hl_mutex_lock(&pipeline->mutex);
    pipeline->stop = true;
    hl_condition_broadcast(&pipeline->freed);
    hl_mutex_unlock(&pipeline->mutex);
    for (int i = 0; i < pipeline->thread_count; i++) hl_thread_join(&pipeline->threads[i]);
    for (int i = 0; i < pipeline->place_count; i++) {
        free(pipeline->places[i].pixels);
        free(pipeline->places[i].input);
        hl_text_free(&pipeline->places[i].error);
    }
    hl_condition_destroy(&pipeline->freed);
    hl_condition_destroy(&pipeline->filled);
    hl_mutex_destroy(&pipeline->mutex);
    free(pipeline->places);
    free(pipeline);
}
