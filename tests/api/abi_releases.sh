#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# abi_releases.sh: docs/compatibility.md has a line for each older form of a struct that abi_releases.c names.
here=$(dirname "$0")
document=$here/../../docs/compatibility.md
failed=0
rows=$(sed -n 's/^GREW(\([A-Za-z]*\), *\([0-9]*\), .*/\1 \2/p' "$here/abi_releases.c")
rows="$rows
$(sed -n 's/^HOLDS(sizeof(struct xnnpack[a-z0-9_]*) == \([0-9]*\));/TfLiteXNNPackDelegateOptions \1/p' "$here/abi_releases.c")"
if [ "$(echo "$rows" | wc -l)" -lt 9 ]; then
    echo "only $(echo "$rows" | wc -l) rows: this test cannot read them any more"
    exit 1
fi
echo "$rows" | {
    while read -r struct bytes; do
        grep -q "^| \`$struct\` | $bytes |" "$document" && continue
        echo "docs/compatibility.md lacks | \`$struct\` | $bytes |"
        failed=1
    done
    exit $failed
}
