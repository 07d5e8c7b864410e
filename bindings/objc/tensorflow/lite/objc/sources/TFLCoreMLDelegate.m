// SPDX-License-Identifier: Apache-2.0
// See TFLCoreMLDelegate.h: options become those of the C interface, whose delegate is in
// libtensorflowlite_coreml_delegate and says why it cannot be made.
#import "../apis/TFLCoreMLDelegate.h"
#import "TFLSupport.h"

#include <limits.h>

#include "tensorflow/lite/delegates/coreml/coreml_delegate.h"

@implementation TFLCoreMLDelegateOptions

@synthesize enabledDevices = _enabledDevices;
@synthesize coreMLVersion = _coreMLVersion;
@synthesize maxDelegatedPartitions = _maxDelegatedPartitions;
@synthesize minNodesPerPartition = _minNodesPerPartition;

- (instancetype)init
{
    self = [super init];
    if (self) _minNodesPerPartition = 2;
    return self;
}

@end

static int int_of(NSUInteger number)
{
    return number > INT_MAX ? INT_MAX : (int)number;
}

@implementation TFLCoreMLDelegate

- (instancetype)init
{
    return [self initWithOptions:TFL_AUTORELEASE([[TFLCoreMLDelegateOptions alloc] init])];
}

- (instancetype)initWithOptions:(TFLCoreMLDelegateOptions *)options
{
    self = [super init];
    if (!self) return nil;
    bool all = options.enabledDevices == TFLCoreMLDelegateEnabledDevicesAll;
    TfLiteCoreMlDelegateOptions own = {
        .enabled_devices = all ? TfLiteCoreMlDelegateAllDevices : TfLiteCoreMlDelegateDevicesWithNeuralEngine,
        .coreml_version = int_of(options.coreMLVersion),
        .max_delegated_partitions = int_of(options.maxDelegatedPartitions),
        .min_nodes_per_partition = int_of(options.minNodesPerPartition),
    };
    _delegate = TfLiteCoreMlDelegateCreate(&own);
    if (_delegate) return self;
    TFL_RELEASE(self);
    return nil;
}

- (void)dealloc
{
    TfLiteCoreMlDelegateDelete(_delegate);
    TFL_SUPER_DEALLOC;
}

- (TFLCDelegate)cDelegate
{
    return _delegate;
}

@end
