#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The page of halite serve in headless Chromium, on a desktop and on a phone: charts of a server that is asked meanwhile,
# nothing wider than the window, an empty console.
. "$(dirname "$0")/lib"
needs "$model"
. "$here/report_page"
if "$halite" serve "$model" --host nowhere.invalid 2>&1 | grep -q 'built without libmicrohttpd'; then
    echo "skipped: built without libmicrohttpd"
    exit 77
fi
[ -n "$chromium" ] || { echo "skipped: no chromium"; exit 77; }
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
echo '<p>salt</p>' >"$work/salt.html"
browse --dump-dom "file://$work/salt.html"
grep -q '<p>salt</p>' "$work/out" || { echo "skipped: no chromium that starts"; exit 77; }

"$halite" serve "a <b>=$model" --port 0 --queue 2 >"$work/address" &
server=$!
trap 'kill $server $front; rm -rf "$work"' EXIT
until [ -s "$work/address" ]; do sleep 0.1; done
url=$(head -n 1 "$work/address")

# Requests all the time, and in front of the server one that adds a line to the page which says what a person would see.
cat >"$work/front.py" <<'END'
import http.server, json, sys, threading, time, urllib.request
url = sys.argv[1]
body = json.dumps({"inputs": [{"name": "image", "datatype": "FP32", "shape": [1, 8, 8, 1], "data": [0] * 64}]}).encode()
def ask():
    while True:
        try:
            urllib.request.urlopen(url + "/v2/models/a%20%3Cb%3E/infer", body).read()
        except OSError:
            pass
        time.sleep(0.005)
look = b"""<script>setTimeout(() => {
    const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
    const lines = [...document.querySelectorAll('svg path')].filter(path => /L/.test(path.getAttribute('d') || '')).length;
    const asked = /^[1-9][0-9]* answered/.test(document.querySelector('#models p').textContent);
    document.body.append(`seen: ${document.querySelector('#models h2').textContent}, ${lines} lines, `
        + `${asked ? 'asked' : 'idle'}, ${wide} too wide, ${document.querySelector('#facts').textContent}`);
}, 6000)</script>"""
class Front(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        with urllib.request.urlopen(url + self.path) as answer:
            content = answer.read() + (look if self.path == "/" else b"")
            self.send_response(200)
            for name in ("Content-Type", "Content-Security-Policy"):
                if answer.headers[name]: self.send_header(name, answer.headers[name])
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
    def log_message(self, *_): pass
front = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Front)
print(front.server_address[1], flush=True)
threading.Thread(target=ask, daemon=True).start()
front.serve_forever()
END
python3 "$work/front.py" "$url" >"$work/front" &
front=$!
until [ -s "$work/front" ]; do sleep 0.1; done
for window in 1280,900 500,800; do
    browse --enable-logging=stderr --dump-dom "http://127.0.0.1:$(cat "$work/front")/"
    # Inferences, latencies, queue, busy, batch and the server's three have two, three or one line each.
    grep -qE 'seen: a &lt;b&gt;, 1[0-9] lines, asked, 0 too wide, up for' "$work/out" ||
        { grep -o 'seen: [^/]*' "$work/out" >"$work/seen"; mv "$work/seen" "$work/out"; : >"$work/err"
          failed "the page at $window"; }
    ! grep CONSOLE "$work/err" >"$work/out" || { : >"$work/err"; failed "the console at $window is not empty"; }
    if [ -n "${HALITE_SCREENSHOTS:-}" ]; then
        mkdir -p "$HALITE_SCREENSHOTS"
        browse --screenshot="$HALITE_SCREENSHOTS/serve_$window.png" "http://127.0.0.1:$(cat "$work/front")/"
    fi
done
finish
