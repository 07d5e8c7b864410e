#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# segments.sh FOLDER...: every shared library in the folders has segments that are aligned to 16 KiB, as systems with such pages
# need them. Reads the program headers.
command -v readelf >/dev/null || { echo "skipped: no readelf (binutils)"; exit 77; }
libraries=0
failed=0
for folder in "$@"; do
    for file in "$folder"/*.so; do
        [ -f "$file" ] && [ ! -L "$file" ] || continue
        libraries=$((libraries + 1))
        for alignment in $(readelf -lW "$file" | awk '$1 == "LOAD" { print $NF }'); do
            [ $((alignment)) -ge 16384 ] && [ $((alignment % 16384)) -eq 0 ] && continue
            echo "$file has a segment that is aligned to $alignment"
            failed=1
        done
    done
done
echo "$libraries libraries"
[ $libraries -gt 0 ] && [ $failed -eq 0 ]
