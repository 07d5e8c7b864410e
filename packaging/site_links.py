# SPDX-License-Identifier: Apache-2.0
"""site_links.py FOLDER: fits the links of the pages in FOLDER to the site. In: pages as they lie in the tree. Out: links to
README.md of the root lead to index.md; links to what is no page (a folder, a source file) become their text, if the tree has
them, and else stay, so that mkdocs refuses them."""

import os
import re
import sys

LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s#]+)(#[^()\s]*)?\)")
root = os.getcwd()


def main(folder):
    for where, _, names in os.walk(folder):
        here = os.path.relpath(where, folder)
        for name in (name for name in names if name.endswith(".md")):

            def fit(match):
                text, target, anchor = match[1], match[2], match[3] or ""
                if "://" in target or target.startswith("mailto:"):
                    return match[0]
                path = os.path.normpath(os.path.join(here, target))
                if os.path.isfile(os.path.join(folder, path)):
                    return match[0]
                if path == "README.md":
                    return f"[{text}]({os.path.relpath('index.md', here)}{anchor})"
                if os.path.isfile(os.path.join(folder, path, "README.md")):
                    return f"[{text}]({target.rstrip('/')}/README.md{anchor})"
                return text if os.path.exists(os.path.join(root, path)) else match[0]

            page = os.path.join(where, name)
            with open(page, encoding="utf-8") as file:
                old = file.read()
            with open(page, "w", encoding="utf-8") as file:
                file.write(LINK.sub(fit, old))


main(sys.argv[1])
