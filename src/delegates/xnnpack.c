// SPDX-License-Identifier: Apache-2.0
// The XNNPACK delegate's C interface, for programs that link against it. Halite's own CPU kernels do that delegate's
// work, so this one accepts any options, leaves every node to the runtime and never makes a graph immutable.
#include "tensorflow/lite/delegates/xnnpack/xnnpack_delegate.h"

#include <stdlib.h>

#include "tensorflow/lite/acceleration/configuration/c/xnnpack_plugin.h"

struct xnnpack_delegate {
    TfLiteDelegate delegate; // first
    TfLiteXNNPackDelegateOptions options;
};

// Weights are used where the model file has them, so the cache holds nothing; it exists to be passed around.
struct TfLiteXNNPackDelegateWeightsCache {
    bool finalized;
};

static TfLiteStatus prepare(TfLiteContext *context, TfLiteDelegate *delegate)
{
    (void)context;
    (void)delegate;
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

TfLiteDelegate *TfLiteXNNPackDelegateCreate(const TfLiteXNNPackDelegateOptions *options)
{
    struct xnnpack_delegate *delegate = calloc(1, sizeof *delegate);
    if (!delegate) return NULL;
    delegate->options = TfLiteXNNPackDelegateOptionsDefault();
    // Programs pass structs of older and shorter layouts: only the first field is there in all of them.
    if (options) delegate->options.num_threads = options->num_threads;
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
    return calloc(1, sizeof(struct TfLiteXNNPackDelegateWeightsCache));
}

struct TfLiteXNNPackDelegateWeightsCache *TfLiteXNNPackDelegateWeightsCacheCreateWithSize(size_t size)
{
    (void)size;
    return TfLiteXNNPackDelegateWeightsCacheCreate();
}

static bool finalize(struct TfLiteXNNPackDelegateWeightsCache *cache)
{
    if (!cache || cache->finalized) return false;
    cache->finalized = true;
    return true;
}

bool TfLiteXNNPackDelegateWeightsCacheFinalizeSoft(struct TfLiteXNNPackDelegateWeightsCache *cache)
{
    return finalize(cache);
}

bool TfLiteXNNPackDelegateWeightsCacheFinalizeHard(struct TfLiteXNNPackDelegateWeightsCache *cache)
{
    return finalize(cache);
}

void TfLiteXNNPackDelegateWeightsCacheDelete(struct TfLiteXNNPackDelegateWeightsCache *cache)
{
    free(cache);
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
