#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# ops_table.sh OP_TYPES [--write]: docs/ops.md, the table of all operators, is what the rows of src/abi/operators.def and what
# the program OP_TYPES finds by trying every operator in every type make it; --write makes it so. The rows' files are there.
types=$(realpath "$1")
cd "$(dirname "$0")/../.." || exit 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for file in $(sed -n 's/^\(OP\|CUSTOM\)(.*, *\(.*\) )$/\2/p' src/abi/operators.def | sort -u); do
    if [ ! -f "src/ops/$file.c" ]; then
        echo "src/abi/operators.def: no src/ops/$file.c"
        exit 1
    fi
done
"$types" >"$work/types" || exit 1
{
    cat <<'END'
# Operators

Made by `./dev docs`; a test checks that it is current. Operators and versions are the rows of `src/abi/operators.def`. Types
are those of models of one node (`tests/support/op_forms.def`) that the CPU's kernels prepare and invoke, and that the GPU
delegate takes; another test checks that they are no fewer than the golden cases run with.

`a x b`: activations of type a with weights of type b. `a -> b`: inputs of type a, outputs of type b. i8, u8 and i16 are
quantized or plain, as the operator has it; i4, u4 and i2 are packed. On the GPU numbers are computed as floats, and half
precision comes in as f16 tensors, or as constants that DEQUANTIZE makes of them; ranks and options are decided node by node,
and a message of the delegate says what stayed on the CPU and why.

| operator | code | versions | CPU | GPU |
|---|---|---|---|---|
END
    # Rows as words: kind, name, code, first version, last version …
    sed -n 's/^\([A-Z_]*\)( *\(.*\) *)$/\1 \2/p' src/abi/operators.def | tr -d '",' | LC_ALL=C awk -v found="$work/types" '
        BEGIN {
            while ((getline row <found) > 0) {
                split(row, part, "\t")
                cpu[part[1]] = part[2]
                gpu[part[1]] = part[3]
            }
        }
        function line(name, code, versions) {
            if (!(name in cpu)) cpu[name] = gpu[name] = "-"
            print "| " name " | " code " | " versions " | " cpu[name] " | " gpu[name] " |"
            all++
            on_cpu += cpu[name] != "-"
            on_gpu += gpu[name] != "-"
        }
        $1 == "OP" { line($2, $3, $4 == $5 ? $4 : $4 " to " $5) }
        $1 == "GAP" { line($2, $3, "-") }
        $1 == "CUSTOM" { line($2, "custom", "1") }
        END { print "\n" all " operators; " on_cpu " on the CPU, " on_gpu " on the GPU." }'
} >"$work/ops.md"

if [ "${2:-}" = --write ]; then
    cp "$work/ops.md" docs/ops.md
elif ! diff -u docs/ops.md "$work/ops.md"; then
    echo "docs/ops.md is not what rows and kernels say: run ./dev docs"
    exit 1
fi
