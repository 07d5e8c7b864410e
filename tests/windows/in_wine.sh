#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Stands for a program of Windows, by links with the programs' names: runs HALITE_PROGRAMS/NAME.exe by HALITE_EMULATOR, which
# is Wine with what it needs. Wine's own messages (of services that it starts and stops beside) are left out; a program that
# crashes shows by its exit code.
export LC_ALL=C.UTF-8 # in which Wine reads arguments and names
exec 3>&2 4>&1
# shellcheck disable=SC2086  # several words
code=$({
    {
        ${HALITE_EMULATOR:?} "${HALITE_PROGRAMS:?}/${0##*/}.exe" "$@" 2>&1 >&4
        echo $? >&5
    } | grep -av '^wine: ' >&3
} 5>&1)
exit "$code"
