#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# halite report on every model of ../shared: the page opens on something that can be read.
. "$(dirname "$0")/lib"
needs "$shared/models"
command -v python3 >/dev/null || { echo "skipped: no Python"; exit 77; }
python3 "$here/report_models.py" "$halite" "$shared/models"
