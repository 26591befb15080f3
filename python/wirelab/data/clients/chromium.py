"""Page loads by headless Chromium: the client's half of the contract (docs/contract.md) for the workload `page`.

Each load has a browser context of its own: no cache, no connection, no TLS session. What is measured is Chromium's own
account of it, given over the DevTools protocol.
"""

from __future__ import annotations

import json
import signal
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from chromium_process import HINT, Chromium, find_chromium
from contract import UNSUPPORTED, USAGE, UnsupportedError, now
from devtools import DevTools, DevToolsError, answer
from page_events import Load
from page_rows import Page, Row, rows_of
from row_files import write_rows
from spki import spki_sha256

PROTOCOLS = {"http1": "http/1.1", "https1": "http/1.1", "h2": "h2", "h3": "h3"}
"""As Chromium calls them."""
FAILED = 1
START_TIMEOUT_S = 60
SETTLE_S = 2.0
"""How long what the browser's other processes have to tell may take after the load event."""
# A picture, so that more than an empty page is warm; it asks nobody for anything.
WARM_UP = (
    "data:text/html,<style>p{color:red}</style><script>1</script><img src='data:image/gif;base64,R0lGODlhAQABAAAAACw='>"
)


class Terminated(BaseException):
    """SIGTERM; no error, as KeyboardInterrupt is none."""


class Parameters:
    """The parameter file."""

    def __init__(self, path: str) -> None:
        everything = json.loads(Path(path).read_text(encoding="utf-8"))
        self.protocol: str = everything["protocol"]
        self.workload: dict[str, Any] = everything["workload"]
        self.settings: dict[str, Any] = everything["settings"]
        self._refuse(everything["role"])
        self.server: dict[str, Any] = everything["server"]
        self.certificates: dict[str, str] = everything.get("certificates") or {}
        self.output = Path(everything["output"])
        self.loads, self.timeout_ns = int(self.workload["loads"]), int(self.workload["timeout_ns"])
        self.latency_ms = int(self.settings.get("devtools-latency", 0))
        manifest = json.loads(Path(everything["page"]["manifest"]).read_text(encoding="utf-8"))
        tls = f"TLS {self.settings.get('tls', '1.3')}" if self.protocol in {"https1", "h2"} else None
        self.page = Page(manifest["resources"], PROTOCOLS[self.protocol], tls)
        scheme = "http" if self.protocol == "http1" else "https"
        self.origin = f"{scheme}://{self.server['name']}:{self.server['port']}"

    def _refuse(self, role: str) -> None:
        if role != "client" or self.workload["kind"] != "page":
            raise UnsupportedError(f"role {role}, workload {self.workload['kind']}")
        if self.protocol not in PROTOCOLS:
            raise UnsupportedError(f"{self.protocol}: a browser has {', '.join(PROTOCOLS)}")
        hints = self.settings.get("hints", "none")
        if hints == "push" or (hints == "early-hints" and PROTOCOLS[self.protocol] == "http/1.1"):
            # It says SETTINGS_ENABLE_PUSH = 0 since version 106, and takes early hints over HTTP/2 and 3 alone.
            raise UnsupportedError(f"hints {hints} over {self.protocol}")
        if self.settings.get("certificate-key") == "ed25519":
            raise UnsupportedError("a certificate of ed25519")

    def flags(self) -> list[str]:
        """What makes Chromium speak this protocol with this server and nothing with anybody else."""
        address = self.server["address"]
        host = f"[{address}]" if ":" in address else address
        flags = [f"--host-resolver-rules=MAP {self.server['name']} {host}, MAP * ~NOTFOUND"]
        if self.certificates:
            flags.append(f"--ignore-certificate-errors-spki-list={spki_sha256(Path(self.certificates['chain']))}")
        if self.protocol == "h3":
            return [*flags, "--enable-quic", f"--origin-to-force-quic-on={self.origin.removeprefix('https://')}"]
        flags.append("--disable-quic")
        if self.protocol in {"http1", "https1"}:
            flags.append("--disable-http2")
        if self.protocol in {"https1", "h2"}:
            version = f"tls{self.settings.get('tls', '1.3')}"
            flags += [f"--ssl-version-min={version}", f"--ssl-version-max={version}"]
        return flags


class Browser:
    """Loads pages one after another."""

    def __init__(self, devtools: DevTools, parameters: Parameters) -> None:
        self.devtools, self.parameters = devtools, parameters

    def warm_up(self) -> None:
        """Draw a page that asks nobody for anything, so that the first load finds its processes' code in memory."""
        context, session = self._open()
        self._navigate(session, WARM_UP, Load(""), now() + START_TIMEOUT_S * 10**9)
        self._close(context)

    def load(self, index: int) -> tuple[Row, list[Row]]:
        """Load the page: its row, and those of its requests."""
        origin, page = self.parameters.origin, self.parameters.page
        context, session = self._open()
        load, navigated_ns = Load(origin), now()
        until_ns = navigated_ns + self.parameters.timeout_ns
        whole = self._navigate(session, origin + page.resources[0]["path"], load, until_ns)
        # What is only preloaded, or fetched lazily, holds no load event up.
        whole = whole and self._take(session, load, until_ns / 1e9, lambda: page.has_ended(load))
        given_up_ns = None if whole else now()
        if load.start_ns is not None and not navigated_ns <= load.start_ns <= now():
            raise DevToolsError(f"Chromium's clock is not CLOCK_MONOTONIC: {load.start_ns} ns at {navigated_ns} ns")
        if whole and load.error is None:
            self._take(session, load, time.monotonic() + SETTLE_S, lambda: load.complete)
        self._close(context)
        rows: tuple[Row, list[Row]] = rows_of(load, page, index, navigated_ns, given_up_ns)
        return rows

    def _open(self) -> tuple[str, str]:
        """A new context with an empty page: their names."""
        call = self.devtools.call
        context: str = call("Target.createBrowserContext", disposeOnDetach=True)["browserContextId"]
        target = call("Target.createTarget", url="about:blank", browserContextId=context)["targetId"]
        session: str = call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Inspector"):
            call(f"{domain}.enable", session)
        # Headless too, it asks for an icon that no page has named.
        call("Network.setBlockedURLs", session, urls=["*/favicon.ico"])
        if (latency_ms := self.parameters.latency_ms) > 0:
            call(
                "Network.emulateNetworkConditions", session,
                offline=False, latency=latency_ms, downloadThroughput=-1, uploadThroughput=-1,
            )  # fmt: skip
        return context, session

    def _close(self, context: str) -> None:
        self.devtools.call("Target.disposeBrowserContext", browserContextId=context)

    def _navigate(self, session: str, url: str, load: Load, until_ns: int) -> bool:
        """Whether it came to an end, be it a failure, by then."""
        number = self.devtools.send("Page.navigate", session, url=url)
        return self._take(session, load, until_ns / 1e9, lambda: load.loaded_ns is not None, number)

    def _take(
        self, session: str, load: Load, until_s: float, done: Callable[[], bool], number: int | None = None
    ) -> bool:
        """Hand a session's messages to a load until it is done or has failed; false if that takes longer."""
        while not done() and load.error is None:
            if (message := self.devtools.event(until_s)) is None:
                return False
            if number is not None and message.get("id") == number:
                load.error = answer("Page.navigate", message).get("errorText") or load.error
            elif message.get("sessionId") == session or message.get("params", {}).get("sessionId") == session:
                load.take(message)
        return True


def perform(parameters: Parameters, exchanges: list[Row], resources: list[Row]) -> None:
    """Load the page as often as the workload says; rows are there as they come."""
    if (program := find_chromium()) is None:
        raise DevToolsError(f"chromium is not installed; {HINT}")
    with Chromium(program, parameters.output / "profile", parameters.flags(), sys.stderr) as chromium:
        browser = Browser(DevTools(chromium.reading, chromium.writing), parameters)
        browser.warm_up()
        for index in range(parameters.loads):
            exchange, found = browser.load(index)
            exchanges.append(exchange)
            resources += found


def main(arguments: Sequence[str]) -> int:
    """Perform the workload of the parameter file that the command line names; the exit code."""
    try:
        parameters = Parameters(arguments[0])
    except UnsupportedError as error:
        print(error, file=sys.stderr)
        return int(UNSUPPORTED)
    except (IndexError, KeyError, OSError, TypeError, ValueError) as error:
        print(f"cannot read the parameters: {error!r}", file=sys.stderr)
        return int(USAGE)
    signal.signal(signal.SIGTERM, _terminate)
    exchanges: list[Row] = []
    resources: list[Row] = []
    code = 0
    try:
        perform(parameters, exchanges, resources)
    except DevToolsError as error:
        print(error, file=sys.stderr)
        code = FAILED
    except Terminated:
        pass
    write_rows(parameters.output / "resources.jsonl", resources)
    write_rows(parameters.output / "exchanges.jsonl", exchanges)
    return code


def _terminate(_number: int, _frame: object) -> NoReturn:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise Terminated


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
