// SPDX-License-Identifier: Apache-2.0
// See process.h: POSIX with what Linux and macOS add, and Windows. WASI has no processes: the tools are not built
// there.
#include "base/process.h"

#include <stdlib.h>
#include <string.h>

#if defined(_WIN32)
#include <io.h>
#include <process.h>
#include <windows.h>

#include <psapi.h>

bool hl_process_path(char *path, size_t size)
{
    DWORD length = GetModuleFileNameA(NULL, path, size < MAXDWORD ? (DWORD)size : MAXDWORD);
    return length > 0 && length < size;
}

bool hl_process_machine(char *name, size_t size)
{
    (void)name;
    (void)size;
    return false;
}

int hl_process_run(const char *const *arguments)
{
    intptr_t code = _spawnvp(_P_WAIT, arguments[0], arguments);
    return code == -1 ? 127 : (int)code;
}

bool hl_process_set_variable(const char *name, const char *value)
{
    return _putenv_s(name, value) == 0;
}

uint64_t hl_process_most_memory(void)
{
    PROCESS_MEMORY_COUNTERS counters;
    return GetProcessMemoryInfo(GetCurrentProcess(), &counters, sizeof counters) ? counters.PeakWorkingSetSize : 0;
}

bool hl_process_memory(struct hl_process_memory *memory)
{
    PROCESS_MEMORY_COUNTERS counters;
    *memory = (struct hl_process_memory){0};
    if (!GetProcessMemoryInfo(GetCurrentProcess(), &counters, sizeof counters)) return false;
    memory->anonymous = counters.WorkingSetSize;
    return true;
}

// Ctrl-C ends the process as it always does: nobody waits for it here.
void hl_interrupts_hold(struct hl_interrupts *interrupts)
{
    (void)interrupts;
}

bool hl_interrupts_pending(void)
{
    return false;
}

void hl_interrupts_release(const struct hl_interrupts *interrupts)
{
    (void)interrupts;
}

bool hl_stream_is_terminal(FILE *stream)
{
    return _isatty(_fileno(stream));
}

int hl_stream_columns(FILE *stream)
{
    CONSOLE_SCREEN_BUFFER_INFO console;
    HANDLE handle = (HANDLE)_get_osfhandle(_fileno(stream));
    return GetConsoleScreenBufferInfo(handle, &console) ? console.srWindow.Right - console.srWindow.Left + 1 : 0;
}

#elif !defined(__wasi__)
#include <errno.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>
#if defined(__APPLE__)
#include <mach-o/dyld.h>
#endif

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

#endif
