// SPDX-License-Identifier: Apache-2.0
// The Objective-C runtime from plain C. In: an open library with the runtime's functions. Out: these functions, and
// macros that send a message with the exact types of its arguments and result. Objects, classes and selectors are
// void *. Objects from methods that begin with alloc, new or copy belong to the caller, who sends "release"; all others
// belong to the pool that was pushed last, and are gone with it.
#ifndef HALITE_BASE_OBJC_H
#define HALITE_BASE_OBJC_H

#include <stdbool.h>

#include "base/library.h"

struct hl_objc {
    void *(*get_class)(const char *name); // NULL where there is no such class
    void *(*selector)(const char *name);
    void *(*push)(void); // a pool for objects
    void (*pop)(void *pool);
    void (*send)(void);        // to be cast to the type of the method before each call
    void (*send_struct)(void); // for methods that return a struct of more than 16 bytes
};

// Fills in the functions. False where the library lacks one.
bool hl_objc_load(struct hl_objc *objc, struct hl_library *library);

// A message with arguments. types: of each argument, in parentheses. A variadic call would pass them elsewhere.
#define HL_OBJC_SEND(objc, result, types, object, selector, ...) \
    (((result(*)(void *, void *, HL_OBJC_LIST types))(objc)->send)((object), (selector), __VA_ARGS__))
#define HL_OBJC_LIST(...) __VA_ARGS__
// A message without arguments.
#define HL_OBJC_SEND0(objc, result, object, selector) (((result(*)(void *, void *))(objc)->send)((object), (selector)))
// The same where the result is a struct of more than 16 bytes.
#define HL_OBJC_SEND0_STRUCT(objc, result, object, selector) \
    (((result(*)(void *, void *))(objc)->send_struct)((object), (selector)))

#endif
