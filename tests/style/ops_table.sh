#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# ops_table.sh [--write]: docs/ops.md, the table of all operators, is what the rows of src/ops/ops.def and src/gpu/ops/ops.def
# make it; --write makes it so.
cd "$(dirname "$0")/../.." || exit 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Rows as words: kind, name, code, first version, last version …
rows() {
    sed -n 's/^\([A-Z_]*\)( *\(.*\) *)$/\1 \2/p' "$1" | tr -d '",'
}
{
    cat <<'END'
# Operators

Made from `src/ops/ops.def` and `src/gpu/ops/ops.def` by `./dev docs`; a test checks that it is current.

CPU: the versions of the operator that run. GPU: the delegate has a kernel; which types, ranks and options it takes is decided
node by node, and a message of the delegate says what stayed on the CPU and why.

| operator | code | CPU | GPU |
|---|---|---|---|
END
    { rows src/gpu/ops/ops.def; rows src/ops/ops.def; } | LC_ALL=C awk '
        function line(name, code, cpu) {
            print "| " name " | " code " | " cpu " | " (name in gpu ? "yes" : "-") " |"
            all++
            if (cpu != "-") on_cpu++
            if (name in gpu) on_gpu++
        }
        $1 == "GPU_OP" || $1 == "GPU_CUSTOM" { gpu[$2]; next }
        $1 == "OP" { line($2, $3, $4 == $5 ? $4 : $4 " to " $5) }
        $1 == "GAP" { line($2, $3, "-") }
        $1 == "CUSTOM" { line($2, "custom", "yes") }
        END { print "\n" all " operators; " on_cpu " on the CPU, " on_gpu " on the GPU." }'
} >"$work/ops.md"

if [ "${1:-}" = --write ]; then
    cp "$work/ops.md" docs/ops.md
elif ! diff -u docs/ops.md "$work/ops.md"; then
    echo "docs/ops.md is not what the rows say: run ./dev docs"
    exit 1
fi
