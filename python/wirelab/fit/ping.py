"""A ping log: iputils (also with `-D` or `-O`), BusyBox, and what prints as they do."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import numpy as np

from wirelab.fit.observations import MeasurementError, Observations

_STAMP = r"(?:\[(?P<stamp>\d{1,12}\.\d{1,9})\]\s*)?"
_REPLY = re.compile(_STAMP + r"\d+ \w+ .*?\b(?P<name>icmp_seq|seq)=(?P<seq>\d{1,10})\b(?P<rest>.*)")
_TIME = re.compile(r"=\s*(?P<time>\d{1,9}(?:[.,]\d{1,9})?)\s*ms\b")
_SILENCE = re.compile(_STAMP + r"(?:no answer yet for icmp_seq=|Request timeout for icmp_seq )(?P<seq>\d{1,10})\b")
_REFUSAL = re.compile(_STAMP + r"From \S+.*?\bicmp_seq=(?P<seq>\d{1,10})\b")
_HEAD = re.compile(r"PING \S+")
_SUMMARY = re.compile(
    r"(?P<sent>\d{1,10}) packets transmitted, (?P<received>\d{1,10})\b(?:.*\btime (?P<time>\d{1,12})\s*ms)?"
)
_WRAP = 1 << 16
_MOST = 10**7
"""Requests of one log: 24 days of five each second."""


def observe_ping(text: str) -> Observations:
    """Round trips and losses of a ping log. A sequence number without a reply is a loss; ICMP's 16 bits may wrap."""
    log = _read(text)
    if not (log.replies or log.silent or log.refused):
        if log.sent is not None:
            raise MeasurementError("has no replies, only a summary", hint="run ping without -q")
        raise MeasurementError(
            "is not a ping log: no line has icmp_seq= or seq=", hint="ping -D -i 0.2 -c 3000 HOST | tee ping.log"
        )
    first, last = log.bounds()
    lost = np.ones(last - first + 1, dtype=np.bool_)
    lost[[number - first for number in log.replies]] = False
    timed = [number for number in sorted(log.replies) if log.replies[number] is not None]
    return Observations(
        kind="a ping log",
        packets="echo requests",
        round_trips_ns=np.array([log.replies[number] for number in timed], dtype=np.int64),
        lost=lost,
        interval_ns=log.interval_ns(),
        seen=tuple(log.remarks()),
        unknown=(
            "Which direction lost a packet or delayed it: an echo request and its reply are one round trip.",
            "Rate and queue: small packets, sent one at a time, never fill a link.",
            "Reordering: packets that are sent so far apart do not overtake one another.",
            "Whether the network treats ICMP as it treats your protocol.",
        ),
    )


@dataclass
class _Log:
    """The lines read so far; sequence numbers are without wrapping."""

    replies: dict[int, int | None] = field(default_factory=dict)
    stamps: dict[int, float] = field(default_factory=dict)
    silent: set[int] = field(default_factory=set)
    duplicates: int = 0
    refused: set[int] = field(default_factory=set)
    counts_from: int = 1
    has_head: bool = False
    sent: int | None = None
    lasted_ms: int | None = None
    latest: int | None = None

    def number(self, written: str) -> int:
        """A sequence number without wrapping: of those that look like it, the one nearest to the latest."""
        if self.latest is None:
            self.latest = int(written)
        else:
            half = _WRAP // 2
            self.latest += (int(written) - self.latest + half) % _WRAP - half
        return self.latest

    def bounds(self) -> tuple[int, int]:
        """The first and the last request, as far as the log shows them."""
        known = self.replies.keys() | self.silent | self.refused
        first = min(known)
        if self.has_head:
            first = min(first, self.counts_from)
        last = max(known)
        if self.sent is not None:
            last = max(last, first + self.sent - 1)
        if last - first >= _MOST:
            raise MeasurementError(f"covers {last - first + 1:,} requests", hint=f"at most {_MOST:,} are read")
        return first, last

    def interval_ns(self) -> int | None:
        """Between two requests: from the stamps, else from the summary's time."""
        if len(self.stamps) > 1:
            numbers = sorted(self.stamps)
            sent = [self.stamps[number] - (self.replies[number] or 0) / 1e9 for number in numbers]
            return round(float(np.median(np.diff(sent) / np.diff(numbers))) * 1e9)
        if self.lasted_ms is not None and self.sent is not None and self.sent > 1:
            return round(self.lasted_ms * 1e6 / (self.sent - 1))
        return None

    def remarks(self) -> list[str]:
        """Remarks on duplicates, errors and late replies."""
        said = []
        if self.duplicates:
            said.append(f"{self.duplicates} replies were duplicated; the profile has no duplication.")
        if self.refused:
            said.append(f"{len(self.refused)} requests were answered by an error of the network; they count as lost.")
        untimed = sum(time is None for time in self.replies.values())
        if untimed:
            said.append(f"{untimed} replies have no time; they count as received.")
        if self.sent is None:
            said.append("The log has no summary, so that losses after its last reply are not counted.")
        return said


def _read(text: str) -> _Log:
    log = _Log()
    for line in text.splitlines():
        if match := _SILENCE.match(line):
            log.silent.add(log.number(match["seq"]))
        elif match := _REFUSAL.match(line):
            log.refused.add(log.number(match["seq"]))
        elif match := _REPLY.match(line):
            _reply(log, match)
        elif match := _SUMMARY.match(line):
            log.sent = int(match["sent"])
            log.lasted_ms = int(match["time"]) if match["time"] else None
        elif _HEAD.match(line):
            if log.has_head:
                raise MeasurementError("has more than one ping run", hint="fit one run at a time")
            log.has_head = True
    return log


def _reply(log: _Log, match: re.Match[str]) -> None:
    number = log.number(match["seq"])
    if match["name"] == "seq":
        log.counts_from = 0
    if "DUP!" in match["rest"] or number in log.replies:
        log.duplicates += 1
        return
    time = _TIME.search(match["rest"])
    log.replies[number] = round(float(time["time"].replace(",", ".")) * 1e6) if time else None
    if match["stamp"]:
        log.stamps[number] = float(match["stamp"])
