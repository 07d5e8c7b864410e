// SPDX-License-Identifier: Apache-2.0
// See TFLMetalDelegate.h: options become those of the C interface, whose delegate is in libtensorflowlite_gpu_delegate.
#import "../apis/TFLMetalDelegate.h"
#import "TFLSupport.h"

#include "tensorflow/lite/delegates/gpu/metal_delegate.h"

@implementation TFLMetalDelegateOptions

@synthesize precisionLossAllowed = _precisionLossAllowed;
@synthesize waitType = _waitType;
@synthesize quantizationEnabled = _quantizationEnabled;

- (instancetype)init
{
    self = [super init];
    if (self) {
        _waitType = TFLMetalDelegateThreadWaitTypePassive;
        _quantizationEnabled = YES;
    }
    return self;
}

@end

#ifdef HALITE_OBJC_GPU
static TFLGpuDelegateWaitType wait_type_of(TFLMetalDelegateThreadWaitType type)
{
    switch (type) {
    case TFLMetalDelegateThreadWaitTypeDoNotWait: return TFLGpuDelegateWaitTypeDoNotWait;
    case TFLMetalDelegateThreadWaitTypeActive: return TFLGpuDelegateWaitTypeActive;
    case TFLMetalDelegateThreadWaitTypeAggressive: return TFLGpuDelegateWaitTypeAggressive;
    case TFLMetalDelegateThreadWaitTypePassive: break;
    }
    return TFLGpuDelegateWaitTypePassive;
}
#endif

@implementation TFLMetalDelegate

// The runtime sends this once, before the first delegate is made.
+ (void)initialize
{
    if (self != [TFLMetalDelegate class]) return;
#if defined(HALITE_OBJC_GPU) && defined(__APPLE__)
    // The delegate takes Metal.
#elif defined(HALITE_OBJC_GPU)
    NSLog(@"TFLMetalDelegate: no Metal here: graphs run through Vulkan, OpenCL or OpenGL ES (HALITE_DEVICE names one)");
#else
    NSLog(@"TFLMetalDelegate: this library was built without the GPU delegate: there will be no delegate");
#endif
}

- (instancetype)init
{
    return [self initWithOptions:TFL_AUTORELEASE([[TFLMetalDelegateOptions alloc] init])];
}

- (instancetype)initWithOptions:(TFLMetalDelegateOptions *)options
{
    self = [super init];
    if (!self) return nil;
#ifdef HALITE_OBJC_GPU
    TFLGpuDelegateOptions own = TFLGpuDelegateOptionsDefault();
    if (options) {
        own.allow_precision_loss = options.precisionLossAllowed;
        own.wait_type = wait_type_of(options.waitType);
        own.enable_quantization = options.quantizationEnabled;
    }
    _delegate = TFLGpuDelegateCreate(&own);
#else
    (void)options;
#endif
    if (!_delegate) {
        TFL_RELEASE(self);
        return nil;
    }
    return self;
}

- (void)dealloc
{
#ifdef HALITE_OBJC_GPU
    TFLGpuDelegateDelete(_delegate);
#endif
    TFL_SUPER_DEALLOC;
}

- (TFLCDelegate)cDelegate
{
    return _delegate;
}

@end
