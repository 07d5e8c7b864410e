// SPDX-License-Identifier: Apache-2.0
package org.tensorflow.lite.example;

import java.awt.Graphics2D;
import java.awt.RenderingHints;
import java.awt.image.BufferedImage;
import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import javax.imageio.ImageIO;
import org.tensorflow.lite.DataType;
import org.tensorflow.lite.Tensor;

/** Pictures as tensors of shape [1, height, width, channels], of floats or 8-bit integers, and back. */
final class Images {
    private Images() {}

    static BufferedImage read(String path) throws IOException {
        BufferedImage image = ImageIO.read(new File(path));
        if (image == null) throw new IOException(path + ": no picture of a kind that is known here (PNG, JPEG, BMP, GIF)");
        return image;
    }

    /** The picture in the size of a tensor; a larger one is halved until one step is left, so that no pixel is lost. */
    private static BufferedImage scale(BufferedImage image, int width, int height) {
        BufferedImage scaled = image;
        do {
            int w = Math.max(width, scaled.getWidth() / 2);
            int h = Math.max(height, scaled.getHeight() / 2);
            BufferedImage next = new BufferedImage(w, h, BufferedImage.TYPE_INT_RGB);
            Graphics2D graphics = next.createGraphics();
            graphics.setRenderingHint(RenderingHints.KEY_INTERPOLATION, RenderingHints.VALUE_INTERPOLATION_BILINEAR);
            graphics.drawImage(scaled, 0, 0, w, h, null);
            graphics.dispose();
            scaled = next;
        } while (scaled.getWidth() != width || scaled.getHeight() != height);
        return scaled;
    }

    /**
     * Makes the value of an input tensor.
     *
     * @param low the number that stands for black where the tensor holds floats; 1 stands for white
     */
    static ByteBuffer toTensor(BufferedImage image, Tensor tensor, float low) {
        int[] shape = tensor.shape();
        if (shape.length != 4 || shape[0] != 1 || shape[3] != 1 && shape[3] != 3) {
            throw new IllegalArgumentException(tensor.name() + " is not one picture of 1 or 3 channels");
        }
        BufferedImage scaled = scale(image, shape[2], shape[1]);
        ByteBuffer buffer = ByteBuffer.allocateDirect(tensor.numBytes()).order(ByteOrder.nativeOrder());
        Tensor.QuantizationParams params = tensor.quantizationParams();
        for (int y = 0; y < shape[1]; y++) {
            for (int x = 0; x < shape[2]; x++) {
                int rgb = scaled.getRGB(x, y);
                float[] levels = {(rgb >> 16 & 255) / 255f, (rgb >> 8 & 255) / 255f, (rgb & 255) / 255f};
                if (shape[3] == 1) levels = new float[] {(levels[0] + levels[1] + levels[2]) / 3};
                for (float level : levels) {
                    float value = low + level * (1 - low);
                    if (tensor.dataType() == DataType.FLOAT32) {
                        buffer.putFloat(value);
                    } else if (params.getScale() > 0) {
                        buffer.put((byte) Math.round(value / params.getScale() + params.getZeroPoint()));
                    } else {
                        buffer.put((byte) Math.round(level * 255));
                    }
                }
            }
        }
        return buffer;
    }

    /** The picture of an output tensor of floats between 0 and 1. */
    static BufferedImage fromTensor(ByteBuffer values, int[] shape) {
        BufferedImage image = new BufferedImage(shape[2], shape[1], BufferedImage.TYPE_INT_RGB);
        for (int y = 0; y < shape[1]; y++) {
            for (int x = 0; x < shape[2]; x++) {
                int rgb = 0;
                for (int c = 0; c < 3; c++) {
                    float value = Math.max(0, Math.min(1, values.getFloat()));
                    rgb = rgb << 8 | Math.round(value * 255);
                }
                image.setRGB(x, y, rgb);
            }
        }
        return image;
    }
}
