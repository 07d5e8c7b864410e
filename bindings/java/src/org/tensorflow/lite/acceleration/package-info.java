// SPDX-License-Identifier: Apache-2.0
/** Choices of acceleration that an application has checked beforehand. */
package org.tensorflow.lite.acceleration;
