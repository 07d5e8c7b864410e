#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The two houses: the runtime (src/model, runtime, ops, fast) and the delegates (src/gpu, src/delegates) know each other only
# through the public headers; src/base knows neither.
cd "$(dirname "$0")/../.." || exit 2
failed=0

# refuse FOLDERS HEADERS: no file of FOLDERS includes from the folders HEADERS (alternatives of a regular expression).
refuse() {
    for folder in $1; do
        [ -d "src/$folder" ] || continue
        if grep -rnE "#[[:space:]]*(include|import)[[:space:]]*[\"<](\.\./|src/)*($2)/" "src/$folder"; then
            echo "src/$folder must not include from: $2"
            failed=1
        fi
    done
}
refuse 'gpu delegates' 'runtime|ops|model|fast'
refuse 'model runtime ops fast' 'gpu|delegates'
refuse 'base' 'model|runtime|ops|fast|gpu|delegates'
exit $failed
