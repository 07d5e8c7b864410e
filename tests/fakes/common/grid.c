// SPDX-License-Identifier: Apache-2.0
// See grid.h. GRID_COMPILER, GRID_FOLDER, GRID_INCLUDE and GRID_SOURCES come from the build: a C++ compiler, where
// objects lie, the folder of the fakes and src.
#define _GNU_SOURCE // ucontext, posix_spawn
#include "common/grid.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/hash.h"
#include "common/grid_kernel.h"

enum { PATH_BYTES = 1024, LOG_BYTES = 16384, STACK_BYTES = 128 << 10 };

// ---- compiling ------------------------------------------------------------------------------------------------------

extern char **environ;

// The file's text, up to LOG_BYTES of it, malloc'ed; NULL where it cannot be read.
static char *read_log(const char *path)
{
    FILE *file = fopen(path, "r");
    char *text = file ? calloc(1, LOG_BYTES) : NULL;
    if (text && fread(text, 1, LOG_BYTES - 1, file) == 0) text[0] = 0;
    if (file) fclose(file);
    return text;
}

static bool write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    if (!file) return false;
    bool ok = fputs(text, file) >= 0;
    return fclose(file) == 0 && ok;
}

// Whether the compiler made `object` of `source`; what it says is in the file `log`.
static bool run_compiler(const char *source, const char *object, const char *log)
{
    static const char *const options[] = {"-x",
                                          "c++",
                                          "-std=c++14",
                                          "-O1",
                                          "-w",
                                          "-fPIC",
                                          "-shared",
                                          "-fno-exceptions",
                                          "-fno-rtti",
                                          "-ffp-contract=off",
                                          "-fvisibility=hidden"};
    enum { OPTIONS = sizeof options / sizeof *options };
    char *arguments[OPTIONS + 8] = {GRID_COMPILER};
    char include[] = "-I" GRID_INCLUDE, sources[] = "-I" GRID_SOURCES, out[] = "-o";
    int count = 1;
    for (int i = 0; i < OPTIONS; i++) arguments[count++] = (char *)(uintptr_t)options[i];
    arguments[count++] = include;
    arguments[count++] = sources;
    arguments[count++] = (char *)(uintptr_t)source;
    arguments[count++] = out;
    arguments[count++] = (char *)(uintptr_t)object;
    posix_spawn_file_actions_t actions;
    if (posix_spawn_file_actions_init(&actions) != 0) return false;
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    pid_t child;
    int status = 1;
    bool ok = posix_spawnp(&child, GRID_COMPILER, &actions, NULL, arguments, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    return ok && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// A number of its own for each compilation of this process.
static unsigned next_number(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static unsigned number;
    pthread_mutex_lock(&lock);
    unsigned mine = ++number;
    pthread_mutex_unlock(&lock);
    return mine;
}

char *grid_compile(const char *text, char **log)
{
    char path[PATH_BYTES], source[PATH_BYTES], object[PATH_BYTES], said[PATH_BYTES];
    uint64_t key = hl_hash(hl_hash(0, GRID_COMPILER, sizeof GRID_COMPILER), text, strlen(text));
    unsigned number = next_number();
    *log = NULL;
    mkdir(GRID_FOLDER, 0700);
    snprintf(path, sizeof path, "%s/%016llx.so", GRID_FOLDER, (unsigned long long)key);
    if (access(path, R_OK) == 0) return strdup(path);
    snprintf(source, sizeof source, "%s/%d.%u.cpp", GRID_FOLDER, (int)getpid(), number);
    snprintf(object, sizeof object, "%s/%d.%u.so", GRID_FOLDER, (int)getpid(), number);
    snprintf(said, sizeof said, "%s/%d.%u.log", GRID_FOLDER, (int)getpid(), number);
    bool ok = write_text(source, text) && run_compiler(source, object, said) && rename(object, path) == 0;
    if (!ok) *log = read_log(said);
    if (!ok && !*log) *log = strdup("the host's compiler did not run: " GRID_COMPILER);
    unlink(source);
    unlink(said);
    return ok ? strdup(path) : NULL;
}

// ---- modules --------------------------------------------------------------------------------------------------------

struct grid_module {
    void *handle;
    struct grid_work_item *now;
};

bool grid_symbol(const struct grid_module *module, const char *name, void *pointer, size_t size)
{
    void *symbol = dlsym(module->handle, name);
    memcpy(pointer, &symbol, size);
    return symbol != NULL;
}

struct grid_module *grid_open(const char *path)
{
    struct grid_module *module = calloc(1, sizeof *module);
    struct grid_work_item *(*place)(void);
    if (module) module->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (module && module->handle && grid_symbol(module, "grid_place", &place, sizeof place)) {
        module->now = place();
        return module;
    }
    grid_close(module);
    return NULL;
}

void grid_close(struct grid_module *module)
{
    if (module && module->handle) dlclose(module->handle);
    free(module);
}

grid_kernel grid_find(const struct grid_module *module, const char *name)
{
    char symbol[256];
    grid_kernel kernel;
    snprintf(symbol, sizeof symbol, "grid_kernel_%s", name);
    return grid_symbol(module, symbol, &kernel, sizeof kernel) ? kernel : NULL;
}

const char *grid_arguments(const struct grid_module *module, const char *name)
{
    char symbol[256];
    const char *(*kinds)(void);
    snprintf(symbol, sizeof symbol, "grid_kinds_%s", name);
    return grid_symbol(module, symbol, &kinds, sizeof kinds) ? kinds() : NULL;
}

// ---- running --------------------------------------------------------------------------------------------------------

// The run in progress; `lock` belongs to it. Fibers have no arguments, so it lies here.
static struct {
    pthread_mutex_t lock;
    struct grid_work_item *now;
    grid_kernel kernel;
    void **arguments;
    ucontext_t scheduler;
    struct fiber {
        ucontext_t context;
        char *stack;
        struct grid_axes local;
        bool done;
    } fibers[GRID_MAX_GROUP];
    int current;
    bool misplaced; // a barrier came where the group's first work-item had none
} grid = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void fiber_main(void)
{
    grid.kernel(grid.arguments);
    grid.fibers[grid.current].done = true;
}

static void switch_at_barrier(void)
{
    swapcontext(&grid.fibers[grid.current].context, &grid.scheduler);
}

static void no_barrier_here(void)
{
    grid.misplaced = true;
}

static struct grid_axes local_of(int item, const unsigned size[3])
{
    unsigned i = (unsigned)item;
    return (struct grid_axes){i % size[0], i / size[0] % size[1], i / size[0] / size[1]};
}

static bool start_fiber(int item, const unsigned size[3])
{
    struct fiber *fiber = &grid.fibers[item];
    if (!fiber->stack && !(fiber->stack = malloc(STACK_BYTES))) return false;
    fiber->done = false;
    fiber->local = local_of(item, size);
    getcontext(&fiber->context);
    fiber->context.uc_stack.ss_sp = fiber->stack;
    fiber->context.uc_stack.ss_size = STACK_BYTES;
    fiber->context.uc_link = &grid.scheduler;
    makecontext(&fiber->context, fiber_main, 0);
    return true;
}

static void go_on(int item)
{
    grid.current = item;
    grid.now->local = grid.fibers[item].local;
    swapcontext(&grid.scheduler, &grid.fibers[item].context);
}

// The group's first work-item has come to a barrier. Lets all come to it, and then to the next, until all are done.
static const char *run_fibers(int items, const unsigned size[3])
{
    for (int i = 1; i < items; i++)
        if (!start_fiber(i, size)) return "no memory for the stacks of a work-group";
    for (int turn = 0;; turn++) {
        int done = 0;
        for (int i = 0; i < items; i++) {
            int item = turn % 2 ? items - 1 - i : i;
            if (turn > 0 || item > 0) go_on(item);
            done += grid.fibers[item].done;
        }
        if (done == items) return NULL;
        if (done > 0) return "a barrier that some work-items of the group never reach";
    }
}

static const char *run_group(int items, const unsigned size[3], bool backwards)
{
    if (!start_fiber(0, size)) return "no memory for the stack of a work-item";
    grid.now->barrier = switch_at_barrier;
    go_on(0);
    if (!grid.fibers[0].done) return run_fibers(items, size);
    grid.now->barrier = no_barrier_here;
    for (int i = 1; i < items; i++) {
        grid.now->local = local_of(backwards ? items - i : i, size);
        grid.kernel(grid.arguments);
    }
    return grid.misplaced ? "a barrier that the first work-item of the group never reaches" : NULL;
}

const char *grid_run(const struct grid_module *module, grid_kernel kernel, const unsigned groups[3],
                     const unsigned group_size[3], void **arguments)
{
    uint64_t items = (uint64_t)group_size[0] * group_size[1] * group_size[2];
    if (items == 0 || items > GRID_MAX_GROUP) return "a work-group without work-items, or with too many";
    const char *wrong = NULL;
    pthread_mutex_lock(&grid.lock);
    grid.now = module->now;
    grid.kernel = kernel;
    grid.arguments = arguments;
    grid.misplaced = false;
    *grid.now = (struct grid_work_item){.group_size = {group_size[0], group_size[1], group_size[2]},
                                        .groups = {groups[0], groups[1], groups[2]}};
    for (unsigned z = 0; z < groups[2] && !wrong; z++)
        for (unsigned y = 0; y < groups[1] && !wrong; y++)
            for (unsigned x = 0; x < groups[0] && !wrong; x++) {
                grid.now->group = (struct grid_axes){x, y, z};
                wrong = run_group((int)items, group_size, (x + y + z) % 2);
            }
    pthread_mutex_unlock(&grid.lock);
    return wrong;
}
