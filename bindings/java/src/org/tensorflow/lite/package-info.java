// SPDX-License-Identifier: Apache-2.0
/**
 * Runs TensorFlow Lite models. {@link org.tensorflow.lite.Interpreter} is where to start:
 *
 * <pre>{@code
 * try (Interpreter interpreter = new Interpreter(new File("model.tflite"))) {
 *     float[][] output = new float[1][10];
 *     interpreter.run(input, output);
 * }
 * }</pre>
 */
package org.tensorflow.lite;
