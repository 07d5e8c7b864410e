// SPDX-License-Identifier: Apache-2.0
// x
#include "gpu/lang/prelude.h"
const struct gpu_prelude gpu_prelude_cuda, gpu_prelude_metal;
