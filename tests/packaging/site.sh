#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# site.sh: the documents' site is built, has a page for each document and the reference of the headers, fetches nothing from
# elsewhere, works in a browser, and is refused where a link leads nowhere.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
git ls-files -co --exclude-standard | tar -c --ignore-failed-read -T - 2>/dev/null | tar -x -C "$work"
git init -q "$work"
export HALITE_MKDOCS_VENV="$PWD/build/site/venv" NO_MKDOCS_2_WARNING=1
sh "$work/packaging/site.sh"
html=$work/build/site/html
for page in docs/*.md; do
    [ -s "$html/${page%.md}.html" ] || { echo "no page for $page"; exit 1; }
done
if command -v doxygen >/dev/null; then
    grep -rq 'TfLiteInterpreterOptionsSetNumThreads' "$html/reference" || { echo "no reference of the headers"; exit 1; }
fi
if grep -rlE '<(script|link)[^>]*(src|href)="https?://[^"]*\.(js|css)' "$html" --include='*.html'; then
    echo "these pages fetch scripts or styles from elsewhere"
    exit 1
fi
python3 tests/packaging/site_pages.py "$html"
echo '[nowhere](docs/no_such_page.md)' >>"$work/README.md"
if sh "$work/packaging/site.sh" >"$work/log" 2>&1; then
    echo "a link to nowhere was not refused"
    exit 1
fi
grep -q no_such_page "$work/log"
