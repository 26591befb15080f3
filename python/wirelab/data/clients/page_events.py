"""What the DevTools events of one page load tell of its requests.

Pure: events in, what they say out. Instants of the protocol are seconds of CLOCK_MONOTONIC (TimeTicks), or
milliseconds after such a one, of which -1 means that it did not happen.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_CONNECTING = frozenset({"connectStart", "connectEnd", "sslStart", "sslEnd"})


@dataclass
class Request:
    """What the events say of one request."""

    url: str
    discovered_ns: int
    hinted: bool
    document: bool
    priority: str | None = None
    response: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    has_headers: bool = False
    interim: bool = False
    """A 103 response came ahead of the final one."""
    body_bytes: int = 0
    encoded_bytes: int = 0
    finished_ns: int | None = None
    failed_ns: int | None = None
    error: str | None = None

    @property
    def timing(self) -> Mapping[str, float]:
        timing: Mapping[str, float] = self.response.get("timing") or {}
        return timing

    @property
    def early(self) -> bool:
        """Fetched because of a 103 response (RFC 8297), before there was a page; what is known of it is how the page
        got it from the browser later.
        """
        return bool(self.response.get("fromEarlyHints"))

    @property
    def connection(self) -> int | None:
        """Chromium's number of it; none where the events do not tell."""
        return None if self.early else self.response.get("connectionId")

    @property
    def open(self) -> bool:
        return self.finished_ns is None and self.error is None

    @property
    def received_bytes(self) -> int:
        """The body as it was sent. Without a coding of content that is what came out of it; with one the response tells
        its length, or else it is counted with the transfer's framing.
        """
        if not self.headers.get("content-encoding"):
            return self.body_bytes
        length = self.headers.get("content-length", "")
        return int(length) if length.isdecimal() else self.encoded_bytes

    @property
    def first_final_byte_ns(self) -> int | None:
        """When the final response began; behind a 103 the end of its headers is all that is known."""
        return self.at("receiveHeadersEnd" if self.interim else "receiveHeadersStart")

    def at(self, phase: str) -> int | None:
        """The instant of a phase of its timing; none if it did not happen, as on a connection that was there."""
        after_ms = -1 if self.early else self.timing.get(phase, -1)
        if phase in _CONNECTING and self.timing.get("connectStart") == self.timing.get("connectEnd"):
            # What took no time was done before, for nobody yet.
            after_ms = -1
        return None if after_ms < 0 else round((self.timing["requestTime"] + after_ms / 1e3) * 1e9)


class Load:
    """Takes the messages of one session, in their order."""

    def __init__(self, origin: str) -> None:
        self.origin = origin
        self.requests: dict[str, Request] = {}
        self.loaded_ns: int | None = None
        self.error: str | None = None
        self._extra: dict[str, Mapping[str, str]] = {}
        self._interim: set[str] = set()

    @property
    def start_ns(self) -> int | None:
        """The navigation's start."""
        return None if self.document is None else self.document.discovered_ns

    @property
    def document(self) -> Request | None:
        """The request for the page itself."""
        return next((each for each in self.requests.values() if each.document), None)

    @property
    def complete(self) -> bool:
        """Whether nothing more is to come of what was asked for: events of two processes come in no order."""
        return all(not each.open and each.has_headers for each in self.requests.values())

    def path(self, request: Request) -> str:
        """Path and query of a request to the page's own server; of another the whole URL."""
        return request.url.removeprefix(self.origin) if request.url.startswith(f"{self.origin}/") else request.url

    def take(self, message: Mapping[str, Any]) -> None:
        """Learn from a message; of most nothing is to be learnt."""
        method, params = str(message.get("method", "")), message.get("params", {})
        if method == "Page.loadEventFired":
            self.loaded_ns = nanoseconds(params["timestamp"])
        elif method in {"Inspector.targetCrashed", "Target.detachedFromTarget"}:
            self.error = "the page crashed"
        elif method == "Network.requestWillBeSent":
            self._sent(params)
        elif method == "Network.requestWillBeSentExtraInfo":
            self._extra[params["requestId"]] = {name.lower(): text for name, text in params["headers"].items()}
            self._handle(params["requestId"])
        elif method == "Network.responseReceivedEarlyHints":
            self._interim.add(params["requestId"])
            self._handle(params["requestId"])
        elif (request := self.requests.get(params.get("requestId", ""))) is not None:
            self._about(request, method, params)

    def _sent(self, params: Mapping[str, Any]) -> None:
        number, url = params["requestId"], params["request"]["url"]
        if not url.startswith(("http:", "https:")) or "redirectResponse" in params:
            return
        initiator = params["initiator"]
        self.requests[number] = Request(
            url=url,
            discovered_ns=nanoseconds(params["timestamp"]),
            # By a Link field: what an element of the page preloads is the parser's.
            hinted=bool(params["request"].get("isLinkPreload")) and initiator.get("type") != "parser",
            document=number == params["loaderId"] and self.start_ns is None,
        )
        self._handle(number)

    def _handle(self, number: str) -> None:
        """What may come ahead of the request that it is of."""
        if (request := self.requests.get(number)) is None:
            return
        request.interim = number in self._interim
        if number in self._extra:
            request.has_headers, request.priority = True, self._extra[number].get("priority")

    def _about(self, request: Request, method: str, params: Mapping[str, Any]) -> None:
        match method:
            case "Network.responseReceived":
                request.response = params["response"]
                request.headers = {name.lower(): text for name, text in params["response"]["headers"].items()}
                request.has_headers |= not params.get("hasExtraInfo", False)
            case "Network.dataReceived":
                request.body_bytes += params["dataLength"]
                request.encoded_bytes += params["encodedDataLength"]
            case "Network.loadingFinished":
                request.finished_ns = nanoseconds(params["timestamp"])
            case "Network.loadingFailed" if params.get("blockedReason") == "inspector":
                # It was held back on our word and never sent.
                del self.requests[params["requestId"]]
            case "Network.loadingFailed":
                request.failed_ns, request.error = nanoseconds(params["timestamp"]), params["errorText"]
                request.has_headers = True
            case "Network.requestServedFromCache":
                del self.requests[params["requestId"]]


def nanoseconds(timestamp_s: float) -> int:
    """An instant of the protocol, which has microseconds."""
    return round(timestamp_s * 1e9)
