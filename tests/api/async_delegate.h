// SPDX-License-Identifier: Apache-2.0
// A delegate with an asynchronous kernel, for tests: it takes a whole graph of one float input and one float output and
// computes output = 3 * input on a thread of its own. It takes buffers of kind "test_memory" (plain memory) and fences
// of kind "sync_fence_fd": one end of a pipe, which becomes readable when the fence is reached.
#ifndef HALITE_TESTS_API_ASYNC_DELEGATE_H
#define HALITE_TESTS_API_ASYNC_DELEGATE_H

#include <pthread.h>
#include <stdbool.h>

#include "tensorflow/lite/c/common.h"

#define TEST_MEMORY "test_memory"
#define TEST_FENCE "sync_fence_fd"
enum { TEST_ALIGNMENT = 16, TEST_SIZE = 16 }; // what its buffers need, in bytes

struct async_delegate {
    TfLiteDelegate delegate;
    // Set before async_delegate_begin.
    bool gives_operator; // a TfLiteOperator with its kernel, in place of a TfLiteRegistration
    bool with_data;      // that operator's callback gets user data
    bool leaves_a_node;  // to the CPU
    bool offers_nothing; // has no asynchronous kernel
    bool passes_noise;   // after the fields of a registration that its header knows, as older delegates do
    bool lacks_wait;     // its kernel is not complete
    bool lacks_slices;
    // May be set at any time between runs.
    bool fails_register, fails_unregister, fails_set, fails_prepare, fails_eval, fails_wait, fails_finish;
    // What its kernels have that was not given back, and how often they were asked.
    int kernels, buffers, jobs, type_questions;

    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool held; // runs that were started go on only when it is let go
};

// Makes it ready for an interpreter, whose pointer stays; async_delegate_end checks that kernels gave back everything.
TfLiteDelegate *async_delegate_begin(struct async_delegate *delegate);
void async_delegate_end(struct async_delegate *delegate);
void async_delegate_hold(struct async_delegate *delegate, bool held);

// A fence that is not reached yet: returns the end to wait at and stores the end to signal with.
int fence_create(int *signal_fd);
void fence_signal(int signal_fd); // closes it
bool fence_is_reached(int fd);
void fence_wait(int fd); // closes it

#endif
