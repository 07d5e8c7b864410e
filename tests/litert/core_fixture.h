// SPDX-License-Identifier: Apache-2.0
// What the tests of libLiteRt's core share: an environment with the GPU's accelerator, and a model of two signatures:
// "add" is x + y in subgraph 0, with a first dimension that is left open, "mul" x * y in subgraph 1.
#ifndef HALITE_TESTS_LITERT_CORE_FIXTURE_H
#define HALITE_TESTS_LITERT_CORE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "litert/c/internal/litert_accelerator_def.h"
#include "litert/c/litert_accelerator.h"
#include "litert/c/litert_compiled_model.h"
#include "litert/c/litert_environment.h"
#include "litert/c/litert_event.h"
#include "litert/c/litert_metrics.h"
#include "litert/c/litert_model.h"
#include "litert/c/litert_opaque_options.h"
#include "litert/c/litert_options.h"
#include "litert/c/litert_tensor_buffer.h"
#include "litert/c/litert_tensor_buffer_requirements.h"

#define assert_ok(call) assert_int_equal(call, kLiteRtStatusOk)
#define INVALID kLiteRtStatusErrorInvalidArgument
#define OUTSIDE kLiteRtStatusErrorIndexOOB

extern const LiteRtAcceleratorDef LiteRtAcceleratorImpl; // the GPU's, linked into the tests

struct fixture {
    LiteRtEnvironment environment;
    LiteRtModel model;
    unsigned char *bytes; // of the model
    size_t size;
};

int set_up(void **state);
int tear_down(void **state);
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

// malloc'ed bytes of the model; without signatures it is subgraph 0 alone.
unsigned char *write_model(bool with_signatures, size_t *size);

extern const LiteRtRankedTensorType pair; // two floats

#endif
