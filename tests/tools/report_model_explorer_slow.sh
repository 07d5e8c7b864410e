#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What --node-data writes, in Model Explorer itself (from Python's packages), in Chromium: each node of its table has the value
# that the file has for it.
. "$(dirname "$0")/lib"
needs "$model"
has_browser || { echo "skipped: no Python or no Chromium that starts"; exit 77; }
python3 -m venv "$work/venv" && "$work/venv/bin/pip" install --quiet --timeout 20 --retries 1 ai-edge-model-explorer \
    >"$work/log" 2>&1 || { echo "skipped: pip cannot install ai-edge-model-explorer"; exit 77; }
passes "$halite" report "$model" --runs 20 -o "$work/page.html" --node-data "$work/times.json"
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("localhost", 0)); print(s.getsockname()[1])')
"$work/venv/bin/model-explorer" --no_open_in_browser --port "$port" --node_data_paths "$work/times.json" "$model" \
    >"$work/server" 2>&1 &
server=$!
trap 'kill $server; rm -rf "$work"' EXIT
for _ in $(seq 600); do
    ! grep -q '^http' "$work/server" || break
    sleep 0.2
done
# Model Explorer's own console is its own business.
browse "$(grep '^http' "$work/server")" "$(cat <<'JS'
    const table = () => document.body.innerText.split('\nNode data\n')[1] || '';
    for (let i = 0; i < 1200 && !/softmax\s+[0-9]/.test(table()); i++) await new Promise(done => setTimeout(done, 100));
    return table();
JS
)"
cp "$work/out" "$work/table"
run python3 - "$work/times.json" "$work/table" <<'END'
import json, re, sys
wanted = [result["value"] for result in json.load(open(sys.argv[1]))["main"]["results"].values()]
shown = [float(number) for number in re.findall(r"^\d+\s+[a-z_0-9]+\s+([0-9.e-]+)\s*$", open(sys.argv[2]).read(), re.M)]
assert len(wanted) == 7 and shown == wanted, (shown, wanted, open(sys.argv[2]).read())
END
[ $code -eq 0 ] || failed "the values in Model Explorer"
finish
