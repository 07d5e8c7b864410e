// SPDX-License-Identifier: Apache-2.0
// Texts and exceptions between C and Java, and the messages of the library that become the texts of exceptions.
#include "jni_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- texts ----------------------------------------------------------------------------------------------------------

// Reads one code point of UTF-8 that ends with a zero, and moves the text behind it. What is none is U+FFFD, for one
// byte.
static uint32_t decode(const unsigned char **text)
{
    static const uint32_t first_of_length[] = {0, 0, 0x80, 0x800, 0x10000}; // shorter forms are no UTF-8
    const unsigned char *at = *text;
    int length = at[0] < 0x80 ? 1 : at[0] >> 5 == 6 ? 2 : at[0] >> 4 == 14 ? 3 : at[0] >> 3 == 30 ? 4 : 0;
    *text = at + 1;
    if (length == 1) return at[0];
    if (length == 0) return 0xFFFD;
    uint32_t code = at[0] & (0xFFu >> (length + 1));
    for (int i = 1; i < length; i++) {
        if (at[i] >> 6 != 2) return 0xFFFD;
        code = code << 6 | (at[i] & 0x3Fu);
    }
    if (code < first_of_length[length] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) return 0xFFFD;
    *text = at + length;
    return code;
}

jstring hlj_string(JNIEnv *env, const char *text)
{
    const unsigned char *at = (const unsigned char *)(text ? text : "");
    size_t bytes = strlen((const char *)at);
    jchar local[128]; // no text has more UTF-16 units than bytes
    jchar *units = bytes <= sizeof local / sizeof *local ? local : malloc(bytes * sizeof *units);
    if (!units) {
        hlj_out_of_memory(env);
        return NULL;
    }
    size_t count = 0;
    while (*at) {
        uint32_t code = decode(&at);
        if (code >= 0x10000) {
            units[count++] = (jchar)(0xD800 + ((code - 0x10000) >> 10));
            units[count++] = (jchar)(0xDC00 + ((code - 0x10000) & 0x3FF));
        } else {
            units[count++] = (jchar)code;
        }
    }
    jstring string = (*env)->NewString(env, units, (jsize)count);
    if (units != local) free(units);
    return string;
}

char *hlj_text(JNIEnv *env, jbyteArray bytes)
{
    jsize length = (*env)->GetArrayLength(env, bytes);
    char *text = malloc((size_t)length + 1);
    if (!text) {
        hlj_out_of_memory(env);
        return NULL;
    }
    (*env)->GetByteArrayRegion(env, bytes, 0, length, (jbyte *)text);
    text[length] = '\0';
    return text;
}

jintArray hlj_ints(JNIEnv *env, const int *values, int count)
{
    _Static_assert(sizeof(jint) == sizeof(int), "an int is 32 bits wide");
    jintArray array = (*env)->NewIntArray(env, count);
    if (array && count > 0) (*env)->SetIntArrayRegion(env, array, 0, count, (const jint *)values);
    return array;
}

jobjectArray hlj_strings(JNIEnv *env, int count, const char *(*text_of)(const void *data, int index), const void *data)
{
    jclass class = (*env)->FindClass(env, "java/lang/String");
    if (!class) return NULL;
    jobjectArray array = (*env)->NewObjectArray(env, count, class, NULL);
    (*env)->DeleteLocalRef(env, class);
    for (int i = 0; array && i < count; i++) {
        jstring string = hlj_string(env, text_of(data, i));
        if (!string) return NULL;
        (*env)->SetObjectArrayElement(env, array, i, string);
        (*env)->DeleteLocalRef(env, string);
    }
    return array;
}

// ---- exceptions -----------------------------------------------------------------------------------------------------

void hlj_throw(JNIEnv *env, const char *class_name, const char *format, ...)
{
    if ((*env)->ExceptionCheck(env)) return;
    char text[4096];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    jclass class = (*env)->FindClass(env, class_name);
    if (!class) return;
    jmethodID create = (*env)->GetMethodID(env, class, "<init>", "(Ljava/lang/String;)V");
    jstring message = create ? hlj_string(env, text) : NULL;
    jobject exception = message ? (*env)->NewObject(env, class, create, message) : NULL;
    if (exception) (*env)->Throw(env, exception);
    (*env)->DeleteLocalRef(env, class);
}

void hlj_out_of_memory(JNIEnv *env)
{
    hlj_throw(env, "java/lang/OutOfMemoryError", "no memory for a copy between Java and the native library");
}

// ---- the library's messages -----------------------------------------------------------------------------------------

void hlj_keep_message(void *user_data, const char *format, va_list args)
{
    struct hlj_interpreter *self = user_data;
    char line[1024];
    vsnprintf(line, sizeof line, format, args);
    while (atomic_flag_test_and_set(&self->message_lock)) continue; // held for the line below
    size_t room = sizeof self->message - self->message_bytes;
    int length = snprintf(self->message + self->message_bytes, room, "%s%s", self->message_bytes > 0 ? "\n" : "", line);
    if (length > 0) self->message_bytes += (size_t)length < room ? (size_t)length : room - 1;
    atomic_flag_clear(&self->message_lock);
}

void hlj_forget_messages(struct hlj_interpreter *self)
{
    while (atomic_flag_test_and_set(&self->message_lock)) continue;
    self->message_bytes = 0;
    self->message[0] = '\0';
    atomic_flag_clear(&self->message_lock);
}
