#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Stands for a program of Windows, by links with the programs' names: runs HALITE_PROGRAMS/NAME.exe by HALITE_EMULATOR, which
# is Wine with what it needs. Wine's own messages (of services that it starts and stops beside) are left out; a program that
# crashes shows by its exit code. Wine fails to start a program now and then: one of ours that ends with 1 says why, so one
# that says nothing never ran, and is run again.
export LC_ALL=C.UTF-8 # in which Wine reads arguments and names
exec 3>&2 4>&1
errors=$(mktemp) || exit 1
trap 'rm -f "$errors"' EXIT
written() { stat -L -c %s /proc/self/fd/4; } # 0 for a pipe
before=$(written)
for try in 1 2 3; do
    # shellcheck disable=SC2086  # several words
    code=$({
        {
            ${HALITE_EMULATOR:?} "${HALITE_PROGRAMS:?}/${0##*/}.exe" "$@" 2>&1 >&4
            echo $? >&5
        } | grep -av '^wine: ' | tee "$errors" >&3
    } 5>&1)
    [ "$code" -eq 1 ] && [ ! -s "$errors" ] && [ "$(written)" = "$before" ] && [ $try -lt 3 ] || break
done
exit "$code"
