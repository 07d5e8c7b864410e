#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# halite report: one page that needs nothing else, shows every node, and survives hostile names; the trace beside it. With
# Chromium the page is opened as a person would.
. "$(dirname "$0")/lib"
needs "$model"
. "$here/report_page"

in_browser=true
has_browser || { in_browser=false; echo "left out: pages in a browser (no Python or no Chromium that starts)"; }

# shows COUNT PAGE [WORDS]: the page draws COUNT nodes (inputs and outputs among them), says WORDS, and its script has no
# error.
shows() {
    $in_browser || return 0
    browse --picture "$(basename "$2" .html)" "file://$2" \
        'return `${document.querySelectorAll("#graph g.node").length} nodes, ${document.body.innerText}`'
    [ "$(sed 's/ .*//;q' "$work/out")" -eq "$1" ] || failed "$2 does not draw $1 nodes"
    grep -q "${3-}" "$work/out" || failed "$2 does not say: ${3-}"
    [ ! -s "$work/err" ] || failed "$2: the script fails"
}

# finds WORD PAGE: a person who types WORD and Enter is shown one node, larger with each click on +; the arrow keys go on to
# the next one and back.
finds() {
    $in_browser || return 0
    browse "file://$2" "const word = '$1'; $(cat <<'JS'
        const id = name => document.getElementById(name), seen = () => id('graph').querySelector('g').getAttribute('transform');
        id('search').value = word;
        id('search').dispatchEvent(new Event('input'));
        id('search').dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter' }));
        const before = seen();
        id('larger').click();
        const larger = before !== seen(), name = () => id('details').querySelector('h3').textContent, found = name();
        const press = key => { id('graph').dispatchEvent(new KeyboardEvent('keydown', { key })); return name(); };
        const keys = press('ArrowDown') !== found && press('ArrowUp') === found;
        return `${id('found').textContent}, ${found}, ${larger ? 'zoomed' : 'as before'}, `
            + (keys ? 'with keys' : 'keys do nothing');
JS
)"
    grep -q "^1 of 1, .*$1.*, zoomed, with keys" "$work/out" || failed "$2: looking for $1"
}

# alone PAGE: nothing in it asks a network or another file for anything.
alone() {
    checks=$((checks + 1))
    ! grep -oE '(src|href)="[^"#]*"|@import|url\([^)]*\)|fetch\(|XMLHttpRequest' "$1" >"$work/out" || failed "$1 is not alone"
}

# tells PAGE: a click on the first row of the nodes' table shows that node with its options and its work, and the SVG is a
# drawing with all nodes that stands alone.
tells() {
    $in_browser || return 0
    browse "file://$1" "$(cat <<'JS'
        const id = name => document.getElementById(name);
        id('nodes').querySelector('tbody tr').click();
        const panel = id('details').textContent;
        const svg = new DOMParser().parseFromString(asSvg(), 'image/svg+xml');
        const drawn = svg.querySelectorAll('g.node rect').length, wrong = svg.querySelector('parsererror') !== null;
        const strange = /var\(|color-mix|https?:\/\/(?!www\.w3\.org)/.test(asSvg());
        const says = (pattern, word) => pattern.test(panel) ? word : `no ${word}`;
        return `${says(/CONV_2D #0/, 'node')} ${says(/padding same/, 'options')} `
            + `${says(/multiply-adds, [0-9. kM]+ parameters/, 'work')} ${drawn} of ${graph.vertices.length} `
            + (wrong || strange ? 'badly' : 'well');
JS
)"
    grep -q "^node options work 9 of 9 well$" "$work/out" && [ ! -s "$work/err" ] || failed "$1 tells"
}

page=$work/digits.html
passes "$halite" report "$model" --output "$page" --trace "$work/trace.json" --runs 2
says "$page"
alone "$page"
shows $(($(grep -o '"version":[0-9]*,"inputs"' "$page" | wc -l) + 2)) "$page"
finds SOFTMAX "$page"
tells "$page"
! $in_browser || opens "$page"
# Constants through DEQUANTIZE, as in models of halves, are parts of what reads them; these opened on an empty sheet.
for name in face_landmark_float16 hand_landmark_lite_float16; do
    [ -e "$shared/models/mediapipe/$name.tflite" ] || continue
    passes "$halite" report "$shared/models/mediapipe/$name.tflite" --runs 0 -o "$work/$name.tflite.html"
    ! $in_browser || opens "$work/$name.tflite.html"
done
if command -v python3 >/dev/null; then
    run python3 -c '
import json, sys
page = open(sys.argv[1]).read()
data = json.loads(page.split("id=\"data\">")[1].split("</script>")[0])
nodes = data["subgraphs"][0]["nodes"]
assert [t["node"] for t in data["times"]["nodes"]] == list(range(len(nodes)))
assert data["times"]["runs"] == 2 and data["times"]["total_ns"] > 0
events = json.load(open(sys.argv[2]))["traceEvents"]
assert [e["name"] for e in events] == [n["operator"] for n in nodes]
for before, after in zip(events, events[1:]):
    assert abs(before["ts"] + before["dur"] - after["ts"]) < 1e-3
' "$page" "$work/trace.json"
    [ $code -eq 0 ] || failed "the data of the page or the trace"

    # A PAD that the convolution behind it computes says so.
    if python3 -c 'import numpy' 2>/dev/null; then
        run env PYTHONDONTWRITEBYTECODE=1 python3 "$here/padded_model.py" "$demo" "$work/padded.tflite"
        passes "$halite" report "$work/padded.tflite" -o "$work/padded.html" --runs 2
        run python3 -c '
import json, sys
data = json.loads(open(sys.argv[1]).read().split("id=\"data\">")[1].split("</script>")[0])
assert [r.get("run_by") for r in data["times"]["nodes"]] == [1, None]
' "$work/padded.html"
        [ $code -eq 0 ] || failed "which node computes another one"
        ! $in_browser || browse "file://$work/padded.html" 'const id = name => document.getElementById(name);
            id("nodes").querySelector("tbody tr").click();
            const by = id("details").querySelector("p a"), of = by.parentNode.textContent;
            by.click();
            return `${of}; ${id("details").querySelector("h3").textContent}`'
        ! $in_browser || grep -q "^computed by CONV_2D #1, which has its time; CONV_2D #1$" "$work/out" ||
            failed "the page does not say which node computes another one"
    fi

    # With no GPU at all: what would run there.
    passes "$halite" report --gpu --device null "$model" -o "$work/null.html"
    run python3 -c '
import json, sys
data = json.loads(open(sys.argv[1]).read().split("id=\"data\">")[1].split("</script>")[0])
rows = data["placement"]["subgraphs"][0]
assert [r["node"] for r in rows] == list(range(len(data["subgraphs"][0]["nodes"]))) and all(r["where"] == "GPU" for r in rows)
assert "times" not in data
' "$work/null.html"
    [ $code -eq 0 ] || failed "the placement on no GPU"
    shows 9 "$work/null.html"
    # A GPU is asked for and none is here: that is said, and the times are those of the CPU.
    run env HALITE_DEVICE= HALITE_OPENCL_LIBRARY=/nowhere/a HALITE_VULKAN_LIBRARY=/nowhere/b HALITE_GLES_LIBRARY=/nowhere/c \
        "$halite" report --gpu "$model" -o "$work/none.html" --runs 2 --trace "$work/none.json"
    [ $code -eq 0 ] && [ "$(wc -l <"$work/err")" -eq 1 ] && grep -q '^halite report: .*HALITE_OPENCL_LIBRARY' "$work/err" ||
        failed "no word that there is no GPU"
    run python3 -c '
import json, sys
data = json.loads(open(sys.argv[1]).read().split("id=\"data\">")[1].split("</script>")[0])
assert data["placement"]["assumed"] and data["times"]["runs"] == 2 and data["times"]["total_ns"] > 0
assert all(r["where"] == "CPU" and r["ns"] > 0 for r in data["times"]["nodes"]) and data["times"]["nodes"]
assert {e["tid"] for e in json.load(open(sys.argv[2]))["traceEvents"]} == {"CPU"}
' "$work/none.html" "$work/none.json"
    [ $code -eq 0 ] || failed "the times of the CPU where there is no GPU"
    shows 9 "$work/none.html" 'a run on the CPU'
    if has_opencl; then
        passes "$halite" report --gpu --device opencl:0 "$model" -o "$work/gpu.html" --runs 2 --trace "$work/gpu.json"
        run python3 -c '
import json, sys
data = json.loads(open(sys.argv[1]).read().split("id=\"data\">")[1].split("</script>")[0])
on_gpu = [r["node"] for r in data["times"]["nodes"] if r["where"] == "GPU" and r["node"] >= 0]
assert 0 in on_gpu and all(r["ns"] > 0 for r in data["times"]["nodes"])
assert {e["tid"] for e in json.load(open(sys.argv[2]))["traceEvents"]} == {"CPU", "GPU"}
' "$work/gpu.html" "$work/gpu.json"
        [ $code -eq 0 ] || failed "the times on a GPU"
        shows 9 "$work/gpu.html"
    else
        echo "left out: times on a GPU (no OpenCL device)"
    fi

    # Names that would end the script element, of the same length as those that they replace.
    python3 -c '
import sys
model = open(sys.argv[1], "rb").read()
assert b"probabilities" in model
open(sys.argv[2], "wb").write(model.replace(b"probabilities", b"</script><b>x"))
' "$model" "$work/hostile.tflite"
    passes "$halite" report "$work/hostile.tflite" -o "$work/hostile.html" --runs 0
    ! grep -q '</script><b>' "$work/hostile.html" || failed "a name ends the script"
    grep -q 'u003c/script>' "$work/hostile.html" || failed "a name is lost"
fi

# A thousand nodes, with a connection over all of them.
python=$demo/.venv/bin/python
[ -x "$python" ] || python=python3
if "$python" -c 'import numpy' 2>/dev/null; then
    "$python" -c '
import sys
sys.path.insert(0, sys.argv[1])
from tflite_writer import Model
model = Model("a long chain")
first = last = model.tensor("x", "float32", [1, 4])
for i in range(999):
    y = model.tensor("y%d" % i, "float32", [1, 4])
    model.op(101, 1, [last], [y])
    last = y
sum = model.tensor("sum", "float32", [1, 4])
model.op(0, 1, [first, last], [sum])
open(sys.argv[2], "wb").write(model.write({"x": first}, {"sum": sum}))
' "$demo" "$work/long.tflite" || failed "the long model"
    passes "$halite" report "$work/long.tflite" -o "$work/long.html" --runs 1
    shows 1002 "$work/long.html"
    finds '#500' "$work/long.html"
else
    echo "left out: a thousand nodes (no numpy)"
fi

# A model with an operator that does not run here is shown all the same; what cannot be read or written is an error.
refuses 1 "cannot be written" "$halite" report "$model" -o "$work/no/such/folder.html" --runs 0
refuses 1 "nothing.tflite" "$halite" report "$work/nothing.tflite" -o "$work/n.html"
[ ! -e "$work/n.html" ] || failed "a page of nothing"
finish
