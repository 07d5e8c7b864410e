// SPDX-License-Identifier: Apache-2.0
// The interface library of Hexagon's neural network processor, libhexagon_interface.so: its functions, opened at run
// time. In: a path or the system's name. Out: a table of functions, all of which must be there.
#ifndef HALITE_DELEGATES_HEXAGON_SYSTEM_H
#define HALITE_DELEGATES_HEXAGON_SYSTEM_H

#include <stddef.h>

#include "delegates/hexagon/abi.h"

// X(result, name in the table, symbol, arguments). A result of 0 says that an int function succeeded.
// clang-format off
#define HEXAGON_FUNCTIONS(X)                                                                                           \
    X(int, config, hexagon_nn_config, (void))                                                                          \
    X(int, init, hexagon_nn_init, (int *))                                                                             \
    X(int, set_debug_level, hexagon_nn_set_debug_level, (int, int))                                                    \
    X(int, set_powersave_level, hexagon_nn_set_powersave_level, (unsigned))                                            \
    X(int, append_node, hexagon_nn_append_node,                                                                        \
      (int, unsigned, unsigned, hexagon_nn_padding_type, const hexagon_nn_input *, int, const hexagon_nn_output *, int)) \
    X(int, append_const_node, hexagon_nn_append_const_node,                                                            \
      (int, unsigned, unsigned, unsigned, unsigned, unsigned, const unsigned char *, int))                             \
    X(int, prepare, hexagon_nn_prepare, (int))                                                                         \
    X(int, execute, hexagon_nn_execute,                                                                                \
      (int, unsigned, unsigned, unsigned, unsigned, const unsigned char *, int, unsigned *, unsigned *, unsigned *,    \
       unsigned *, unsigned char *, int, unsigned *))                                                                  \
    X(int, execute_new, hexagon_nn_execute_new,                                                                        \
      (int, const hexagon_nn_tensordef *, int, hexagon_nn_tensordef *, int))                                           \
    X(int, teardown, hexagon_nn_teardown, (int))                                                                       \
    X(int, snpprint, hexagon_nn_snpprint, (int, unsigned char *, int))                                                 \
    X(int, getlog, hexagon_nn_getlog, (int, unsigned char *, int))                                                     \
    X(int, get_perfinfo, hexagon_nn_get_perfinfo, (int, hexagon_nn_perfinfo *, int, unsigned *))                       \
    X(int, reset_perfinfo, hexagon_nn_reset_perfinfo, (int, unsigned))                                                 \
    X(int, op_id_to_name, hexagon_nn_op_id_to_name, (unsigned, char *, int))                                           \
    X(void, global_init, hexagon_nn_global_init, (void))                                                               \
    X(void, global_teardown, hexagon_nn_global_teardown, (void))                                                       \
    X(bool, is_device_supported, hexagon_nn_is_device_supported, (void))                                               \
    X(int, version, hexagon_nn_version, (int *))                                                                       \
    X(int, interface_version, hexagon_nn_hexagon_interface_version, (void))
// clang-format on

struct hexagon {
    struct hl_library *library; // stays open: drivers do not like to be unloaded
#define X(result, name, symbol, arguments) result(*name) arguments;
    HEXAGON_FUNCTIONS(X)
#undef X
};

// Opens the library, once for a delegate. path: NULL, or a library in place of the system's. False: `why` says what was
// not found, in one line.
bool hexagon_open(struct hexagon *hexagon, const char *path, char *why, size_t size);
// Whether the open library, the processor's library and the processor fit each other. False: `why` says what does not.
bool hexagon_usable(const struct hexagon *hexagon, char *why, size_t size);

#endif
