// SPDX-License-Identifier: Apache-2.0
// Runs command buffers of the fake, in the order in which they were committed.
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "fake.h"

enum { COMPLETED = 4, FAILED = 5 };

static pthread_mutex_t running = PTHREAD_MUTEX_INITIALIZER; // held by the one thread that runs
static struct fake_commands *first, *last;

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// ---- one command ----------------------------------------------------------------------------------------------------

// Returns NULL, or what is wrong.
static const char *run_dispatch(const struct fake_command *command)
{
    const struct fake_function *function = command->pipeline->function;
    unsigned char *addresses[FAKE_MAX_ARGUMENTS];
    void *arguments[FAKE_MAX_ARGUMENTS];
    for (int i = 0; i < function->argument_count; i++) {
        addresses[i] = command->buffers[i] ? command->buffers[i]->data + command->offsets[i] : command->inlined[i];
        arguments[i] = function->is_constant[i] ? (void *)command->inlined[i] : (void *)&addresses[i];
    }
    const unsigned groups[3] = {(unsigned)command->groups.width, (unsigned)command->groups.height,
                                (unsigned)command->groups.depth};
    const unsigned group[3] = {(unsigned)command->group.width, (unsigned)command->group.height,
                               (unsigned)command->group.depth};
    fake_count(&fake.dispatches);
    return grid_run(function->module, grid_find(function->module, function->name), groups, group, arguments);
}

static bool writes(const struct fake_command *command, int argument)
{
    return command->pipeline->function->is_written[argument];
}

// Whether two dispatches between the same barriers begin to use the same bytes, and one writes.
static bool collide(const struct fake_command *a, const struct fake_command *b)
{
    for (int i = 0; i < FAKE_MAX_ARGUMENTS; i++)
        for (int k = 0; k < FAKE_MAX_ARGUMENTS; k++)
            if (a->buffers[i] && a->buffers[i] == b->buffers[k] && a->offsets[i] == b->offsets[k] &&
                (writes(a, i) || writes(b, k)))
                return true;
    return false;
}

// Dispatches without a barrier between them run backwards.
static const char *run_dispatches(const struct fake_command *list, int count)
{
    const char *wrong = NULL;
    for (int i = count; i-- > 0 && !wrong;) {
        for (int k = 0; k < i; k++)
            if (collide(&list[i], &list[k]))
                objc_complain("no barrier between %s and %s", list[k].pipeline->function->name,
                              list[i].pipeline->function->name);
        wrong = run_dispatch(&list[i]);
    }
    return wrong;
}

static const char *run_list(const struct fake_commands *commands)
{
    const char *wrong = NULL;
    for (int i = 0; i < commands->count && !wrong;) {
        const struct fake_command *command = &commands->list[i];
        int count = 0;
        while (i + count < commands->count && command[count].kind == FAKE_DISPATCH) count++;
        wrong = run_dispatches(command, count);
        if (count == 0 && command->kind == FAKE_COPY)
            memcpy(command->buffers[1]->data + command->offsets[1], command->buffers[0]->data + command->offsets[0],
                   command->bytes);
        i += count > 0 ? count : 1;
    }
    return wrong;
}

// ---- command buffers ------------------------------------------------------------------------------------------------

static void run(struct fake_commands *commands)
{
    double start = seconds();
    void *pool = objc_autoreleasePoolPush();
    const char *wrong = commands->has_to_fail ? "the command buffer was told to fail" : run_list(commands);
    if (wrong) {
        if (!commands->has_to_fail) objc_complain("%s", wrong);
        commands->error = objc_retain(fake_error((long)fake.fail_code, wrong));
    }
    fake_lock();
    commands->start = start;
    commands->end = seconds();
    fake.runs++;
    commands->status = wrong ? FAILED : COMPLETED;
    fake_unlock();
    objc_autoreleasePoolPop(pool);
}

void fake_submit(struct fake_commands *commands)
{
    objc_retain(commands);
    fake_lock();
    if (last)
        last->next = commands;
    else
        first = commands;
    last = commands;
    fake_unlock();
}

static struct fake_commands *take_first(void)
{
    fake_lock();
    struct fake_commands *commands = first;
    first = commands ? commands->next : NULL;
    if (!first) last = NULL;
    fake_unlock();
    return commands;
}

void fake_run_until(const struct fake_commands *end)
{
    pthread_mutex_lock(&running);
    fake_lock();
    bool is_done = end && end->status >= COMPLETED;
    fake_unlock();
    for (struct fake_commands *commands; !is_done && (commands = take_first());) {
        run(commands);
        is_done = commands == end;
        objc_release(commands);
    }
    pthread_mutex_unlock(&running);
}
