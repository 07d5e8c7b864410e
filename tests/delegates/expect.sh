# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# Read by scripts that run commands before a fake: set `work`, a folder, and failed=0 before, and end with $failed.

# expect CODE WORDS COMMAND...: it ends with this code and says these words, and the fake has no complaint.
expect() {
    want=$1
    words=$2
    shift 2
    "$@" >"$work/out" 2>&1
    code=$?
    if [ $code -ne "$want" ] || ! grep -qF -e "$words" "$work/out" || grep -q '^fake ' "$work/out"; then
        echo "$*: ends with $code, wanted $want and \"$words\""
        cat "$work/out"
        failed=1
    fi
}
