// SPDX-License-Identifier: Apache-2.0
// Runs kernels of the dialect on the CPU, for fakes of GPU APIs whose language is C++. In: a text, which a host
// compiler turns into a shared object. Out: functions, and runs of them over work-groups. Work-items are called one
// after the other; those of a group whose first comes to a barrier run as fibers, which take turns at barriers. Every
// second turn goes backwards, so that a kernel that lacks a barrier computes something else than a device would.
//
// A fake puts before the text what spells its language: tests/fakes/common/grid_kernel.h has the position of the
// work-item, the barrier, and GRID_KERNEL(name), which has to follow the text once for each kernel.
#ifndef HALITE_TESTS_FAKES_COMMON_GRID_H
#define HALITE_TESTS_FAKES_COMMON_GRID_H

#include <stdbool.h>
#include <stddef.h>

// Compiles C++ text. The object lies in the build folder under a name made of the text, so that the next process finds
// it there. Several threads may call this. Returns the object's path, malloc'ed; NULL where the compiler refuses the
// text or cannot run, and *log, malloc'ed (NULL without memory), is then what it says.
char *grid_compile(const char *text, char **log);

struct grid_module;
// Opens an object by its path; NULL where there is none.
struct grid_module *grid_open(const char *path);
void grid_close(struct grid_module *module); // takes NULL

// A kernel: arguments are addresses of values, in order.
typedef void (*grid_kernel)(void **arguments);
grid_kernel grid_find(const struct grid_module *module, const char *name); // NULL where the module has no such
// Its arguments as a text, for each a p where it is a pointer, or else a v, and then its bytes: "p8p8v48".
const char *grid_arguments(const struct grid_module *module, const char *name);
// Stores the address of a function that the text exports in *pointer, which is a pointer of `size` bytes. False where
// there is none.
bool grid_symbol(const struct grid_module *module, const char *name, void *pointer, size_t size);

// Runs a kernel of the module and returns when all is done. Returns NULL, or what is wrong with the kernel (static
// text): a barrier that some work-items of a group never reach. One run at a time in a process: others wait.
const char *grid_run(const struct grid_module *module, grid_kernel kernel, const unsigned groups[3],
                     const unsigned group_size[3], void **arguments);

enum { GRID_MAX_GROUP = 1024 };

#endif
