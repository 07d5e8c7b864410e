# SPDX-License-Identifier: Apache-2.0
"""Pages in headless Chromium, as a person would use them: in a window of a given size, with a mouse and keys, and an eye on the
console. For Python tests the class Browser; for tests in shell a command (`browse` in tests/tools/lib):

    browser.py [--window WIDTHxHEIGHT]... [--picture NAME] URL [SCRIPT]

opens URL in each window, runs SCRIPT there (the body of an async function of JavaScript) and prints what it returns, a line for
each window; what the console had to say goes to standard error. It ends with 77 where no Chromium starts, and with 1 where the
script throws. A window narrower than 700 is a phone's. HALITE_SCREENSHOTS names a folder for the pictures."""

import argparse
import base64
import json
import os
import queue
import shutil
import subprocess
import sys
import tempfile
import threading
import time

DEADLINE = 120  # seconds for any one thing; a busy machine is slow, and what never comes must end


class Absent(Exception):
    """No Chromium is here, or it does not start (a container may forbid it)."""


def _messages(stream, into):
    rest = b""
    while part := os.read(stream.fileno(), 1 << 16):
        *whole, rest = (rest + part).split(b"\0")
        for message in whole:
            into.put(json.loads(message))
    into.put(None)


class Browser:
    """One page. `console` holds a line for each message, error and failed request since it was last cleared."""

    def __init__(self):
        names = ["chromium", "chromium-browser", "google-chrome"]
        program = next((found for found in map(shutil.which, names) if found), None)
        if program is None:
            raise Absent("no chromium")
        self.console, self._inbox, self._last, self._events, self._size = [], queue.Queue(), 0, [], ""
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        # The protocol of its developers' tools goes through descriptors 3 and 4.
        self._process = subprocess.Popen(
            ["sh", "-c", 'exec "$@" 3<&0 4>&1 0</dev/null 1>&2', "sh", program, "--headless", "--no-sandbox", "--disable-gpu",
             "--disable-dev-shm-usage", "--remote-debugging-pipe", f"--user-data-dir={self._profile.name}", "about:blank"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        threading.Thread(target=_messages, args=(self._process.stdout, self._inbox), daemon=True).start()
        self._session = None
        try:
            target = self._call("Target.createTarget", url="about:blank")["targetId"]
            self._session = self._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        except (OSError, RuntimeError) as error:
            self.close()
            raise Absent("no chromium that starts") from error
        for domain in ("Page", "Runtime", "Log"):
            self._call(f"{domain}.enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self._process.kill()
        self._process.wait()
        self._profile.cleanup()

    def _receive(self, until):
        try:
            message = self._inbox.get(timeout=max(0, until - time.monotonic()))
        except queue.Empty:
            raise RuntimeError("chromium does not answer") from None
        if message is None:
            raise RuntimeError("chromium has ended")
        method, about = message.get("method"), message.get("params", {})
        if method == "Runtime.consoleAPICalled":
            words = [str(word.get("value", word.get("description", ""))) for word in about["args"]]
            self.console.append(f"{about['type']}: {' '.join(words)}")
        elif method == "Runtime.exceptionThrown":
            details = about["exceptionDetails"]
            self.console.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Log.entryAdded":
            self.console.append(f"{about['entry']['text']} {about['entry'].get('url', '')}")
        elif method == "Page.javascriptDialogOpening":
            raise RuntimeError(f"the page asks: {about['message']}")
        return message

    def _call(self, method, **params):
        self._last += 1
        message = {"id": self._last, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        self._process.stdin.write(json.dumps(message).encode() + b"\0")
        self._process.stdin.flush()
        until = time.monotonic() + DEADLINE
        while True:
            answer = self._receive(until)
            if answer.get("id") == self._last:
                break
            self._events.append(answer.get("method"))
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def _loaded(self):
        until = time.monotonic() + DEADLINE
        while "Page.loadEventFired" not in self._events:
            self._events.append(self._receive(until).get("method"))
        self._events.clear()

    def window(self, width, height):
        phone, self._size = width < 700, f"{width}x{height}"
        self._call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=phone)
        self._call("Emulation.setTouchEmulationEnabled", enabled=phone)

    def open(self, url):
        """Ends when the page and all that it asks for at once is there."""
        self._events.clear()
        wrong = self._call("Page.navigate", url=url).get("errorText")
        if wrong:
            raise RuntimeError(f"{url}: {wrong}")
        self._loaded()

    def run(self, script):
        """What the body of an async function returns in the page."""
        answer = self._call("Runtime.evaluate", expression=f"(async () => {{{script}\n}})()", awaitPromise=True,
                            returnByValue=True, userGesture=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise RuntimeError(details.get("exception", {}).get("description", details["text"]))
        return answer["result"].get("value")

    def wait(self, condition):
        """Until the expression of JavaScript holds; the value that it has then."""
        until = time.monotonic() + DEADLINE
        while not (value := self.run(f"return {condition}")):
            if time.monotonic() > until:
                raise RuntimeError(f"this never comes: {condition}")
            time.sleep(0.05)
        return value

    def click(self, element):
        """Presses the mouse on what the expression gives, where a person would see it; what lies on top of it gets
        the click."""
        self.wait(f"({element}) !== null")
        # What moves has to come to rest first, and what lies below the window's edge to be scrolled to.
        x, y = self.run(f"""const made = {element};
            const rest = async () => {{
                for (let before = made.getBoundingClientRect(), now; ; before = now) {{
                    await new Promise(done => setTimeout(done, 100));
                    now = made.getBoundingClientRect();
                    if (now.width > 0 && now.x === before.x && now.y === before.y) return now;
                }}
            }};
            let box = await rest();
            if (box.y < 0 || box.bottom > innerHeight) {{
                made.scrollIntoView({{ block: 'center', behavior: 'instant' }});
                box = await rest();
            }}
            return [box.x + box.width / 2, box.y + box.height / 2];""")
        for kind in ("mousePressed", "mouseReleased"):
            self._call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def follow(self, element):
        """Clicks on a link, and ends when its page is there."""
        self._events.clear()
        self.click(element)
        self._loaded()

    def type(self, text):
        self._call("Input.insertText", text=text)

    def picture(self, name):
        """What is in the window now, as NAME_WIDTHxHEIGHT.png in the folder of pictures; nothing where none is named."""
        folder = os.environ.get("HALITE_SCREENSHOTS")
        if folder:
            os.makedirs(folder, exist_ok=True)
            data = self._call("Page.captureScreenshot", format="png")["data"]
            with open(f"{folder}/{name}_{self._size}.png", "wb") as file:
                file.write(base64.b64decode(data))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--window", action="append")
    parser.add_argument("--picture")
    parser.add_argument("url")
    parser.add_argument("script", nargs="?", default="")
    given = parser.parse_args()
    try:
        browser = Browser()
    except Absent as why:
        print(why, file=sys.stderr)
        return 77
    with browser:
        try:
            for window in given.window or ["1400x1600"]:
                browser.window(*map(int, window.split("x")))
                browser.open(given.url)
                print(browser.run(given.script))
                if given.picture:
                    browser.picture(given.picture)
        except RuntimeError as error:
            print(error, file=sys.stderr)
            return 1
        finally:
            for line in browser.console:
                print(f"console: {line}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
