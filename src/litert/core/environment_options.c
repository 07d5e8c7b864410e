// SPDX-License-Identifier: Apache-2.0
// The options of an environment: copies of what a program gave, and the search among them.
#include <stdlib.h>

#include "litert/c/litert_environment.h"
#include "litert/core/core.h"

static bool is_value(const LiteRtAny *value)
{
    return value->type == kLiteRtAnyTypeBool || value->type == kLiteRtAnyTypeInt || value->type == kLiteRtAnyTypeReal ||
           value->type == kLiteRtAnyTypeVoidPtr || (value->type == kLiteRtAnyTypeString && value->str_value);
}

LiteRtStatus litert_copy_environment_options(LiteRtEnvironment environment, int count, const LiteRtEnvOption *options)
{
    environment->options.options = calloc((size_t)count + 1, sizeof *options);
    LITERT_MEMORY(environment->options.options);
    for (int i = 0; i < count; i++) {
        LiteRtEnvOption *copy = &environment->options.options[i];
        if (!is_value(&options[i].value))
            return litert_fail(kLiteRtStatusErrorInvalidArgument, "environment option %d has a value of type %d",
                               (int)options[i].tag, (int)options[i].value.type);
        *copy = options[i];
        if (copy->value.type == kLiteRtAnyTypeString) {
            copy->value.str_value = litert_copy_text(options[i].value.str_value);
            LITERT_MEMORY(copy->value.str_value);
        }
        environment->options.count++;
    }
    return kLiteRtStatusOk;
}

void litert_free_environment_options(LiteRtEnvironment environment)
{
    for (int i = 0; i < environment->options.count; i++)
        if (environment->options.options[i].value.type == kLiteRtAnyTypeString)
            free((char *)environment->options.options[i].value.str_value);
    free(environment->options.options);
}

LITERT_GETTER(LiteRtGetEnvironmentOptions, LiteRtEnvironment, LiteRtEnvironmentOptions, &object->options)

LiteRtStatus LiteRtGetEnvironmentOptionsValue(LiteRtEnvironmentOptions options, LiteRtEnvOptionTag tag,
                                              LiteRtAny *value)
{
    LITERT_NEED(options && value);
    for (int i = 0; i < options->count; i++) {
        if (options->options[i].tag != tag) continue;
        *value = options->options[i].value;
        return kLiteRtStatusOk;
    }
    return kLiteRtStatusErrorNotFound; // no message: that is how programs ask whether an option was given
}
