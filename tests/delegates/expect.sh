# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# Read by scripts SCRIPT HALITE FAKE that run commands before a fake; they end with $failed. What they write lies in $work.
# shellcheck disable=SC2034  # those scripts use them
halite=$1 fake=$2
# shellcheck disable=SC2034
bin=$(dirname "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

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
