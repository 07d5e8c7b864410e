// SPDX-License-Identifier: Apache-2.0
// The helpers on the demo's model and on the models of bindings/tests: Tests REPOSITORY. Ends with 1 where a check fails.
import io.github.halite.kotlin.infer
import io.github.halite.kotlin.runAsync
import io.github.halite.kotlin.withInterpreter
import java.io.File
import java.lang.management.ManagementFactory
import java.util.concurrent.CountDownLatch
import java.util.concurrent.Executor
import java.util.concurrent.TimeUnit
import kotlin.coroutines.Continuation
import kotlin.coroutines.EmptyCoroutineContext
import kotlin.coroutines.startCoroutine
import kotlin.system.exitProcess
import org.tensorflow.lite.Interpreter

private var checks = 0
private var failures = 0

fun check(what: String, holds: Boolean) {
    checks++
    if (!holds) {
        failures++
        println("FAILED: $what")
    }
}

inline fun <reified E : Throwable> checkThrows(what: String, text: String, block: () -> Unit) {
    val thrown = try {
        block()
        null
    } catch (failure: Throwable) {
        failure
    }
    check("$what: $thrown", thrown is E && text in thrown.message.orEmpty())
}

val picture = ("..####.." + ".#....#." + "......#." + ".....#.." + "....#..." + "...#...." + "..#....." + ".######.")
    .map { if (it == '#') 1f else -1f }.toFloatArray()

fun indexOfLargest(values: FloatArray) = values.indices.maxBy { values[it] }

private fun typedRuns(root: File) {
    val digits = File(root, "demo/digits.tflite")
    withInterpreter(digits, { setNumThreads(2) }) {
        val probabilities: FloatArray = it.infer(picture)
        check("the digit", probabilities.size == 10 && indexOfLargest(probabilities) == 2)
        checkThrows<IllegalArgumentException>("an output of another type", "FLOAT32") { it.infer<IntArray>(picture) }
        checkThrows<IllegalArgumentException>("too short an input", "63 elements") { it.infer<FloatArray>(FloatArray(63)) }
        checkThrows<IllegalArgumentException>("an input of another type", "FLOAT32") { it.infer<FloatArray>(IntArray(64)) }
        val nested = Array(1) { Array(8) { y -> Array(8) { x -> FloatArray(1) { picture[8 * y + x] } } } }
        check("an array with a shape", it.infer<FloatArray>(nested).contentEquals(probabilities))
    }
    withInterpreter(File(root, "demo/digits_int8.tflite")) {
        val bytes = ByteArray(64) { i -> if (picture[i] > 0) 126 else -128 }
        check("int8", it.infer<ByteArray>(bytes).toList() == List(10) { i -> if (i == 2) 127.toByte() else (-128).toByte() })
    }
    withInterpreter(File(root, "build/cases/reshape_int64.tflite")) {
        val values = longArrayOf(Long.MIN_VALUE, -1, 0, 1, 4294967296, Long.MAX_VALUE)
        check("int64", it.infer<LongArray>(values).contentEquals(values))
    }
    withInterpreter(File(root, "build/cases/reshape_int16.tflite")) {
        val values = shortArrayOf(-32768, -1, 0, 1, 256, 32767)
        check("int16", it.infer<ShortArray>(values).contentEquals(values))
    }
    withInterpreter(File(root, "build/cases/divide.tflite")) {
        check("two inputs", it.infer<IntArray>(intArrayOf(-7), intArrayOf(2)).contentEquals(intArrayOf(-4)))
    }
}

private fun closing(root: File) {
    var kept: Interpreter? = null
    checkThrows<IllegalStateException>("an exception goes through", "mine") {
        withInterpreter(File(root, "demo/digits.tflite")) { kept = it; throw IllegalStateException("mine") }
    }
    checkThrows<IllegalStateException>("it is closed", "closed") { kept!!.infer<FloatArray>(picture) }
    checkThrows<IllegalArgumentException>("no model", "") { withInterpreter(File(root, "LICENSE")) { } }
}

/** Runs a coroutine to its end, with the standard library alone, and gives what it threw. */
private fun wait(block: suspend () -> Unit): Throwable? {
    val done = CountDownLatch(1)
    var thrown: Throwable? = null
    block.startCoroutine(object : Continuation<Unit> {
        override val context = EmptyCoroutineContext
        override fun resumeWith(result: Result<Unit>) {
            thrown = result.exceptionOrNull()
            done.countDown()
        }
    })
    check("the coroutine ends", done.await(60, TimeUnit.SECONDS))
    return thrown
}

private fun coroutines(root: File) {
    withInterpreter(File(root, "demo/digits.tflite")) {
        val input = Array(1) { Array(8) { y -> Array(8) { x -> FloatArray(1) { picture[8 * y + x] } } } }
        val output = Array(1) { FloatArray(10) }
        // Which thread goes on in the coroutine says nothing: a run that ends before the coroutine suspends goes on in its own.
        val threads = ManagementFactory.getThreadMXBean()
        val before = threads.totalStartedThreadCount
        wait { it.runAsync(input, output) }
        check("the digit of a coroutine", indexOfLargest(output[0]) == 2)
        check("a new thread", threads.totalStartedThreadCount > before)
        var thread: Thread? = null
        val here = Executor { work -> thread = Thread.currentThread(); work.run() }
        wait { it.runAsync(input, output, here) }
        check("the executor's thread", thread === Thread.currentThread())
        val failure = wait { it.runAsync(input, Array(1) { FloatArray(9) }) }
        check("a failure is thrown in the coroutine: $failure", failure is IllegalArgumentException)
    }
}

fun report(): Int {
    println("$checks checks, $failures failed")
    return if (failures == 0) 0 else 1
}

fun main(arguments: Array<String>) {
    val root = File(arguments[0])
    typedRuns(root)
    closing(root)
    coroutines(root)
    exitProcess(report())
}
