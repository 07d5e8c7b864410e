// SPDX-License-Identifier: Apache-2.0
// The same as tensorflow/lite/core/subgraph.h.
#ifndef TENSORFLOW_LITE_SUBGRAPH_H_
#define TENSORFLOW_LITE_SUBGRAPH_H_

#include "halite/cxx.h"

#include "tensorflow/lite/core/subgraph.h"

#endif
