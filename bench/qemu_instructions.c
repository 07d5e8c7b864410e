// SPDX-License-Identifier: Apache-2.0
// A plugin of QEMU that counts the instructions a program runs (arm_instructions.py). In: nothing. Out: their number on
// standard error, when the program ends. QEMU's header for plugins is no package of Debian's, so what is used of its
// interface, of version 1, is declared here.
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define EXPORTED __attribute__((visibility("default")))

typedef uint64_t plugin_id;
struct qemu_plugin_tb; // a block of instructions that QEMU translates at once
enum { ADD_U64 = 0 };  // what a block does without a call
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id id,
                                           void (*translated)(plugin_id id, struct qemu_plugin_tb *block));
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *block, int operation, void *to, uint64_t value);
void qemu_plugin_register_atexit_cb(plugin_id id, void (*ended)(plugin_id id, void *user_data), void *user_data);

EXPORTED int qemu_plugin_version = 1;
EXPORTED int qemu_plugin_install(plugin_id id, const void *info, int argc, char **argv);

static uint64_t count;

static void translated(plugin_id id, struct qemu_plugin_tb *block)
{
    (void)id;
    qemu_plugin_register_vcpu_tb_exec_inline(block, ADD_U64, &count, qemu_plugin_tb_n_insns(block));
}

static void ended(plugin_id id, void *user_data)
{
    (void)id, (void)user_data;
    fprintf(stderr, "instructions: %" PRIu64 "\n", count);
}

int qemu_plugin_install(plugin_id id, const void *info, int argc, char **argv)
{
    (void)info, (void)argc, (void)argv;
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_atexit_cb(id, ended, NULL);
    return 0;
}
