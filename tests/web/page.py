# SPDX-License-Identifier: Apache-2.0
"""page.py PAGE: build/wasm/bin/halite.html in headless Chromium. The demo's picture when it opens; the demo's digits, another
model with its classes, files that are none of these, dropped as a person does. Nothing is fetched, the console stays empty.
Ends with 77 where no Chromium starts."""

import base64
import json
import os
import re
import sys

root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
sys.path.insert(0, os.path.join(root, "tests/support"))
from browser import Absent, Browser  # noqa: E402

DEMO = os.path.join(root, "demo")
failures = 0


def check(holds, what):
    global failures
    if not holds:
        failures += 1
        print(f"FAILED: {what}")


def demo(name):
    with open(os.path.join(DEMO, name), "rb") as file:
        return file.read()


class Page:
    def __init__(self, browser, path):
        self.browser = browser
        browser.open(f"file://{os.path.abspath(path)}")
        self.settle()

    def settle(self):
        self.browser.wait("document.body.dataset.state === 'done'")

    def drop(self, *files):
        listed = json.dumps([[name, base64.b64encode(content).decode()] for name, content in files])
        self.browser.run(f"""const carried = new DataTransfer();
            for (const [name, content] of {listed})
              carried.items.add(new File([Uint8Array.from(atob(content), each => each.charCodeAt(0))], name));
            const event = new DragEvent('drop', {{ dataTransfer: carried, bubbles: true, cancelable: true }});
            document.body.dispatchEvent(event);""")
        self.settle()

    def text(self, name):
        return self.browser.run(f"return document.getElementById('{name}').textContent")

    def error(self):
        """What is shown of it."""
        return self.text("error") if self.browser.run("return !document.getElementById('error').hidden") else ""

    def classes(self):
        """Rows of class, name and per cent."""
        rows = self.browser.run("""return [...document.querySelectorAll('#classes tr')].map(
            row => [+row.dataset.class, row.cells[0].textContent, parseFloat(row.cells[1].textContent)])""")
        return [tuple(row) for row in rows]


def check_result(page, wanted, what):
    rows = page.classes()
    check(page.error() == "", f"{what}: {page.error()}")
    check(len(rows) == 5, f"{what}: {len(rows)} classes are shown, not five")
    check(rows and rows[0][:2] == wanted, f"{what}: {rows}, not {wanted} first")
    check([row[2] for row in rows] == sorted((row[2] for row in rows), reverse=True), f"{what}: not in order: {rows}")
    check(0 < sum(row[2] for row in rows) <= 100.5, f"{what}: no shares of a whole: {rows}")
    check(re.search(r"^One run [0-9.]+ ms \(mean of [1-9][0-9]*\), the first [0-9.]+ ms", page.text("times")),
          f"{what}: no times: {page.text('times')}")


def check_page(browser, path):
    names = demo("digits.txt").decode().split()
    page = Page(browser, path)
    check_result(page, (3, "three"), "when it opens")
    browser.picture("page")
    for digit in range(10):
        page.drop((f"{digit}.png", demo(f"pictures/{digit}.png")))
        check_result(page, (digit, names[digit]), f"{digit}.png")
    # A model of floats, for pictures of another size; the order in which files are dropped does not matter.
    page.drop(("seven.png", demo("seven.png")), ("digits.txt", demo("digits.txt")), ("digits.tflite", demo("digits.tflite")))
    check_result(page, (7, "seven"), "another model")
    check("digits.tflite, 10 classes" in page.text("about"), f"about: {page.text('about')}")
    page.drop(("two.png", demo("two.png")))
    check_result(page, (2, "two"), "its second picture")
    page.drop(("none.png", b"no picture"))
    check(page.error() == "this picture cannot be read", f"no picture: {page.error()}")
    page.drop(("detector.tflite", demo("objects_int8.tflite")))
    check("no list of scores" in page.error() and not page.classes(), f"a detector: {page.error()}")
    page.drop(("broken.tflite", demo("digits.tflite")[:5000]))
    check(page.error() and not page.classes(), "a broken model")
    page.drop(("two.png", demo("two.png")))
    check(page.error() == "there is no model", f"after a broken model: {page.error()}")
    page.drop(("digits.tflite", demo("digits.tflite")))
    check_result(page, (2, "class 2"), "a model without names")
    fetched = browser.run("return performance.getEntriesByType('resource').map(each => each.name.slice(0, 80))")
    check(all(name.startswith("data:") for name in fetched), f"fetched: {fetched}")
    check(not browser.console, f"the console: {[line[:200] for line in browser.console]}")


def main():
    try:
        browser = Browser()
    except Absent as why:
        print(f"skipped: {why}")
        return 77
    with browser:
        for width, height in ((1280, 800), (390, 800)):
            browser.window(width, height)
            check_page(browser, sys.argv[1])
            check(browser.run("return document.documentElement.scrollWidth <= innerWidth"), f"wider than {width}")
    print("all well" if failures == 0 else f"{failures} failed")
    return failures != 0


if __name__ == "__main__":
    sys.exit(main())
