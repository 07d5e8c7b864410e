// SPDX-License-Identifier: Apache-2.0
// The XNNPACK delegate's C interface, for programs that link against it. Halite's own CPU kernels do that delegate's
// work, so this one takes no node and never makes a graph immutable: it sets the threads, the cache for packed weights
// and the kind of kernels of the interpreter that it is applied to. In other runtimes it does nothing.
#include "tensorflow/lite/delegates/xnnpack/xnnpack_delegate.h"

#include <stdlib.h>
#include <string.h>

#include "halite/halite.h"
#include "tensorflow/lite/acceleration/configuration/c/xnnpack_plugin.h"

struct xnnpack_delegate {
    TfLiteDelegate delegate; // first
    TfLiteXNNPackDelegateOptions options;
    HaliteWeightsCache *own; // of options.weight_cache_file_path; NULL: no path
    char path[];             // what that points to
};

// The type has no members: it is a HaliteWeightsCache under XNNPACK's name.
static HaliteWeightsCache *cache_of(struct TfLiteXNNPackDelegateWeightsCache *cache)
{
    return (HaliteWeightsCache *)(void *)cache;
}

// A thread count that comes too late, or a context that is another runtime's, is no failure: the results are the same.
static TfLiteStatus prepare(TfLiteContext *context, TfLiteDelegate *delegate)
{
    const struct xnnpack_delegate *own = delegate->data_;
    const TfLiteXNNPackDelegateOptions *options = &own->options;
    HaliteWeightsCache *cache = own->own ? own->own : cache_of(options->weights_cache);
    if (cache) HaliteContextSetWeightsCache(context, cache);
    if (options->flags & TFLITE_XNNPACK_DELEGATE_FLAG_SLOW_CONSISTENT_ARITHMETIC)
        HaliteContextSetKernels(context, kHaliteKernelsReference);
    if (options->num_threads > 0) HaliteContextSetNumThreads(context, options->num_threads);
    return kTfLiteOk;
}

// In memory a cache is what it is without a file.
bool TfLiteXNNPackDelegateCanUseInMemoryWeightCacheProvider(void)
{
    return true;
}

const char *TfLiteXNNPackDelegateInMemoryFilePath(void)
{
    return ":memory";
}

// The delegate's own cache, where the path asks for one. Returns false without memory.
static bool make_cache(struct xnnpack_delegate *delegate, const char *path)
{
    if (!path || !*path) return true;
    const bool in_memory = strcmp(path, TfLiteXNNPackDelegateInMemoryFilePath()) == 0;
    strcpy(delegate->path, path);
    delegate->options.weight_cache_file_path = delegate->path;
    delegate->own = in_memory ? HaliteWeightsCacheCreate() : HaliteWeightsCacheCreateWithFile(path);
    return delegate->own != NULL;
}

TfLiteDelegate *HaliteXNNPackDelegateCreate(const TfLiteXNNPackDelegateOptions *given, size_t size)
{
    TfLiteXNNPackDelegateOptions options = TfLiteXNNPackDelegateOptionsDefault();
    if (given) memcpy(&options, given, size < sizeof options ? size : sizeof options);
    const char *path = options.weight_cache_file_path;
    struct xnnpack_delegate *delegate = calloc(1, sizeof *delegate + (path ? strlen(path) + 1 : 0));
    if (!delegate) return NULL;
    delegate->options = options;
    delegate->delegate = (TfLiteDelegate){
        .data_ = delegate,
        .Prepare = prepare,
        .flags = kTfLiteDelegateFlagsAllowDynamicTensors,
    };
    if (make_cache(delegate, path)) return &delegate->delegate;
    TfLiteXNNPackDelegateDelete(&delegate->delegate);
    return NULL;
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
    struct xnnpack_delegate *own = delegate ? delegate->data_ : NULL;
    if (own) HaliteWeightsCacheDelete(own->own);
    free(own);
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
