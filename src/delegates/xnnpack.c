// SPDX-License-Identifier: Apache-2.0
// The XNNPACK delegate's C interface, for programs that link against it. Halite's own CPU kernels do that delegate's
// work, so this one takes no node and never makes a graph immutable: it sets the threads and the cache for packed
// weights of the interpreter that it is applied to. In other runtimes it does nothing.
#include "tensorflow/lite/delegates/xnnpack/xnnpack_delegate.h"

#include <stdlib.h>
#include <string.h>

#include "halite/halite.h"
#include "tensorflow/lite/acceleration/configuration/c/xnnpack_plugin.h"

struct xnnpack_delegate {
    TfLiteDelegate delegate; // first
    TfLiteXNNPackDelegateOptions options;
};

// The type has no members: it is a HaliteWeightsCache under XNNPACK's name.
static HaliteWeightsCache *cache_of(struct TfLiteXNNPackDelegateWeightsCache *cache)
{
    return (HaliteWeightsCache *)(void *)cache;
}

// A thread count that comes too late, or a context that is another runtime's, is no failure: the results are the same.
static TfLiteStatus prepare(TfLiteContext *context, TfLiteDelegate *delegate)
{
    const TfLiteXNNPackDelegateOptions *options = &((struct xnnpack_delegate *)delegate->data_)->options;
    if (options->weights_cache) HaliteContextSetWeightsCache(context, cache_of(options->weights_cache));
    if (options->num_threads > 0) HaliteContextSetNumThreads(context, options->num_threads);
    return kTfLiteOk;
}

bool TfLiteXNNPackDelegateCanUseInMemoryWeightCacheProvider(void)
{
    return false;
}

const char *TfLiteXNNPackDelegateInMemoryFilePath(void)
{
    return ":memory";
}

TfLiteDelegate *HaliteXNNPackDelegateCreate(const TfLiteXNNPackDelegateOptions *options, size_t size)
{
    struct xnnpack_delegate *delegate = calloc(1, sizeof *delegate);
    if (!delegate) return NULL;
    delegate->options = TfLiteXNNPackDelegateOptionsDefault();
    if (options) memcpy(&delegate->options, options, size < sizeof *options ? size : sizeof *options);
    delegate->delegate = (TfLiteDelegate){
        .data_ = delegate,
        .Prepare = prepare,
        .flags = kTfLiteDelegateFlagsAllowDynamicTensors,
    };
    return &delegate->delegate;
}

// Programs that were built with another header: the number of threads comes first in the struct of every release, and
// what follows has two layouts. Dart's mirror of the struct ends there.
#undef TfLiteXNNPackDelegateCreate
TfLiteDelegate *TfLiteXNNPackDelegateCreate(const TfLiteXNNPackDelegateOptions *options)
{
    return HaliteXNNPackDelegateCreate(options, sizeof options->num_threads);
}

TfLiteDelegate *TfLiteXNNPackDelegateCreateWithThreadpool(const TfLiteXNNPackDelegateOptions *options,
                                                          TfLiteContext *context)
{
    (void)context;
    return TfLiteXNNPackDelegateCreate(options);
}

void *TfLiteXNNPackDelegateGetThreadPool(TfLiteDelegate *delegate)
{
    (void)delegate;
    return NULL;
}

const TfLiteXNNPackDelegateOptions *TfLiteXNNPackDelegateGetOptions(TfLiteDelegate *delegate)
{
    return delegate ? &((struct xnnpack_delegate *)delegate->data_)->options : NULL;
}

int TfLiteXNNPackDelegateGetFlags(TfLiteDelegate *delegate)
{
    return delegate ? (int)((struct xnnpack_delegate *)delegate->data_)->options.flags : 0;
}

void TfLiteXNNPackDelegateDelete(TfLiteDelegate *delegate)
{
    if (delegate) free(delegate->data_);
}

struct TfLiteXNNPackDelegateWeightsCache *TfLiteXNNPackDelegateWeightsCacheCreate(void)
{
    return (struct TfLiteXNNPackDelegateWeightsCache *)(void *)HaliteWeightsCacheCreate();
}

struct TfLiteXNNPackDelegateWeightsCache *TfLiteXNNPackDelegateWeightsCacheCreateWithSize(size_t size)
{
    (void)size; // each block has its own memory
    return TfLiteXNNPackDelegateWeightsCacheCreate();
}

bool TfLiteXNNPackDelegateWeightsCacheFinalizeSoft(struct TfLiteXNNPackDelegateWeightsCache *cache)
{
    return HaliteWeightsCacheFinalize(cache_of(cache), false);
}

bool TfLiteXNNPackDelegateWeightsCacheFinalizeHard(struct TfLiteXNNPackDelegateWeightsCache *cache)
{
    return HaliteWeightsCacheFinalize(cache_of(cache), true);
}

void TfLiteXNNPackDelegateWeightsCacheDelete(struct TfLiteXNNPackDelegateWeightsCache *cache)
{
    HaliteWeightsCacheDelete(cache_of(cache));
}

// ---- as a table of functions --------------------------------------------------------------------

static TfLiteDelegate *create_from_settings(const void *tflite_settings)
{
    (void)tflite_settings;
    return TfLiteXNNPackDelegateCreate(NULL);
}

static int no_errno(TfLiteDelegate *delegate)
{
    (void)delegate;
    return 0;
}

const TfLiteDelegatePlugin *TfLiteXnnpackDelegatePluginCApi(void)
{
    static const TfLiteDelegatePlugin plugin = {create_from_settings, TfLiteXNNPackDelegateDelete, no_errno};
    return &plugin;
}
