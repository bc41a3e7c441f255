"""A headless Chromium, driven by the DevTools protocol over two pipes: standard library only."""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time


def executable():
    for name in ("chromium", "chromium-browser", "google-chrome", "chrome"):
        if shutil.which(name):
            return name
    return None


class Browser:
    def __init__(self, seconds=120):
        self.profile = tempfile.mkdtemp(prefix="collopt-chromium-")
        self.patience = seconds
        to_it, self.to = os.pipe()
        self.source, from_it = os.pipe()
        # It reads from file 3 and writes to file 4.
        command = [executable(), "--headless", "--remote-debugging-pipe", "--no-first-run",
                   "--no-default-browser-check", "--disable-gpu", "--disable-dev-shm-usage",
                   "--disable-background-networking", "--disable-component-update",
                   "--disable-sync", "--hide-scrollbars", "--user-data-dir=" + self.profile]
        if os.geteuid() == 0:
            command.append("--no-sandbox")
        log = open(os.path.join(self.profile, "stderr"), "wb")
        # Crash reports and settings go to its profile, not to where the tests' environment or the
        # user keeps settings.
        home = dict(os.environ, HOME=self.profile, XDG_CONFIG_HOME=self.profile,
                    XDG_CACHE_HOME=self.profile)
        script = 'exec "$@" 3<&%d 4>&%d' % (to_it, from_it)
        self.process = subprocess.Popen(["sh", "-c", script, "sh"] + command,
                                        pass_fds=(to_it, from_it), env=home,
                                        stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        log.close()
        os.close(to_it)
        os.close(from_it)
        self.number, self.rest, self.events = 0, b"", []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.to)
        os.close(self.source)
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)

    def receive(self, until):
        while b"\0" not in self.rest:
            ready, _, _ = select.select([self.source], [], [], max(until - time.monotonic(), 0))
            data = os.read(self.source, 1 << 20) if ready else b""
            if not data:
                with open(os.path.join(self.profile, "stderr"), "rb") as log:
                    raise RuntimeError("the browser %s: %s"
                                       % ("ended" if ready else "does not answer",
                                          log.read()[-2000:]))
            self.rest += data
        message, _, self.rest = self.rest.partition(b"\0")
        return json.loads(message.decode("utf-8"))

    def ask(self, method, session=None, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        os.write(self.to, json.dumps(message).encode("utf-8") + b"\0")
        until = time.monotonic() + self.patience
        while True:
            answer = self.receive(until)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError("%s: %s" % (method, answer["error"]))
                return answer["result"]
            self.events.append(answer)

    def page(self):
        return Page(self)


class Page:
    """One tab.  Everything that goes wrong in it is in .errors,
    every address that it wanted in .requests."""

    def __init__(self, browser):
        self.browser = browser
        self.target = browser.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.ask("Target.attachToTarget", targetId=self.target,
                                   flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(domain + ".enable")

    def ask(self, method, **params):
        return self.browser.ask(method, self.session, **params)

    def events(self, method):
        # Whatever has happened is told before its answer.
        self.ask("Runtime.evaluate", expression="0")
        return [e["params"] for e in self.browser.events
                if e.get("sessionId") == self.session and e["method"] == method]

    def set(self, width, scheme="light", height=900, script=True):
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height,
                 deviceScaleFactor=1, mobile=width < 600)
        # With reduced motion clicks hit what they aim at.
        self.ask("Emulation.setEmulatedMedia",
                 features=[{"name": "prefers-color-scheme", "value": scheme},
                           {"name": "prefers-reduced-motion", "value": "reduce"}])
        self.ask("Emulation.setScriptExecutionDisabled", value=not script)

    def open(self, url):
        self.browser.events = [e for e in self.browser.events if e.get("sessionId") != self.session]
        self.ask("Page.navigate", url=url)
        until = time.monotonic() + self.browser.patience
        while not any(e.get("sessionId") == self.session and e["method"] == "Page.loadEventFired"
                      for e in self.browser.events):
            self.browser.events.append(self.browser.receive(until))

    @property
    def errors(self):
        thrown = [p["exceptionDetails"] for p in self.events("Runtime.exceptionThrown")]
        found = [d.get("exception", {}).get("description", d["text"]) for d in thrown]
        found += ["%s: %s" % (p["type"], p["args"]) for p in self.events("Runtime.consoleAPICalled")
                  if p["type"] in ("error", "warning", "assert")]
        return found + ["%s: %s" % (p["entry"]["level"], p["entry"]["text"])
                        for p in self.events("Log.entryAdded")
                        if p["entry"]["level"] in ("error", "warning")]

    @property
    def requests(self):
        return [p["request"]["url"] for p in self.events("Network.requestWillBeSent")]

    def run(self, script):
        """The value of an expression; works where the page's own scripts are forbidden, too."""
        result = self.ask("Runtime.evaluate", expression=script, returnByValue=True,
                          awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError("%s: %s" % (script[:200], result["exceptionDetails"]))
        return result["result"].get("value")

    def click(self, x, y):
        for kind in ("mousePressed", "mouseReleased"):
            self.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def key(self, key, code, text=None):
        more = {"text": text} if text else {}
        name = key if key != " " else "Space"
        self.ask("Input.dispatchKeyEvent", type="keyDown", key=key, code=name,
                 windowsVirtualKeyCode=code, **more)
        self.ask("Input.dispatchKeyEvent", type="keyUp", key=key, code=name,
                 windowsVirtualKeyCode=code)

    def picture(self, file, whole=True):
        data = self.ask("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]
        with open(file, "wb") as out:
            out.write(base64.b64decode(data))

    def pdf(self):
        printed = self.ask("Page.printToPDF", printBackground=False, preferCSSPageSize=True)
        return base64.b64decode(printed["data"])

    def close(self):
        self.browser.ask("Target.closeTarget", targetId=self.target)
