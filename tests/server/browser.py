# SPDX-License-Identifier: Apache-2.0
"""A browser without a screen, for tests: Chromium, driven through a pipe by
the DevTools protocol. All of it is in a folder of the test's own.

    with Browser(folder) as browser:
        tab = browser.open("http://127.0.0.1:8270/")
        tab.wait("document.title === 'tare'")
"""

import fcntl
import json
import os
import shutil
import subprocess
import time

WAIT_S = 60


def find():
    return shutil.which("chromium") or shutil.which("google-chrome")


class Tab:
    def __init__(self, browser, target, session):
        self.browser, self.target, self.session = browser, target, session
        self.requests = []  # of this tab: url, headers
        self.logs = []  # console, exceptions, violated policies
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(domain + ".enable")

    def call(self, method, **how):
        return self.browser.call(method, self.session, **how)

    def value(self, expression):
        """The value of an expression in the page, promises awaited."""
        answer = self.call("Runtime.evaluate", expression=expression,
                           awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"])
        return answer["result"].get("value")

    def wait(self, expression, seconds=WAIT_S):
        end = time.monotonic() + seconds
        while True:
            try:
                answer = self.value(expression)
            except RuntimeError:
                answer = None  # between two documents
            if answer or time.monotonic() > end:
                return answer
            time.sleep(0.05)

    def go(self, url):
        self.call("Page.navigate", url=url)

    def reload(self):
        self.call("Page.reload")

    def close(self):
        self.browser.call("Target.closeTarget", targetId=self.target)


class Browser:
    def __init__(self, folder):
        to_browser, self.writing = os.pipe()
        self.reading, from_browser = os.pipe()

        def place():
            """The browser's ends where it looks for them: 3 and 4."""
            ends = [fcntl.fcntl(fd, fcntl.F_DUPFD, 64)
                    for fd in (to_browser, from_browser)]
            os.dup2(ends[0], 3)
            os.dup2(ends[1], 4)

        self.process = subprocess.Popen(
            [find(), "--headless", "--no-sandbox",
             "--disable-gpu", "--disable-quic", "--no-first-run",
             "--disable-background-networking", "--disable-sync",
             "--disable-component-update", "--disable-dev-shm-usage",
             "--remote-debugging-pipe",
             "--user-data-dir=" + os.path.join(folder, "browser"),
             "about:blank"],
            pass_fds=(3, 4), preexec_fn=place, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env=dict(os.environ, HOME=folder))
        os.close(to_browser)
        os.close(from_browser)
        self.rest = b""
        self.number = 0
        self.tabs = {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.writing)
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.reading)

    def receive(self):
        while b"\0" not in self.rest:
            piece = os.read(self.reading, 1 << 20)
            if not piece:
                raise EOFError("the browser ended")
            self.rest += piece
        text, _, self.rest = self.rest.partition(b"\0")
        return json.loads(text)

    def call(self, method, session=None, **how):
        self.number += 1
        message = {"id": self.number, "method": method, "params": how}
        if session:
            message["sessionId"] = session
        os.write(self.writing, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(answer["error"])
                return answer["result"]
            self.note(answer)

    def note(self, event):
        tab = self.tabs.get(event.get("sessionId"))
        what = event.get("params", {})
        if not tab:
            return
        if event["method"] == "Network.requestWillBeSent":
            tab.requests.append((what["request"]["url"],
                                 what["request"]["headers"]))
        elif event["method"] in ("Log.entryAdded",
                                 "Runtime.exceptionThrown",
                                 "Runtime.consoleAPICalled"):
            tab.logs.append(json.dumps(what))

    def open(self, url):
        target = self.call("Target.createTarget", url="about:blank")
        target = target["targetId"]
        session = self.call("Target.attachToTarget", targetId=target,
                            flatten=True)["sessionId"]
        tab = Tab.__new__(Tab)
        self.tabs[session] = tab
        tab.__init__(self, target, session)
        tab.go(url)
        return tab
