// SPDX-License-Identifier: Apache-2.0
// Shared libraries that are opened while the program runs: drivers of GPUs, delegates of others.
#ifndef HALITE_BASE_LIBRARY_H
#define HALITE_BASE_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

struct hl_library; // the system's handle

// How files of libraries are called here, and where those that were built or installed with a program lie, seen from
// it.
struct hl_library_files {
    const char *prefix, *ending, *folder;
};
extern const struct hl_library_files hl_library_files;

// A path, or a name that the system searches for. Symbols of the library stay out of other libraries' sight. NULL where
// it does not open: hl_library_error says why, until the next call of this thread.
struct hl_library *hl_library_open(const char *name);
// Opens the first of the names that opens; the list ends with NULL.
struct hl_library *hl_library_open_first(const char *const *names);
// The library that has this function, which is open already; the program itself where it has it. To be closed as well.
// What a program exports depends on how it was linked.
struct hl_library *hl_library_of(void (*function)(void));
const char *hl_library_error(void);
// The path that an environment variable names in place of a library; NULL where it is unset, empty, or where the system
// gave this process rights that its user lacks (setuid, setgid, capabilities of the file): there the user's environment
// must not choose what code runs.
const char *hl_library_named(const char *variable);
void hl_library_close(struct hl_library *library);

// Stores the address of a function or of data in *pointer, which is a pointer of `size` bytes (a cast from an object
// pointer to a function pointer would not be C). False, with *pointer NULL, where the library has no such symbol.
bool hl_library_find(struct hl_library *library, const char *name, void *pointer, size_t size);

#endif
