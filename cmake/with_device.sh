#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# with_device.sh DEVICE CASE RUNNER --delegate LIBRARY ...: runs this golden_runner with HALITE_DEVICE=DEVICE. Where the
# delegate finds no such device for one CASE, says so and ends with 77, which ctest calls skipped. Every other failure fails.
export HALITE_DEVICE="$1"
case=$2
shift 2
if [ ! -e "$case.txt" ]; then
    echo "skipped: no $case.txt"
    exit 77
fi
# The command's own options, with one case in place of its paths.
runner=$1
shift
none=$("$runner" --delegate "$2" "$case" 2>&1 | grep -E -m 1 'HALITE_DEVICE=[a-z0-9:]*: (no|there is no such) .*device')
if [ -n "$none" ]; then
    echo "skipped: $none"
    exit 77
fi
exec "$runner" "$@"
