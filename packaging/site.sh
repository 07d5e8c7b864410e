#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# site.sh: the documents as a site in build/site/html, made by mkdocs with a page for each of them and, where doxygen is, the
# reference of the public headers. A link to a page or heading that is not there ends it. Run it as `./dev site`.
set -eu
cd "$(dirname "$0")/.."
out=$PWD/build/site
# takes COMMAND: it is a mkdocs that checks links to headings (1.6 and later; Debian 12 has 1.4), with the theme.
takes() {
    "$1" --version 2>/dev/null | grep -qE 'version (1\.([6-9]|[1-9][0-9])|[2-9])' && "$1" build --help | grep -q material
}

# HALITE_MKDOCS_VENV: the environment that pip fills where the system has none.
venv=${HALITE_MKDOCS_VENV:-$out/venv}
mkdocs=mkdocs
takes $mkdocs || mkdocs=$venv/bin/mkdocs
if ! takes "$mkdocs"; then
    python3 -m venv "$venv" && "$venv/bin/pip" install --quiet mkdocs-material || {
        echo "site: skipped, pip cannot install mkdocs-material" >&2
        exit 77
    }
fi
rm -rf "$out/pages" "$out/html"
mkdir -p "$out/pages"
git ls-files -co --exclude-standard -- '*.md' '*.png' | grep -vE '^tests/' | while read -r page; do
    mkdir -p "$out/pages/$(dirname "$page")"
    cp "$page" "$out/pages/$page"
done
# A drawing in Mermaid's words would need a script from elsewhere.
sed '/^```mermaid$/,/^```$/d' "$out/pages/README.md" >"$out/pages/index.md"
rm "$out/pages/README.md"
# In the tree a link may lead to a folder or a file of source; on the site it is the name alone.
python3 packaging/site_links.py "$out/pages"
{
    echo '# Reference'
    echo
    if command -v doxygen >/dev/null; then
        echo 'Every function and field of the [public headers](reference/index.html).'
    else
        echo 'The public headers are below `include/`; this site was built without doxygen.'
    fi
} >"$out/pages/reference.md"
if command -v doxygen >/dev/null; then
    mkdir -p "$out/pages/reference"
    printf '%s\n' PROJECT_NAME=Halite INPUT=include/halite \
        INPUT+=include/tensorflow/lite/c INPUT+=include/tensorflow/lite/core/c \
        'FILE_PATTERNS=*.h' STRIP_FROM_PATH=include EXTRACT_ALL=YES OPTIMIZE_OUTPUT_FOR_C=YES JAVADOC_AUTOBRIEF=YES QUIET=YES \
        WARNINGS=NO GENERATE_LATEX=NO HAVE_DOT=NO MACRO_EXPANSION=YES EXPAND_ONLY_PREDEF=YES 'PREDEFINED=TFL_CAPI_EXPORT=' \
        INPUT_FILTER="sh -c 'sed \"s,^\\( *\\)// ,\\1/// ,\" \"\$0\"'" OUTPUT_DIRECTORY="$out/pages" HTML_OUTPUT=reference \
        >"$out/Doxyfile"
    doxygen "$out/Doxyfile" >"$out/doxygen.log" 2>&1 || {
        tail -5 "$out/doxygen.log"
        exit 1
    }
fi
"$mkdocs" build --strict --config-file packaging/mkdocs.yml >"$out/log" 2>&1 || {
    grep -E 'WARNING|ERROR|Aborted' "$out/log" || cat "$out/log"
    exit 1
}
echo "site: $(find "$out/html" -name '*.html' | wc -l) pages in build/site/html"
