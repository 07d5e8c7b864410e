// SPDX-License-Identifier: Apache-2.0
/** GPUs as a delegate. {@link org.tensorflow.lite.gpu.GpuDelegate} is where to start. */
package org.tensorflow.lite.gpu;
