"""A page in headless Chromium that a test can ask and use, at a width, in light or dark."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.browser import CHROMIUM, require, shipped

LOAD_TIMEOUT_S = 60.0
COMPUTER, PHONE = (1280, 800), (390, 844)


class Visit:
    """One page at one size."""

    def __init__(self, tools: Any, session: str) -> None:
        self._tools, self._session = tools, session

    def call(self, method: str, **params: Any) -> Any:
        """A method of the DevTools protocol."""
        return self._tools.call(method, self._session, **params)

    def open(self, page: Path, size: tuple[int, int], *, scheme: str = "light", anchor: str = "") -> None:
        """Load a page and wait until it is loaded."""
        width, height = size
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500
        )
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=page.as_uri() + anchor)
        until_s = time.monotonic() + LOAD_TIMEOUT_S
        while self.ask("document.readyState + location.protocol") != "completefile:":
            assert time.monotonic() < until_s, "the page did not load"
            time.sleep(0.05)

    def ask(self, expression: str) -> Any:
        """The value of an expression, also one that is promised."""
        done = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in done, done["exceptionDetails"]
        return done["result"].get("value")


@contextmanager
def visiting(folder: Path) -> Iterator[Visit]:
    """A browser with a profile in the folder, and one tab."""
    require()
    process, devtools = shipped("chromium_process"), shipped("devtools")
    with (
        (folder / "chromium.log").open("w") as log,
        process.Chromium(CHROMIUM, folder / "profile", [], log) as browser,
    ):
        tools = devtools.DevTools(browser.reading, browser.writing)
        target = tools.call("Target.createTarget", url="about:blank")["targetId"]
        session = tools.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        visit = Visit(tools, session)
        visit.call("Page.enable")
        yield visit
