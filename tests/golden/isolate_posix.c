// SPDX-License-Identifier: Apache-2.0
// The child runs the case and sends its result through a pipe; the parent watches clock and memory. There is no
// RLIMIT_AS: the address sanitizer reserves terabytes that it never touches.
#define _XOPEN_SOURCE 700 // getrusage, setrlimit
#include "isolate.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

// Seconds of processor time, so that a busy machine fails no case; a child that sleeps for ten times that hangs as
// well.
static const double time_limit = SANITIZED ? 10 : 2;
static const double patience = 10;
static const long memory_limit_kib = 256 * 1024; // growth of the resident size

static long peak_kib(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_maxrss : 0;
}

static void send_text(FILE *pipe, const struct hl_text *text)
{
    fwrite(&text->length, sizeof text->length, 1, pipe);
    if (text->length > 0) fwrite(text->data, 1, text->length, pipe);
}

// The end of the child: a leak sanitizer looks for leaks on the way out through exit(). Not with drivers that the
// parent has opened: theirs take the device from the parent there (NVIDIA's Vulkan), or hang (Mesa's OpenGL ES).
static _Noreturn void end_child(int code, bool drivers)
{
    if (SANITIZED && !drivers) exit(code);
    _exit(code);
}

static void run_child(int pipe_end, const struct golden_case *c, const struct golden_options *options)
{
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    long before = peak_kib();
    struct golden_result result = {0};
    // The parent's delegate, if it has made one, may have threads that did not come along.
    struct golden_options own = *options;
    struct golden_delegate delegate = {.how = options->delegate->how};
    own.delegate = &delegate;
    golden_run_case(c, &own, &result);
    TfLiteExternalDelegateDelete(delegate.made);
    long grown = peak_kib() - before;
    if (grown > memory_limit_kib) {
        result.outcome = GOLDEN_FAILED;
        result.crashed = true;
        hl_text_clear(&result.what);
        hl_text_add(&result.what, "takes %ld MiB of memory", grown / 1024);
    }
    FILE *pipe = fdopen(pipe_end, "wb");
    if (pipe == NULL) end_child(1, options->drivers);
    unsigned char head[3] = {(unsigned char)result.outcome, result.crashed, result.undelegated};
    fwrite(head, 1, sizeof head, pipe);
    fwrite(&result.nodes, sizeof result.nodes, 1, pipe);
    fwrite(&result.delegated, sizeof result.delegated, 1, pipe);
    send_text(pipe, &result.what);
    send_text(pipe, &result.missing);
    send_text(pipe, &result.messages);
    bool sent = fclose(pipe) == 0;
    golden_result_free(&result);
    end_child(sent ? 0 : 1, options->drivers);
}

static double seconds(clockid_t clock)
{
    struct timespec now;
    return clock_gettime(clock, &now) == 0 ? (double)now.tv_sec + 1e-9 * (double)now.tv_nsec : 0;
}

// Resident size of a process in KiB, 0 where the system does not tell.
static long resident_kib(pid_t child)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/statm", (long)child);
    FILE *file = fopen(path, "r");
    if (file == NULL) return 0;
    long total, resident = 0;
    if (fscanf(file, "%ld %ld", &total, &resident) != 2) resident = 0;
    fclose(file);
    return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

// Collects what the child sends until it closes the pipe. Returns the limit it went past, or NULL.
static const char *watch(pid_t child, int pipe_end, struct hl_text *sent)
{
    clockid_t cpu;
    bool has_cpu = clock_getcpuclockid(child, &cpu) == 0;
    double start = seconds(CLOCK_MONOTONIC);
    long before = resident_kib(child);
    for (;;) {
        struct pollfd ready = {.fd = pipe_end, .events = POLLIN};
        if (poll(&ready, 1, 20) > 0) {
            char block[4096];
            ssize_t count = read(pipe_end, block, sizeof block);
            if (count > 0) hl_text_add_bytes(sent, block, (size_t)count);
            if (count == 0 || (count < 0 && errno != EINTR)) return NULL;
            continue;
        }
        double elapsed = seconds(CLOCK_MONOTONIC) - start;
        if (elapsed > time_limit * patience || (has_cpu && seconds(cpu) > time_limit)) return "hangs";
        if (resident_kib(child) - before > memory_limit_kib) return "takes more than 256 MiB of memory";
    }
}

static bool take(const struct hl_text *sent, size_t *at, void *to, size_t bytes)
{
    if (bytes > sent->length - *at) return false;
    memcpy(to, sent->data + *at, bytes);
    *at += bytes;
    return true;
}

static bool take_text(const struct hl_text *sent, size_t *at, struct hl_text *text)
{
    size_t length;
    if (!take(sent, at, &length, sizeof length) || length > sent->length - *at) return false;
    if (length > 0) hl_text_add_bytes(text, sent->data + *at, length);
    *at += length;
    return true;
}

static bool take_result(const struct hl_text *sent, struct golden_result *result)
{
    size_t at = 0;
    unsigned char head[3];
    if (!take(sent, &at, head, sizeof head)) return false;
    result->outcome = (enum golden_outcome)head[0];
    result->crashed = head[1] != 0;
    result->undelegated = head[2] != 0;
    return take(sent, &at, &result->nodes, sizeof result->nodes) &&
           take(sent, &at, &result->delegated, sizeof result->delegated) && take_text(sent, &at, &result->what) &&
           take_text(sent, &at, &result->missing) && take_text(sent, &at, &result->messages);
}

static void fail(struct golden_result *result, const char *format, ...) HL_PRINTF(2, 3);
static void fail(struct golden_result *result, const char *format, ...)
{
    result->outcome = GOLDEN_FAILED;
    result->crashed = true;
    hl_text_clear(&result->what);
    va_list args;
    va_start(args, format);
    hl_text_add_va(&result->what, format, args);
    va_end(args);
}

void golden_run_isolated(const struct golden_case *c, const struct golden_options *options,
                         struct golden_result *result)
{
    int ends[2];
    if (pipe(ends) != 0) {
        fail(result, "no pipe to a child process: %s", strerror(errno));
        return;
    }
    pid_t child = fork();
    if (child < 0) {
        fail(result, "no child process: %s", strerror(errno));
        close(ends[0]);
        close(ends[1]);
        return;
    }
    if (child == 0) {
        close(ends[0]);
        run_child(ends[1], c, options);
    }
    close(ends[1]);
    struct hl_text sent = {0};
    const char *limit = watch(child, ends[0], &sent);
    if (limit != NULL) kill(child, SIGKILL);
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    close(ends[0]);
    if (limit != NULL)
        fail(result, "%s", limit);
    else if (WIFSIGNALED(status))
        fail(result, "crashes: %s", strsignal(WTERMSIG(status)));
    else if (!take_result(&sent, result) && WEXITSTATUS(status) == 0)
        fail(result, "the child process sent no result");
    else if (WEXITSTATUS(status) != 0)
        fail(result, "the child process ended with code %d (a sanitizer's finding?)", WEXITSTATUS(status));
    hl_text_free(&sent);
}
