#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# android.sh LIBRARY...: what can be said of Android without its compiler. The source that differs for Android compiles, and the
# libraries, which are built for this machine, call nothing that Android's C library lacks in version 5.
set -eu
cd "$(dirname "$0")/../../.."
failed=0
for file in $(grep -rlE '__ANDROID__|__BIONIC__' src --include='*.c'); do
    ${CC:-cc} -std=c11 -D__ANDROID__ -D_POSIX_C_SOURCE=200809L -D_FILE_OFFSET_BITS=64 -Wall -Wextra -Wshadow \
        -Wstrict-prototypes -Wmissing-prototypes -Werror -Iinclude -Isrc -fsyntax-only "$file" || failed=1
    echo "$file compiles as for Android"
done
command -v nm >/dev/null || { echo "skipped: no nm (binutils)"; exit 77; }
known=$(grep -v '^#' bindings/java/package/bionic_21.txt | tr '\n' ' ')
for library in "$@"; do
    # Names of weak symbols, versions, and glibc's 64-bit twins of functions are not Android's.
    for name in $(nm -D --undefined-only "$library" | awk '$1 == "U" { sub(/@.*/, "", $2); sub(/64$/, "", $2); print $2 }'); do
        case " $known " in
            *" $name "*) ;;
            *)
                echo "$library calls $name, which bionic_21.txt does not list"
                failed=1
                ;;
        esac
    done
    echo "$library: looked at"
done
exit $failed
