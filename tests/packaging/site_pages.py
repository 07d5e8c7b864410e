# SPDX-License-Identifier: Apache-2.0
"""site_pages.py FOLDER: the site in FOLDER in headless Chromium, on a desktop and on a phone. No page is wider than the window,
the navigation leads where it says, the search finds, and the console stays empty."""

import functools
import http.server
import pathlib
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "support"))
from browser import Absent, Browser  # noqa: E402

failures = []


def check(holds, what):
    if not holds:
        failures.append(what)
        print(f"FAILED: {what}")


class Files(http.server.SimpleHTTPRequestHandler):
    def do_GET(self):
        if self.path == "/favicon.ico":  # doxygen's pages name no picture, so that browsers ask for this one, late
            self.send_response(204)
            self.end_headers()
        else:
            super().do_GET()

    def log_message(self, *_):
        pass


def link(title):
    links = "[...document.querySelectorAll('.md-nav--primary a.md-nav__link')]"
    return f"{links}.find(link => link.innerText.trim() === '{title}') || null"


def pages(browser, site, folder, window):
    """Every page on its own."""
    for page in sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.html")):
        if page.startswith("reference/") and page != "reference/index.html":  # doxygen's, all of one kind
            continue
        browser.open(f"{site}/{page}")
        wide = browser.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
        check(wide <= 0, f"{page} at {window}: {wide} pixels wider than the window")
        check(browser.run("return document.querySelector('h1, .title') !== null"), f"{page} at {window}: no title")
        check(not browser.console, f"{page} at {window}: the console says {browser.console}")
        browser.console.clear()


def journey(browser, site, phone, window):
    """From the first page by the navigation to the operators, and by the search to what the word stands on."""
    browser.open(f"{site}/index.html")
    if phone:
        browser.click("document.querySelector('label.md-header__button[for=__drawer]')")
        browser.click("[...document.querySelectorAll('.md-nav--primary label.md-nav__link')]"
                      ".find(label => label.innerText.trim() === 'Reference') || null")
    browser.follow(link("Operators"))
    where = browser.run("return [location.pathname, document.querySelector('h1').innerText]")
    check(where[0] == "/docs/ops.html" and "perators" in where[1], f"navigation at {window}: leads to {where}")
    if phone:
        browser.click("document.querySelector('label.md-header__button[for=__search]')")
    else:
        browser.click("document.querySelector('input.md-search__input')")
    browser.wait("document.activeElement.matches('input.md-search__input')")
    browser.type("max_delegated_partitions")
    browser.follow("document.querySelector('a.md-search-result__link')")
    found = browser.run("return document.querySelector('article').innerText.includes('max_delegated_partitions')")
    check(found, f"search at {window}: leads to {browser.run('return location.href')}, which has not the word")
    check(not browser.console, f"on the way at {window}: the console says {browser.console}")
    browser.console.clear()


def main(folder):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Files, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    site = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        browser = Browser()
    except Absent as why:
        print(f"left out: the pages in a browser ({why})")
        return 0
    with browser:
        for width, height in ((1280, 900), (390, 844)):
            window = f"{width}x{height}"
            browser.window(width, height)
            pages(browser, site, pathlib.Path(folder), window)
            journey(browser, site, width < 700, window)
            browser.picture("site")
    return 1 if failures else 0


sys.exit(main(sys.argv[1]))
