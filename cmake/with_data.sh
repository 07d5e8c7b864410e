#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# with_data.sh PATH COMMAND...: runs COMMAND where PATH exists; else says so and ends with 77, which ctest calls skipped.
# For tests on data that lies beside the repository and not in it.
path=$1
shift
if [ ! -e "$path" ]; then
    echo "skipped: no $path"
    exit 77
fi
exec "$@"
