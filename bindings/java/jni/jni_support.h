// SPDX-License-Identifier: Apache-2.0
// What the native methods of Java share: how they are declared, texts and exceptions, and the interpreter that a handle
// stands for. A native method that fails has thrown a Java exception when it returns; its result then counts for
// nothing.
#ifndef HALITE_JNI_SUPPORT_H
#define HALITE_JNI_SUPPORT_H

#include <jni.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "halite/halite.h"

// Declares and opens the native method NAME of CLASS, a class of org.tensorflow.lite or "package_Class" below it:
//     HLJ_METHOD(jint, TensorImpl, numBytes, jlong handle) { ... }
#define HLJ_METHOD(result, class, name, ...)                                                           \
    JNIEXPORT result JNICALL Java_org_tensorflow_lite_##class##_##name(JNIEnv *, jclass, __VA_ARGS__); \
    JNIEXPORT result JNICALL Java_org_tensorflow_lite_##class##_##name(JNIEnv *env, jclass unused, __VA_ARGS__)
// The same for a method without arguments.
#define HLJ_METHOD_0(result, class, name)                                                 \
    JNIEXPORT result JNICALL Java_org_tensorflow_lite_##class##_##name(JNIEnv *, jclass); \
    JNIEXPORT result JNICALL Java_org_tensorflow_lite_##class##_##name(JNIEnv *env, jclass unused)

#define HLJ_ILLEGAL_ARGUMENT "java/lang/IllegalArgumentException"

#if defined(__GNUC__)
#define HLJ_PRINTF(format_index, first_argument) __attribute__((format(printf, format_index, first_argument)))
#else
#define HLJ_PRINTF(format_index, first_argument)
#endif

// Throws an exception of a class with a message, unless one is pending.
void hlj_throw(JNIEnv *env, const char *class_name, const char *format, ...) HLJ_PRINTF(3, 4);
// Throws IllegalArgumentException.
#define hlj_refuse(env, ...) hlj_throw(env, HLJ_ILLEGAL_ARGUMENT, __VA_ARGS__)
void hlj_out_of_memory(JNIEnv *env);

// Makes a Java string of UTF-8; what is no UTF-8 becomes U+FFFD. NULL stands for "". JNI's own NewStringUTF takes a
// form of its own and may end the program where a model's name is no text.
jstring hlj_string(JNIEnv *env, const char *text);

// Copies the bytes of an array, which end with a zero, to memory that the caller frees. NULL: an exception.
char *hlj_text(JNIEnv *env, jbyteArray bytes);

jintArray hlj_ints(JNIEnv *env, const int *values, int count);

// An array of strings, each by a function of its index. NULL: an exception.
jobjectArray hlj_strings(JNIEnv *env, int count, const char *(*text_of)(const void *data, int index), const void *data);

// What the handle of a NativeInterpreterWrapper stands for. The wrapper lets one thread at a time in, but for
// `cancelled`.
struct hlj_interpreter {
    TfLiteModel *model;
    TfLiteInterpreter *interpreter;
    atomic_bool cancelled;
    atomic_flag message_lock; // drivers may report from threads of their own
    size_t message_bytes;
    char message[2048]; // what was reported since hlj_forget_messages, lines apart, cut where it is full
};

static inline struct hlj_interpreter *hlj_from_handle(jlong handle)
{
    return (struct hlj_interpreter *)(intptr_t)handle;
}

// An error reporter; user_data: struct hlj_interpreter.
void hlj_keep_message(void *user_data, const char *format, va_list args);
void hlj_forget_messages(struct hlj_interpreter *self);

#endif
