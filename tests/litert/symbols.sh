#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# symbols.sh LIBRARY: libLiteRtGpuAccelerator exports what LiteRT looks for and nothing else, needs no symbol of a runtime, and
# stays in memory when LiteRT closes it: drivers that it opened may have threads.
library=$1
command -v readelf >/dev/null 2>&1 || { echo "skipped: no readelf"; exit 77; }
failed=0
exported=$(nm -D --defined-only "$library" | sed 's/.* //; s/@.*//' | sort | tr '\n' ' ')
if [ "$exported" != "LiteRtAcceleratorImpl LiteRtRegisterGpuAccelerator " ]; then
    echo "exported: $exported"
    failed=1
fi
if nm -D --undefined-only "$library" | grep -E ' (TfLite|Halite|LiteRt|hl_|gpu_)'; then
    echo "undefined: the library would need a runtime"
    failed=1
fi
readelf -d "$library" | grep -q NODELETE || { echo "not marked nodelete"; failed=1; }
exit $failed
