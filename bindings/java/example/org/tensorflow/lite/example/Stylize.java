// SPDX-License-Identifier: Apache-2.0
package org.tensorflow.lite.example;

import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Collections;
import javax.imageio.ImageIO;
import org.tensorflow.lite.Interpreter;
import org.tensorflow.lite.Tensor;

/**
 * Paints a picture in the style of another: Stylize PREDICT TRANSFER STYLE CONTENT OUTPUT.png. PREDICT makes a style of a
 * picture (float32[1, 1, 1, n]); TRANSFER takes a picture and a style and makes a picture of floats between 0 and 1.
 */
public final class Stylize {
    private Stylize() {}

    private static ByteBuffer room(Tensor tensor) {
        return ByteBuffer.allocateDirect(tensor.numBytes()).order(ByteOrder.nativeOrder());
    }

    private static ByteBuffer style(String model, String picture, Device device) throws IOException {
        try (Interpreter interpreter = new Interpreter(new File(model), device.options())) {
            ByteBuffer style = room(interpreter.getOutputTensor(0));
            interpreter.run(Images.toTensor(Images.read(picture), interpreter.getInputTensor(0), 0), style);
            return style;
        }
    }

    /**
     * Runs the program.
     *
     * @param args see above
     * @throws IOException if a file cannot be read or written
     */
    public static void main(String[] args) throws IOException {
        if (args.length != 5) {
            System.err.println("usage: Stylize PREDICT TRANSFER STYLE CONTENT OUTPUT.png");
            System.exit(2);
        }
        try (Device device = new Device()) {
            System.out.println(device);
            ByteBuffer style = style(args[0], args[2], device);
            try (Interpreter interpreter = new Interpreter(new File(args[1]), device.options())) {
                // The picture is the input with the many elements, whichever comes first.
                int picture = interpreter.getInputTensor(0).numElements() > interpreter.getInputTensor(1).numElements()
                        ? 0 : 1;
                Object[] inputs = new Object[2];
                inputs[picture] = Images.toTensor(Images.read(args[3]), interpreter.getInputTensor(picture), 0);
                inputs[1 - picture] = style;
                Tensor result = interpreter.getOutputTensor(0);
                ByteBuffer output = room(result);
                interpreter.runForMultipleInputsOutputs(inputs, Collections.singletonMap(0, output));
                output.rewind();
                ImageIO.write(Images.fromTensor(output, result.shape()), "png", new File(args[4]));
                System.out.printf("%s in %.1f ms%n", args[4],
                        interpreter.getLastNativeInferenceDurationNanoseconds() / 1e6);
            }
        }
    }
}
