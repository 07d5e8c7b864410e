#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# halite report of two models: both reports in one page, whose nodes find their partners; and --node-data, whose values are
# those of the page. With Chromium the page is used as a person would.
. "$(dirname "$0")/lib"
needs "$model" "$demo/digits_int8.tflite"

page=$work/pair.html
passes "$halite" report "$model" "$demo/digits_int8.tflite" -o "$page" --runs 2
says "$page"
refuses 2 "--trace and --node-data are of one model" "$halite" report "$model" "$model" -o "$page" --trace "$work/t.json"
refuses 1 "nothing.tflite" "$halite" report "$model" "$work/nothing.tflite" -o "$work/n.html" --runs 0
[ ! -e "$work/n.html" ] || failed "a page of one model and nothing"

if command -v python3 >/dev/null; then
    passes "$halite" report "$model" --runs 2 -o "$work/one.html" --node-data "$work/times.json"
    passes "$halite" report "$model" --runs 0 --gpu --device null -o "$work/null.html" --node-data "$work/places.json"
    # Two outputs of one name, of the same length as it was.
    python3 -c 'import sys; open(sys.argv[2], "wb").write(open(sys.argv[1], "rb").read().replace(b"flat", b"pool"))' \
        "$model" "$work/twice.tflite"
    passes "$halite" report "$work/twice.tflite" --runs 2 -o "$work/twice.html" --node-data "$work/twice.json"
    cat >"$work/check.py" <<'END'
import json, sys
work = sys.argv[1]
def load(name):
    return json.load(open(f"{work}/{name}.json"))
def data(name):
    return json.loads(open(f"{work}/{name}.html").read().split('id="data">')[1].split("</script>")[0])
report = data("one")
graph, main = report["subgraphs"][0], load("times")["main"]
names = [graph["tensors"][node["outputs"][0]]["name"] for node in graph["nodes"]]
assert list(main["results"]) == names, main["results"]
for row in report["times"]["nodes"]:
    value = main["results"][names[row["node"]]]["value"]
    assert abs(value - row["ns"] / 1e3) <= 1e-6 * value, (value, row)
assert [stop["stop"] for stop in main["gradient"]] == [0, 1]
places = load("places")["main"]["results"]
assert list(places) == names and all(place["value"] == "GPU" for place in places.values()), places
assert list(load("twice")["main"]["results"]) == [str(i) if name in ("flat", "pool") else name for i, name in enumerate(names)]
pair = data("pair")
assert pair["pairs"] == [[i, i] for i in range(len(names))] and len(pair["reports"]) == 2
END
    run python3 "$work/check.py" "$work"
    [ $code -eq 0 ] || failed "what the files hold"
fi

if has_browser; then
    # What is clicked in one report is shown in the other and in the table, and a row of the table in both.
    browse --window 1280x900 --window 390x844 --picture report_pair "file://$page" "$(cat <<'JS'
        const soon = async holds => {
            for (let i = 0; i < 600 && !holds(); i++) await new Promise(done => setTimeout(done, 50));
            return holds();
        };
        const inside = [0, 1].map(i => document.querySelectorAll('iframe')[i].contentDocument);
        await soon(() => inside.every(page => page.querySelectorAll('g.node').length === 9));
        const shown = () => inside.map(page => page.querySelector('#details h3')?.textContent);
        const both = name => () => shown().every(title => title === name);
        inside[0].querySelectorAll('g.node')[2].dispatchEvent(new Event('click')); // behind the input
        const there = await soon(both('DEPTHWISE_CONV_2D #1'));
        const row = await soon(() => document.querySelector('tr.chosen')?.textContent.startsWith('11DEPTHWISE_CONV_2D'));
        inside[1].querySelectorAll('g.node')[1].dispatchEvent(new Event('click'));
        const back = await soon(both('CONV_2D #0'));
        document.querySelectorAll('#pairs tbody tr')[6].click();
        const table = await soon(both('SOFTMAX #6'));
        const wide = [document, ...inside].map(page => page.documentElement.scrollWidth - page.documentElement.clientWidth);
        const sums = document.querySelectorAll('#sums tbody tr').length;
        return `${there} ${row} ${back} ${table}, ${Math.max(...wide)} too wide, ${sums} sums, ${document.title}`;
JS
)"
    [ "$(grep -c '^true true true true, 0 too wide, 6 sums, digits.tflite, digits_int8.tflite' "$work/out")" -eq 2 ] &&
        [ ! -s "$work/err" ] || failed "the page of two"
else
    echo "left out: the page in a browser (no Python or no Chromium that starts)"
fi
finish
