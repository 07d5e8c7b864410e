#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The page of halite serve in headless Chromium, on a desktop and on a phone: charts of a server that is asked meanwhile,
# nothing wider than the window, an empty console.
. "$(dirname "$0")/lib"
needs "$model"
if "$halite" serve "$model" --host nowhere.invalid 2>&1 | grep -q 'built without libmicrohttpd'; then
    echo "skipped: built without libmicrohttpd"
    exit 77
fi
has_browser || { echo "skipped: no Python or no Chromium that starts"; exit 77; }

"$halite" serve "a <b>=$model" --port 0 --queue 2 >"$work/address" &
server=$!
trap 'kill $server $client; rm -rf "$work"' EXIT
until [ -s "$work/address" ]; do sleep 0.1; done
url=$(head -n 1 "$work/address")

# Requests all the time.
cat >"$work/client.py" <<'END'
import json, sys, time, urllib.request
body = json.dumps({"inputs": [{"name": "image", "datatype": "FP32", "shape": [1, 8, 8, 1], "data": [0] * 64}]}).encode()
while True:
    try:
        urllib.request.urlopen(sys.argv[1] + "/v2/models/a%20%3Cb%3E/infer", body).read()
    except OSError:
        pass
    time.sleep(0.005)
END
python3 "$work/client.py" "$url" &
client=$!

# Inferences, latencies, queue, busy, batch and the server's three charts have two, three or one line each.
browse --window 1280x900 --window 390x844 --picture serve "$url/" "$(cat <<'JS'
    const drawn = path => /L/.test(path.getAttribute('d') || '');
    const lines = () => [...document.querySelectorAll('svg path')].filter(drawn).length;
    const asked = () => /^[1-9][0-9]* answered/.test(document.querySelector('#models p')?.textContent);
    for (let i = 0; i < 600 && !(asked() && lines() >= 10); i++) await new Promise(done => setTimeout(done, 100));
    const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
    return `${document.querySelector('#models h2').textContent}, ${lines()} lines, ${asked() ? 'asked' : 'idle'}, `
        + `${wide} too wide, ${document.querySelector('#facts').textContent}`;
JS
)"
[ "$(grep -cE '^a <b>, 1[0-9] lines, asked, 0 too wide, up for' "$work/out")" -eq 2 ] && [ ! -s "$work/err" ] ||
    failed "the page"
finish
