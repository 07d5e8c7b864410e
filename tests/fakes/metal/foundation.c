// SPDX-License-Identifier: Apache-2.0
// As much of Foundation as the delegate uses: strings, arrays, errors, the process.
#include <stdlib.h>
#include <string.h>

#include "fake.h"

// ---- NSString -------------------------------------------------------------------------------------------------------

struct string {
    struct objc_object object;
    char *text;
};

static const char *string_text(void *own, const char *selector)
{
    (void)selector;
    return ((struct string *)own)->text;
}

static void *string_with(void *isa, const char *selector, const char *text)
{
    (void)isa;
    (void)selector;
    return objc_autorelease(fake_string(text));
}

static void string_dealloc(void *own)
{
    free(((struct string *)own)->text);
}

static const struct objc_method string_methods[] = {OBJC_METHOD("UTF8String", string_text), {NULL, NULL, false}};
static const struct objc_method string_class_methods[] = {OBJC_METHOD("stringWithUTF8String:", string_with),
                                                          {NULL, NULL, false}};
static const struct objc_class string_class = {
    .name = "NSString",
    .bytes = sizeof(struct string),
    .methods = string_methods,
    .class_methods = string_class_methods,
    .dealloc = string_dealloc,
};

void *fake_string(const char *text)
{
    struct string *string = objc_create(&string_class);
    string->text = strdup(text);
    return string;
}

const char *fake_text(const void *string)
{
    return ((const struct string *)string)->text;
}

// ---- NSError --------------------------------------------------------------------------------------------------------

struct error {
    struct objc_object object;
    long code;
    void *text;
};

static long error_code(void *own, const char *selector)
{
    (void)selector;
    return ((struct error *)own)->code;
}

static void *error_text(void *own, const char *selector)
{
    (void)selector;
    return ((struct error *)own)->text;
}

static void error_dealloc(void *own)
{
    objc_release(((struct error *)own)->text);
}

static const struct objc_method error_methods[] = {OBJC_METHOD("code", error_code),
                                                   OBJC_METHOD("localizedDescription", error_text),
                                                   {NULL, NULL, false}};
static const struct objc_class error_class = {.name = "NSError",
                                              .bytes = sizeof(struct error),
                                              .methods = error_methods,
                                              .dealloc = error_dealloc};

void *fake_error(long code, const char *text)
{
    struct error *error = objc_create(&error_class);
    error->code = code;
    error->text = fake_string(text);
    return objc_autorelease(error);
}

// ---- NSArray --------------------------------------------------------------------------------------------------------

struct array {
    struct objc_object object;
    unsigned long count;
    void *objects[2];
};

static unsigned long array_count(void *own, const char *selector)
{
    (void)selector;
    return ((struct array *)own)->count;
}

static void *array_at(void *own, const char *selector, unsigned long index)
{
    const struct array *array = own;
    (void)selector;
    if (index < array->count) return array->objects[index];
    objc_complain("objectAtIndex: %lu of an array of %lu", index, array->count);
    return NULL;
}

static void array_dealloc(void *own)
{
    struct array *array = own;
    for (unsigned long i = 0; i < array->count; i++) objc_release(array->objects[i]);
}

static const struct objc_method array_methods[] = {OBJC_METHOD("count", array_count),
                                                   OBJC_METHOD("objectAtIndex:", array_at),
                                                   {NULL, NULL, false}};
static const struct objc_class array_class = {.name = "NSArray",
                                              .bytes = sizeof(struct array),
                                              .methods = array_methods,
                                              .dealloc = array_dealloc};

void *fake_array(void *const *objects, int count)
{
    struct array *array = objc_create(&array_class);
    for (int i = 0; i < count && i < 2; i++) array->objects[array->count++] = objc_retain(objects[i]);
    return array;
}

// ---- NSProcessInfo --------------------------------------------------------------------------------------------------

static void *process_version(void *own, const char *selector)
{
    (void)own;
    (void)selector;
    return objc_autorelease(fake_string("Version 0.1 (Build 1A1)"));
}

static const struct objc_method process_methods[] = {OBJC_METHOD("operatingSystemVersionString", process_version),
                                                     {NULL, NULL, false}};
static const struct objc_class process_class;

static void *process_info(void *isa, const char *selector)
{
    (void)isa;
    (void)selector;
    return objc_autorelease(objc_create(&process_class));
}

static const struct objc_method process_class_methods[] = {OBJC_METHOD("processInfo", process_info),
                                                           {NULL, NULL, false}};
static const struct objc_class process_class = {
    .name = "NSProcessInfo",
    .bytes = sizeof(struct objc_object),
    .methods = process_methods,
    .class_methods = process_class_methods,
};

// ---- MTLCompileOptions ----------------------------------------------------------------------------------------------

struct options {
    struct objc_object object;
    bool is_fast;
};

static void options_set_fast(void *own, const char *selector, signed char fast)
{
    (void)selector;
    ((struct options *)own)->is_fast = fast != 0;
}

static const struct objc_class options_class;
static void *options_new(void *isa, const char *selector)
{
    (void)isa;
    (void)selector;
    struct options *options = objc_create(&options_class);
    options->is_fast = true; // as in Metal
    return options;
}

bool fake_options_are_fast(const void *own)
{
    return !own || ((const struct options *)own)->is_fast;
}

static const struct objc_method options_methods[] = {OBJC_METHOD("setFastMathEnabled:", options_set_fast),
                                                     {NULL, NULL, false}};
static const struct objc_method options_class_methods[] = {OBJC_METHOD("new", options_new), {NULL, NULL, false}};
static const struct objc_class options_class = {
    .name = "MTLCompileOptions",
    .bytes = sizeof(struct options),
    .methods = options_methods,
    .class_methods = options_class_methods,
};

const struct objc_class *const objc_classes[] = {&string_class, &process_class, &options_class, NULL};
