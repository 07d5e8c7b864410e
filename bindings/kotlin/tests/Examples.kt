// SPDX-License-Identifier: Apache-2.0
// Runs the documents' examples on the demo's model: Examples REPOSITORY DEVICE. It is "CPU" where no device is worth it.
import java.io.File
import kotlin.system.exitProcess

fun main(arguments: Array<String>) {
    for (example in examples) {
        val supported = example(File(arguments[0], "demo/digits.tflite"))
        println("${arguments[1]}: ${if (supported) "on the GPU" else "on 4 threads of the CPU"}")
        check("the CPU for want of a GPU", !(supported && arguments[1] == "CPU"))
    }
    exitProcess(report())
}
