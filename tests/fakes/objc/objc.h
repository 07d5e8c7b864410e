// SPDX-License-Identifier: Apache-2.0
// A stand-in for Apple's Objective-C runtime, for fakes of its frameworks on other systems. In: classes as tables of
// functions in C. Out: the runtime's own functions (objc_msgSend and what belongs to it), so that a program in plain C
// sends messages to objects as it would there. It counts references, keeps pools per thread, and complains of what
// would crash or leak: a message to an object that is gone, one that the class does not know, a release too many, an
// object for a pool where there is none.
#ifndef HALITE_TESTS_FAKES_OBJC_OBJC_H
#define HALITE_TESTS_FAKES_OBJC_OBJC_H

#include <stdbool.h>
#include <stddef.h>

struct objc_class;

// What every object begins with.
struct objc_object {
    const struct objc_class *isa; // NULL: the object is a class
    int references;
    bool is_gone;
    struct objc_object *next; // among all that were ever made
};

// function: takes the object, the selector and the arguments. is_new: older systems lack it.
struct objc_method {
    const char *selector;
    void (*function)(void);
    bool is_new;
};
#define OBJC_METHOD(selector, function)             \
    {                                               \
        selector, (void (*)(void))(function), false \
    }
#define OBJC_NEW_METHOD(selector, function)        \
    {                                              \
        selector, (void (*)(void))(function), true \
    }

struct objc_class {
    struct objc_object object; // zero
    const char *name;
    size_t bytes;                                      // of an object
    const struct objc_method *methods, *class_methods; // each ends with one without a selector; may be NULL
    void (*dealloc)(void *object);                     // may be NULL
};

// An object with zeros, which belongs to the caller.
void *objc_create(const struct objc_class *isa);
void *objc_retain(void *object); // takes and returns nil
void objc_release(void *object); // takes nil
void *objc_autorelease(void *object);
// The functions of the runtime that a fake calls itself.
void *objc_autoreleasePoolPush(void);
void objc_autoreleasePoolPop(void *pool);
// Objects that are not gone.
long long objc_live(void);
// Frees the memory of those that are gone.
void objc_sweep(void);

// ---- what the fake defines

// The classes that objc_getClass finds; the list ends with NULL.
extern const struct objc_class *const objc_classes[];
// Whether methods that are new are there.
bool objc_has_new_methods(void);
// Notes that a rule was broken. Threads may call it.
void objc_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
