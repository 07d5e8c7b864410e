#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh COMMAND...: runs java with tests, and fails as well where -Xcheck:jni has found a fault in native code, of which
# the JVM only warns. HALITE_PRELOAD names libraries to load before all others.
log=$(mktemp)
trap 'rm -f "$log"' EXIT
LD_PRELOAD=${HALITE_PRELOAD:-} "$@" >"$log" 2>&1
status=$?
cat "$log"
if grep -q 'in native method' "$log"; then
    echo "run.sh: -Xcheck:jni has found a fault in native code"
    exit 1
fi
exit $status
