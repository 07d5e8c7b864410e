// SPDX-License-Identifier: Apache-2.0
// Core ML itself, by the Objective-C runtime from plain C. In: the bytes of a specification and arrays of floats.
// Out: a compiled model and its results. The framework is opened when a delegate is created, so that a program that
// uses none does not load it. Objects from alloc are owned and released; all others belong to the pool around each
// function.
#include "delegates/coreml/runner.h"

#include <stdio.h>

#ifdef __APPLE__

#include <TargetConditionals.h>
#include <stdlib.h>
#include <string.h>

#include "base/loader_names.h"
#include "base/mutex.h"
#include "base/objc.h"
#include "base/process.h"

typedef void *id;

static const char framework[] = "/System/Library/Frameworks/CoreML.framework/CoreML";
enum { ARRAY_FLOAT32 = 65568, UNITS_ALL = 2, MAX_RANK = 8 };

struct compiled {
    id model, url; // owned; the folder at the URL goes with them
};

// ---- messages -----------------------------------------------------------------------------------

static struct hl_objc *get_objc(void)
{
    static struct hl_objc objc;
    return &objc;
}

static void load_objc(void)
{
    struct hl_library *library = hl_library_open_first(hl_loader_names.objc);
    if (library) hl_objc_load(get_objc(), library);
}

// A message of these types: SEND(result, (argument types), object, "selector", arguments).
#define SEND(result, types, object, name, ...) \
    HL_OBJC_SEND(get_objc(), result, types, object, get_objc()->selector(name), __VA_ARGS__)
#define SEND0(result, object, name) HL_OBJC_SEND0(get_objc(), result, object, get_objc()->selector(name))

static id class_named(const char *name)
{
    return get_objc()->get_class(name);
}

static id new_object(const char *name)
{
    return SEND0(id, SEND0(id, class_named(name), "alloc"), "init");
}

static id string_of(const char *text)
{
    return SEND(id, (const char *), class_named("NSString"), "stringWithUTF8String:", text);
}

static bool is_failed(id error, const char *doing, char *why, size_t size)
{
    const char *text = error ? SEND0(const char *, SEND0(id, error, "localizedDescription"), "UTF8String") : NULL;
    snprintf(why, size, "%s: %s", doing, text ? text : "the system does not say why");
    return false;
}

// ---- open ---------------------------------------------------------------------------------------

// As NSProcessInfo takes it.
struct system_version {
    long major, minor, patch;
};

static bool is_at_least(long ios, long macos, long macos_minor)
{
    struct system_version version = {ios, 0, 0};
    if (TARGET_OS_OSX) version = (struct system_version){macos, macos_minor, 0};
    id process = SEND0(id, class_named("NSProcessInfo"), "processInfo");
    return SEND(signed char, (struct system_version), process, "isOperatingSystemAtLeastVersion:", version);
}

// iOS 17 and macOS 14 list their devices.
static bool lists_neural_engine(id (*all_devices)(void))
{
    id devices = all_devices(), kind = class_named("MLNeuralEngineComputeDevice");
    unsigned long count = SEND0(unsigned long, devices, "count");
    for (unsigned long i = 0; i < count; i++) {
        id device = SEND(id, (unsigned long), devices, "objectAtIndex:", i);
        if (SEND(signed char, (id), device, "isKindOfClass:", kind)) return true;
    }
    return false;
}

// Earlier systems are known by the machine: iPhone11,2 (XS) and iPad8,1 (Pro of 2018) were the first, and all Macs with
// Apple's processors.
static bool is_machine_with_neural_engine(void)
{
    char machine[64] = "";
    if (!hl_process_machine(machine, sizeof machine)) return false;
    if (strncmp(machine, "iPhone", 6) == 0) return strtol(machine + 6, NULL, 10) >= 11;
    if (strncmp(machine, "iPad", 4) == 0) return strtol(machine + 4, NULL, 10) >= 8;
    return strcmp(machine, "arm64") == 0;
}

static bool has_neural_engine(struct hl_library *library)
{
    id (*all_devices)(void);
    if (hl_library_find(library, "MLAllComputeDevices", &all_devices, sizeof all_devices))
        return lists_neural_engine(all_devices);
    return is_machine_with_neural_engine();
}

static bool open_apple(bool neural_engine, int *version, char *why, size_t size)
{
    static struct hl_once once = HL_ONCE_INIT;
    struct hl_library *library = hl_library_open(framework); // stays open: its classes are in use
    hl_once(&once, load_objc);
    if (!library || !get_objc()->send || !class_named("MLModel")) {
        snprintf(why, size, "no Core ML here: %s", library ? "it has no MLModel" : hl_library_error());
        return false;
    }
    void *pool = get_objc()->push();
    bool ok = is_at_least(12, 10, 14);
    *version = is_at_least(13, 10, 15) ? 3 : 2;
    if (!ok) {
        snprintf(why, size, "this system is too old: models of Core ML 2 need iOS 12 or macOS 10.14");
    } else if (neural_engine && !has_neural_engine(library)) {
        ok = false;
        snprintf(why, size, "this device has no Neural Engine, and enabled_devices wants one");
    }
    get_objc()->pop(pool);
    return ok;
}

// ---- compile ------------------------------------------------------------------------------------

static id file_manager(void)
{
    return SEND0(id, class_named("NSFileManager"), "defaultManager");
}

static void remove_file(id url)
{
    SEND(signed char, (id, id *), file_manager(), "removeItemAtURL:error:", url, NULL);
}

// A file of its own in the folder for temporary ones.
static id temporary_url(void)
{
    id process = SEND0(id, class_named("NSProcessInfo"), "processInfo");
    id unique = SEND0(id, process, "globallyUniqueString");
    id name = SEND(id, (id), unique, "stringByAppendingString:", string_of(".mlmodel"));
    return SEND(id, (id), SEND0(id, file_manager(), "temporaryDirectory"), "URLByAppendingPathComponent:", name);
}

// The folder of the compiled model, or nil.
static id compile_file(id url, const uint8_t *bytes, size_t byte_count, char *why, size_t size)
{
    id error = NULL;
    id data = SEND(id, (const void *, unsigned long), class_named("NSData"), "dataWithBytes:length:", bytes,
                   (unsigned long)byte_count);
    if (!SEND(signed char, (id, unsigned long, id *), data, "writeToURL:options:error:", url, 0ul, &error)) {
        is_failed(error, "Failed to save model", why, size);
        return NULL;
    }
    id folder = SEND(id, (id, id *), class_named("MLModel"), "compileModelAtURL:error:", url, &error);
    remove_file(url);
    if (!folder) is_failed(error, "Error compiling model", why, size);
    return folder;
}

static struct compiled *load(id folder, char *why, size_t size)
{
    id error = NULL, configuration = new_object("MLModelConfiguration");
    SEND(void, (long), configuration, "setComputeUnits:", (long)UNITS_ALL);
    id model = SEND(id, (id, id, id *), class_named("MLModel"), "modelWithContentsOfURL:configuration:error:", folder,
                    configuration, &error);
    SEND0(void, configuration, "release");
    struct compiled *compiled = model ? malloc(sizeof *compiled) : NULL;
    if (compiled) {
        *compiled = (struct compiled){SEND0(id, model, "retain"), SEND0(id, folder, "retain")};
        return compiled;
    }
    if (model)
        snprintf(why, size, "out of memory");
    else
        is_failed(error, "Error Creating MLModel", why, size);
    remove_file(folder);
    return NULL;
}

static void *compile_apple(const uint8_t *bytes, size_t byte_count, char *why, size_t size)
{
    void *pool = get_objc()->push();
    id folder = compile_file(temporary_url(), bytes, byte_count, why, size);
    struct compiled *compiled = folder ? load(folder, why, size) : NULL;
    get_objc()->pop(pool);
    return compiled;
}

static void free_apple(void *model)
{
    struct compiled *compiled = model;
    void *pool = get_objc()->push();
    remove_file(compiled->url);
    SEND0(void, compiled->model, "release");
    SEND0(void, compiled->url, "release");
    get_objc()->pop(pool);
    free(compiled);
}

// ---- run ----------------------------------------------------------------------------------------

static id list_of(const int64_t *numbers, int count)
{
    id list = SEND0(id, class_named("NSMutableArray"), "array");
    for (int i = 0; i < count; i++) {
        id number = SEND(id, (long long), class_named("NSNumber"), "numberWithLongLong:", (long long)numbers[i]);
        SEND(void, (id), list, "addObject:", number);
    }
    return list;
}

// A value that reads the array's floats where they are.
static id value_of(const struct coreml_array *array, char *why, size_t size)
{
    int64_t strides[4], stride = 1;
    for (int i = array->rank; i-- > 0; stride *= array->shape[i]) strides[i] = stride;
    id error = NULL, own = SEND0(id, class_named("MLMultiArray"), "alloc");
    own = SEND(id, (void *, id, long, id, void *, id *), own,
               "initWithDataPointer:shape:dataType:strides:deallocator:error:", array->data,
               list_of(array->shape, array->rank), (long)ARRAY_FLOAT32, list_of(strides, array->rank), NULL, &error);
    if (!own) {
        is_failed(error, array->name, why, size);
        return NULL;
    }
    id value = SEND(id, (id), class_named("MLFeatureValue"), "featureValueWithMultiArray:", own);
    SEND0(void, own, "release"); // the value has it
    return value;
}

// What the model reads, by name; nil after a message.
static id features_of(const struct coreml_array *inputs, int count, char *why, size_t size)
{
    id error = NULL, values = SEND0(id, class_named("NSMutableDictionary"), "dictionary");
    for (int i = 0; i < count; i++) {
        id value = value_of(&inputs[i], why, size);
        if (!value) return NULL;
        SEND(void, (id, id), values, "setObject:forKey:", value, string_of(inputs[i].name));
    }
    id features = SEND0(id, class_named("MLDictionaryFeatureProvider"), "alloc");
    features = SEND(id, (id, id *), features, "initWithDictionary:error:", values, &error);
    if (!features) is_failed(error, "Error making features", why, size);
    return features ? SEND0(id, features, "autorelease") : NULL;
}

static int read_list(id list, int64_t numbers[MAX_RANK])
{
    unsigned long count = SEND0(unsigned long, list, "count");
    if (count > MAX_RANK) return -1;
    for (unsigned long i = 0; i < count; i++)
        numbers[i] = SEND0(long long, SEND(id, (unsigned long), list, "objectAtIndex:", i), "longLongValue");
    return (int)count;
}

// Copies elements in row-major order, whatever strides the system has chosen.
static void copy_strided(const float *from, int rank, const int64_t *shape, const int64_t *strides, float *to,
                         size_t count)
{
    int64_t index[MAX_RANK] = {0}, at = 0;
    for (size_t i = 0; i < count; i++) {
        to[i] = from[at];
        for (int axis = rank; axis-- > 0;) {
            at += strides[axis];
            if (++index[axis] < shape[axis]) break;
            at -= strides[axis] * shape[axis];
            index[axis] = 0;
        }
    }
}

static bool read_output(id prediction, const struct coreml_array *array, char *why, size_t size)
{
    id value = SEND(id, (id), prediction, "featureValueForName:", string_of(array->name));
    id from = value ? SEND0(id, value, "multiArrayValue") : NULL;
    if (!from) {
        snprintf(why, size, "the model has no output %s", array->name);
        return false;
    }
    int64_t shape[MAX_RANK], strides[MAX_RANK];
    long count = SEND0(long, from, "count"), type = SEND0(long, from, "dataType");
    int rank = read_list(SEND0(id, from, "shape"), shape);
    if (rank < 0 || read_list(SEND0(id, from, "strides"), strides) != rank || type != ARRAY_FLOAT32 ||
        (size_t)count != array->count) {
        snprintf(why, size, "output %s has %ld elements of type %ld, not %zu of type %d", array->name, count, type,
                 array->count, (int)ARRAY_FLOAT32);
        return false;
    }
    copy_strided(SEND0(void *, from, "dataPointer"), rank, shape, strides, array->data, array->count);
    return true;
}

static bool run_apple(void *model, const struct coreml_array *inputs, int input_count,
                      const struct coreml_array *outputs, int output_count, char *why, size_t size)
{
    const struct compiled *compiled = model;
    void *pool = get_objc()->push();
    id error = NULL, prediction = NULL, features = features_of(inputs, input_count, why, size);
    if (features) {
        prediction = SEND(id, (id, id *), compiled->model, "predictionFromFeatures:error:", features, &error);
        if (!prediction) is_failed(error, "predictionFromFeatures", why, size);
    }
    bool ok = prediction;
    for (int i = 0; i < output_count && ok; i++) ok = read_output(prediction, &outputs[i], why, size);
    get_objc()->pop(pool);
    return ok;
}

#else

static bool open_apple(bool neural_engine, int *version, char *why, size_t size)
{
    (void)neural_engine;
    (void)version;
    snprintf(why, size, "this system has no Core ML, which is Apple's");
    return false;
}

// What cannot be opened compiles nothing and runs nothing.
#define compile_apple NULL
#define run_apple NULL
#define free_apple NULL

#endif

const struct coreml_runner coreml_runner_apple = {
    .interface = COREML_RUNNER_INTERFACE,
    .open = open_apple,
    .compile = compile_apple,
    .run = run_apple,
    .free = free_apple,
};
