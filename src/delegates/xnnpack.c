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

// Programs pass structs of two layouts: until 2.19 { num_threads, flags, weights_cache, ... }, since 2.20
// { num_threads, runtime_flags, flags, weights_cache, ... }. What comes third tells them apart: flags are small
// numbers, the address of a cache is a large one, and a multiple of 8. Where it is zero nothing behind it is read:
// there may be no more of an old struct, and behind new flags lie bytes of padding.
static void read_options(const TfLiteXNNPackDelegateOptions *given, TfLiteXNNPackDelegateOptions *options)
{
    enum { END_OF_FLAGS = 1 << 12, ALIGNMENT = 8 };
    struct {
        int32_t num_threads;
        uint32_t flags;
        struct TfLiteXNNPackDelegateWeightsCache *weights_cache;
    } old;
    options->num_threads = given->num_threads;
    if (given->flags > 0 && given->flags < END_OF_FLAGS) {
        options->flags = given->flags;
        options->weights_cache = given->weights_cache;
        return;
    }
    memcpy(&old, given, sizeof old);
    if (old.flags > 0 && old.flags < END_OF_FLAGS) options->flags = old.flags;
    if (given->flags >= END_OF_FLAGS && given->flags % ALIGNMENT == 0) options->weights_cache = old.weights_cache;
}

bool TfLiteXNNPackDelegateCanUseInMemoryWeightCacheProvider(void)
{
    return false;
}

const char *TfLiteXNNPackDelegateInMemoryFilePath(void)
{
    return ":memory";
}

TfLiteDelegate *TfLiteXNNPackDelegateCreate(const TfLiteXNNPackDelegateOptions *options)
{
    struct xnnpack_delegate *delegate = calloc(1, sizeof *delegate);
    if (!delegate) return NULL;
    delegate->options = TfLiteXNNPackDelegateOptionsDefault();
    if (options) read_options(options, &delegate->options);
    delegate->delegate = (TfLiteDelegate){
        .data_ = delegate,
        .Prepare = prepare,
        .flags = kTfLiteDelegateFlagsAllowDynamicTensors,
    };
    return &delegate->delegate;
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
