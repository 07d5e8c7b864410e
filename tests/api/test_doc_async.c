// SPDX-License-Identifier: Apache-2.0
// The examples of docs/async.md, which the build takes from there (doc_async.h), on the model y = 3 x: frames through
// two runs, pictures through a queue, and buffers through a delegate with an asynchronous kernel.
#include "client.h"

#include <stdatomic.h>

#include "async_delegate.h"
#include "halite/halite.h"
#include "halite/queue.h"
#include "tensorflow/lite/core/async/c/async_signature_runner.h"
#include "tensorflow/lite/core/async/c/task.h"

enum { FRAMES = 5 };

// What the first example leaves to the application. A frame is its number, four times.
static struct {
    int read, shown;
    bool right;
} stream;

static bool read_frame(TfLiteTensor *input)
{
    float *pixels = TfLiteTensorData(input);
    if (stream.read == FRAMES) return false;
    for (int i = 0; i < TRIPLE_LENGTH; i++) pixels[i] = (float)stream.read;
    stream.read++;
    return true;
}

static void show(const TfLiteTensor *output)
{
    const float *values = TfLiteTensorData(output);
    for (int i = 0; i < TRIPLE_LENGTH; i++)
        if (values[i] != 3 * (float)stream.shown) stream.right = false;
    stream.shown++;
}

#include "doc_async.h"

static void frames_through_two_runs(void **state)
{
    (void)state;
    struct client c;
    client_begin(&c, &triple);
    assert_ok(TfLiteInterpreterAllocateTensors(c.interpreter));
    stream.right = true;
    label_stream(c.interpreter);
    assert_int_equal(stream.shown, FRAMES);
    assert_true(stream.right); // in order
    client_end(&c);
}

static void pictures_through_a_queue(void **state)
{
    (void)state;
    enum { PICTURES = 30 };
    struct client c;
    float pixels[PICTURES][TRIPLE_LENGTH], results[PICTURES][TRIPLE_LENGTH];
    const float *pictures[PICTURES];
    float *scores[PICTURES];
    for (int i = 0; i < PICTURES; i++) {
        for (int k = 0; k < TRIPLE_LENGTH; k++) pixels[i][k] = (float)(i + k);
        pictures[i] = pixels[i];
        scores[i] = results[i];
    }
    client_load(&c, &triple);
    assert_int_equal(label_all(c.model, pictures, scores, PICTURES), PICTURES);
    for (int i = 0; i < PICTURES; i++)
        for (int k = 0; k < TRIPLE_LENGTH; k++) assert_true(results[i][k] == 3 * pixels[i][k]);
    client_end(&c);
}

static void buffers_through_a_delegate(void **state)
{
    (void)state;
    struct client c;
    struct async_delegate delegate = {0};
    float x[TRIPLE_LENGTH] = {1, 2, 3, 4}, y[TRIPLE_LENGTH] = {0};
    client_load(&c, &triple);
    TfLiteInterpreterOptionsAddDelegate(c.options, (TfLiteOpaqueDelegate *)async_delegate_begin(&delegate));
    client_create(&c);
    assert_ok(run_on_buffers(c.interpreter, x, y, sizeof x));
    for (int i = 0; i < TRIPLE_LENGTH; i++) assert_true(y[i] == 3 * x[i]);
    assert_int_equal(c.log.count, 0);
    client_end(&c);
    async_delegate_end(&delegate);
    client_begin(&c, &triple); // no delegate
    assert_int_equal(run_on_buffers(c.interpreter, x, y, sizeof x), kTfLiteError);
    assert_non_null(strstr(c.log.text, "add a delegate"));
    client_end(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_through_two_runs),
        cmocka_unit_test(pictures_through_a_queue),
        cmocka_unit_test(buffers_through_a_delegate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
