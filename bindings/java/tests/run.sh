#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh COMMAND...: runs java with tests, and fails as well where -Xcheck:jni has found a fault in native code, of which
# the JVM only warns.
log=$(mktemp)
trap 'rm -f "$log"' EXIT
"$@" >"$log" 2>&1
status=$?
cat "$log"
if grep -q 'in native method' "$log"; then
    echo "run.sh: -Xcheck:jni has found a fault in native code"
    exit 1
fi
exit $status
