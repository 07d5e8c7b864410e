// SPDX-License-Identifier: Apache-2.0
/** Android's neural network interface as a delegate. */
package org.tensorflow.lite.nnapi;
