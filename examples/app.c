// SPDX-License-Identifier: Apache-2.0
// Reads a drawn digit with a small model. In: the path of demo/digits.tflite. Out: how probable each digit is.
#include <stdio.h>
#include <tensorflow/lite/c/c_api.h>

int main(int argc, char **argv)
{
    const char *picture = "..####.."
                          ".#....#."
                          "......#."
                          ".....#.."
                          "....#..."
                          "...#...."
                          "..#....."
                          ".######.";
    float pixels[64], probabilities[10];
    for (int i = 0; i < 64; i++) pixels[i] = picture[i] == '#' ? 1.0f : -1.0f;

    TfLiteModel *model = TfLiteModelCreateFromFile(argc > 1 ? argv[1] : "demo/digits.tflite");
    TfLiteInterpreter *interpreter = TfLiteInterpreterCreate(model, NULL);
    if (!interpreter || TfLiteInterpreterAllocateTensors(interpreter) != kTfLiteOk) return 1;

    TfLiteTensor *input = TfLiteInterpreterGetInputTensor(interpreter, 0);
    const TfLiteTensor *output = TfLiteInterpreterGetOutputTensor(interpreter, 0);
    TfLiteTensorCopyFromBuffer(input, pixels, sizeof pixels);
    if (TfLiteInterpreterInvoke(interpreter) != kTfLiteOk) return 1;
    TfLiteTensorCopyToBuffer(output, probabilities, sizeof probabilities);
    for (int i = 0; i < 10; i++) printf("%d: %5.1f %%\n", i, (double)probabilities[i] * 100);

    TfLiteInterpreterDelete(interpreter);
    TfLiteModelDelete(model);
    return 0;
}
