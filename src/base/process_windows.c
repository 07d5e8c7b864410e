// SPDX-License-Identifier: Apache-2.0
// See process.h: Windows.
#include "base/process.h"

#include <fcntl.h>
#include <io.h>
#include <process.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

#include <psapi.h>

#include "base/wide_windows.h"

static UINT console_before;

static void restore_console(void)
{
    SetConsoleOutputCP(console_before);
}

// The words of a command line, for LocalFree. Looked up: the libraries, which hold this file as well, need no shell.
static wchar_t **split(const wchar_t *line, int *count)
{
    wchar_t **(WINAPI * function)(const wchar_t *line, int *count) = NULL;
    HMODULE shell = LoadLibraryW(L"shell32.dll");
    FARPROC found = shell ? GetProcAddress(shell, "CommandLineToArgvW") : NULL;
    memcpy(&function, &found, sizeof function);
    return function ? function(line, count) : NULL;
}

bool hl_process_begin(int *argc, char ***argv)
{
    FILE *const streams[] = {stdin, stdout, stderr};
    for (size_t i = 0; i < sizeof streams / sizeof *streams; i++) _setmode(_fileno(streams[i]), _O_BINARY);
    // The console goes on after the program, with what other programs expect of it.
    console_before = GetConsoleOutputCP();
    if (console_before != 0 && console_before != CP_UTF8 && SetConsoleOutputCP(CP_UTF8)) atexit(restore_console);
    int count = 0;
    wchar_t **wide = split(GetCommandLineW(), &count);
    char **narrow = wide ? calloc((size_t)count + 1, sizeof *narrow) : NULL;
    bool ok = narrow != NULL;
    for (int i = 0; ok && i < count; i++) ok = (narrow[i] = hl_wide_narrow(wide[i])) != NULL;
    LocalFree(wide);
    if (ok) { // for as long as the process runs
        *argc = count;
        *argv = narrow;
        return true;
    }
    for (int i = 0; narrow && i < count; i++) free(narrow[i]);
    free(narrow);
    return false;
}

bool hl_process_path(char *path, size_t size)
{
    wchar_t wide[1024];
    DWORD length = GetModuleFileNameW(NULL, wide, 1024);
    char *narrow = length > 0 && length < 1024 ? hl_wide_narrow(wide) : NULL;
    bool ok = narrow && strlen(narrow) < size;
    if (ok) memcpy(path, narrow, strlen(narrow) + 1);
    free(narrow);
    return ok;
}

bool hl_process_machine(char *name, size_t size)
{
#if defined(__x86_64__)
    static const char machine[] = "x86_64";
#elif defined(__aarch64__)
    static const char machine[] = "arm64";
#else
    static const char machine[] = "x86";
#endif
    if (size < sizeof machine) return false;
    memcpy(name, machine, sizeof machine);
    return true;
}

int hl_process_run(const char *const *arguments)
{
    size_t count = 0;
    while (arguments[count]) count++;
    wchar_t **wide = calloc(count + 1, sizeof *wide);
    bool ok = wide != NULL;
    for (size_t i = 0; ok && i < count; i++) ok = (wide[i] = hl_wide_join(arguments[i], "")) != NULL;
    intptr_t code = ok ? _wspawnvp(_P_WAIT, wide[0], (const wchar_t *const *)wide) : -1;
    for (size_t i = 0; wide && i < count; i++) free(wide[i]);
    free(wide);
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
