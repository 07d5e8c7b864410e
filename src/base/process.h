// SPDX-License-Identifier: Apache-2.0
// This process as the system sees it: where its program lies, how much memory it has, whether someone asks it to stop,
// and whether its output is read by a person; and other programs that it runs.
#ifndef HALITE_BASE_PROCESS_H
#define HALITE_BASE_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

// What a command does first: its arguments become UTF-8, its standard streams carry bytes as they are, and a console
// shows UTF-8. Where the system has it so anyway, nothing happens. False without memory for it.
bool hl_process_begin(int *argc, char ***argv);

// Path of the program's own file. False where the system does not tell, or it is longer than `size` bytes.
bool hl_process_path(char *path, size_t size);

// What kind of machine this is: "x86_64", "arm64", "iPhone12,1". False where the system does not tell.
bool hl_process_machine(char *name, size_t size);

// Runs a program, which is looked for as shells do, and waits for its end. NULL is behind the last argument, the first
// is the program. Its exit code, 127 where it cannot be started, -1 where something else ended it.
int hl_process_run(const char *const *arguments);

// Sets a variable of the process's environment. False where that does not go.
bool hl_process_set_variable(const char *name, const char *value);

// Bytes of physical memory: the most so far, and now. 0 where the system does not tell.
uint64_t hl_process_most_memory(void);
struct hl_process_memory {
    uint64_t anonymous, file, shared; // its own; pages of files, such as libraries; shared with other processes
};
// False where the system does not tell.
bool hl_process_memory(struct hl_process_memory *memory);

// From hl_interrupts_hold to hl_interrupts_release a wish to stop (SIGINT, SIGTERM; Ctrl-C) waits until someone asks
// for it; those that are ignored (as nohup and shells' background jobs have it) stay so. To be called before any thread
// starts, which would take them. `before` keeps what was.
struct hl_interrupts {
    unsigned char before[128];
};
void hl_interrupts_hold(struct hl_interrupts *interrupts);
bool hl_interrupts_pending(void);
void hl_interrupts_release(const struct hl_interrupts *interrupts);

// Is this stream shown on a terminal?
bool hl_stream_is_terminal(FILE *stream);
// Columns of the terminal that shows this stream; 0 where it is none, or does not tell.
int hl_stream_columns(FILE *stream);

#endif
