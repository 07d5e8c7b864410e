// SPDX-License-Identifier: Apache-2.0
@file:JvmName("Interpreters")

package io.github.halite.kotlin

import java.io.File
import java.nio.Buffer
import java.nio.ByteBuffer
import java.nio.ByteOrder
import java.nio.FloatBuffer
import java.nio.IntBuffer
import java.nio.LongBuffer
import java.nio.ShortBuffer
import java.util.concurrent.Executor
import kotlin.coroutines.Continuation
import kotlin.coroutines.resume
import kotlin.coroutines.resumeWithException
import kotlin.coroutines.suspendCoroutine
import kotlin.reflect.KClass
import org.tensorflow.lite.DataType
import org.tensorflow.lite.Interpreter
import org.tensorflow.lite.Tensor

/**
 * Loads a model, gives its interpreter to [block] and closes it afterwards, also where [block] throws.
 *
 * @param options sets options, as in `withInterpreter(file, { setNumThreads(2) }) { it.run(input, output) }`
 * @return what [block] returns
 * @throws IllegalArgumentException if the file is no model
 */
inline fun <R> withInterpreter(model: File, options: Interpreter.Options.() -> Unit = {}, block: (Interpreter) -> R): R {
    val interpreter = Interpreter(model, Interpreter.Options().apply(options))
    try {
        return block(interpreter)
    } finally {
        interpreter.close()
    }
}

/**
 * Runs the model and returns its first output as an array, its elements in row-major order: `val p: FloatArray = it.infer(x)`.
 *
 * The shape of that output must be known before the run; where it is not, use [Interpreter.run].
 *
 * @param O FloatArray, IntArray, LongArray, ShortArray (int16) or ByteArray (int8, uint8, bool), as the output's type asks for
 * @param inputs one for each input of the model: such an array, flat, of any rank's elements; or what [Interpreter.run] takes
 * @throws IllegalArgumentException if an array's type or length is not the tensor's
 */
inline fun <reified O : Any> Interpreter.infer(vararg inputs: Any): O = inferAs(O::class, arrayOf(*inputs)) as O

/** What [infer] does, for a class that is known while running. */
@PublishedApi
internal fun Interpreter.inferAs(type: KClass<*>, inputs: Array<Any>): Any {
    val given = Array(inputs.size) { wrapInput(it, inputs[it]) }
    val tensor = getOutputTensor(0)
    val output = bufferOf(type, tensor)
    runForMultipleInputsOutputs(given, mapOf<Int, Any>(0 to output.buffer))
    return output.finish()
}

/**
 * Runs the model in another thread and resumes when that is done. Until then the interpreter is the run's.
 *
 * It needs the standard library alone. An exception of the run is thrown here.
 *
 * @param executor runs it; a new thread by default
 */
suspend fun Interpreter.runAsync(input: Any, output: Any, executor: Executor = newThreads) {
    val interpreter = this
    suspendCoroutine<Unit> { continuation: Continuation<Unit> ->
        executor.execute {
            val failure = try {
                interpreter.run(input, output)
                null
            } catch (failure: Throwable) {
                failure
            }
            if (failure == null) continuation.resume(Unit) else continuation.resumeWithException(failure)
        }
    }
}

private val newThreads = Executor { work -> Thread(work, "halite-run").apply { isDaemon = true }.start() }

// ---- arrays and the tensors that they stand for ----------------------------------------------------------------------

private val types = mapOf(
    FloatArray::class to setOf(DataType.FLOAT32),
    IntArray::class to setOf(DataType.INT32),
    LongArray::class to setOf(DataType.INT64),
    ShortArray::class to setOf(DataType.INT16),
    ByteArray::class to setOf(DataType.INT8, DataType.UINT8, DataType.BOOL)
)

private fun check(type: KClass<*>, tensor: Tensor) {
    val fits = types[type] ?: throw IllegalArgumentException("${type.java.simpleName} is no array of a tensor's elements")
    val name = type.java.simpleName
    require(tensor.dataType() in fits) { "tensor ${tensor.name()} has type ${tensor.dataType()}, not that of $name" }
}

/** Flat arrays become buffers, which have no shape to disagree with the tensor's; anything else goes as it is. */
private fun Interpreter.wrapInput(index: Int, input: Any): Any {
    if (input::class !in types) return input
    val tensor = getInputTensor(index)
    check(input::class, tensor)
    val length = java.lang.reflect.Array.getLength(input)
    require(length == tensor.numElements()) { "input $index has $length elements, the tensor has ${tensor.numElements()}" }
    return when (input) {
        is FloatArray -> FloatBuffer.wrap(input)
        is IntArray -> IntBuffer.wrap(input)
        is LongArray -> LongBuffer.wrap(input)
        is ShortArray -> ShortBuffer.wrap(input)
        else -> direct(length).apply { put(input as ByteArray) }.also { rewind(it) }
    }
}

/** As a Buffer: since Java 9 ByteBuffer has a method of its own, which Java 8 does not find. */
private fun rewind(buffer: Buffer) {
    buffer.rewind()
}

private class Output(val buffer: Any, val finish: () -> Any)

private fun direct(bytes: Int): ByteBuffer = ByteBuffer.allocateDirect(bytes).order(ByteOrder.nativeOrder())

private fun bufferOf(type: KClass<*>, tensor: Tensor): Output {
    check(type, tensor)
    val count = tensor.numElements()
    return when (type) {
        FloatArray::class -> FloatArray(count).let { Output(FloatBuffer.wrap(it)) { it } }
        IntArray::class -> IntArray(count).let { Output(IntBuffer.wrap(it)) { it } }
        LongArray::class -> LongArray(count).let { Output(LongBuffer.wrap(it)) { it } }
        ShortArray::class -> ShortArray(count).let { Output(ShortBuffer.wrap(it)) { it } }
        else -> direct(count).let { bytes -> Output(bytes) { ByteArray(count).also { rewind(bytes); bytes.get(it) } } }
    }
}
