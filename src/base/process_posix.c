// SPDX-License-Identifier: Apache-2.0
// See process.h: POSIX systems, with what Linux and macOS add.
#include "base/process.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>
#if defined(__APPLE__)
#include <mach-o/dyld.h>
#endif

bool hl_process_begin(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    return true;
}

bool hl_process_path(char *path, size_t size)
{
#if defined(__APPLE__)
    uint32_t room = size < UINT32_MAX ? (uint32_t)size : UINT32_MAX;
    return _NSGetExecutablePath(path, &room) == 0;
#else
    ssize_t length = readlink("/proc/self/exe", path, size - 1);
    if (length <= 0 || (size_t)length == size - 1) return false;
    path[length] = '\0';
    return true;
#endif
}

bool hl_process_machine(char *name, size_t size)
{
    struct utsname system;
    if (uname(&system) < 0 || strlen(system.machine) >= size) return false;
    memcpy(name, system.machine, strlen(system.machine) + 1);
    return true;
}

int hl_process_run(const char *const *arguments)
{
    fflush(NULL); // else the child has what is in our buffers as well
    pid_t child = fork();
    if (child == 0) {
        execvp(arguments[0], (char *const *)(uintptr_t)arguments);
        _exit(127);
    }
    int status = -1;
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    return child > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool hl_process_set_variable(const char *name, const char *value)
{
    return setenv(name, value, 1) == 0;
}

uint64_t hl_process_most_memory(void)
{
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) != 0) return 0;
#if defined(__APPLE__)
    return (uint64_t)usage.ru_maxrss;
#else
    return (uint64_t)usage.ru_maxrss * 1024;
#endif
}

bool hl_process_memory(struct hl_process_memory *memory)
{
    char line[256];
    unsigned long value;
    *memory = (struct hl_process_memory){0};
    FILE *file = fopen("/proc/self/status", "r");
    if (!file) return false;
    while (fgets(line, sizeof line, file)) {
        if (sscanf(line, "RssAnon: %lu", &value) == 1) memory->anonymous = (uint64_t)value * 1024;
        if (sscanf(line, "RssFile: %lu", &value) == 1) memory->file = (uint64_t)value * 1024;
        if (sscanf(line, "RssShmem: %lu", &value) == 1) memory->shared = (uint64_t)value * 1024;
    }
    fclose(file);
    return true;
}

// The signals are blocked and not handled, so that nothing is cut in two: who works asks between two steps.
static void stopping_signals(sigset_t *set)
{
    static const int signals[] = {SIGINT, SIGTERM};
    sigemptyset(set);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        struct sigaction action;
        bool ignored = sigaction(signals[i], NULL, &action) == 0 && action.sa_handler == SIG_IGN;
        if (!ignored) sigaddset(set, signals[i]);
    }
}

_Static_assert(sizeof(sigset_t) <= sizeof(struct hl_interrupts), "room for a set of signals");

void hl_interrupts_hold(struct hl_interrupts *interrupts)
{
    sigset_t signals, before;
    stopping_signals(&signals);
    pthread_sigmask(SIG_BLOCK, &signals, &before);
    memcpy(interrupts->before, &before, sizeof before);
}

bool hl_interrupts_pending(void)
{
    sigset_t pending;
    return sigpending(&pending) == 0 && (sigismember(&pending, SIGINT) == 1 || sigismember(&pending, SIGTERM) == 1);
}

void hl_interrupts_release(const struct hl_interrupts *interrupts)
{
    sigset_t signals, before;
    stopping_signals(&signals);
    for (int taken; hl_interrupts_pending() && sigwait(&signals, &taken) == 0;) continue;
    memcpy(&before, interrupts->before, sizeof before);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

bool hl_stream_is_terminal(FILE *stream)
{
    return isatty(fileno(stream));
}

int hl_stream_columns(FILE *stream)
{
    struct winsize size;
    bool known = isatty(fileno(stream)) && ioctl(fileno(stream), TIOCGWINSZ, &size) == 0;
    return known ? size.ws_col : 0;
}
