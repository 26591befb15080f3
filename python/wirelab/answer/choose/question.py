"""What a user asks of `choose`, read from options or a file. Knows no protocol and no link."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, get_args

from wirelab.answer.choose.tariff import Tariff, of_price
from wirelab.errors import Where, WirelabError, did_you_mean
from wirelab.units import (
    UnitError,
    charge_mah,
    current_a,
    duration_ns,
    format_duration,
    format_rate,
    format_size,
    size_bytes,
    voltage_v,
)

Auth = Literal["none", "psk", "server-certificate", "mutual"]
Delivery = Literal["at-least-once", "at-most-once"]
Flip = Literal["interval", "size", "loss", "rtt", "nat"]
KEYS = (
    "send", "reply", "every", "command-within", "link", "radio", "battery", "base-current", "life", "price", "tariff",
    "deadline", "delivery", "auth", "batch", "protocols", "flip",
)  # fmt: skip
"""What can be asked: options of the command, and keys of a file."""
NEEDED = {"send": "64B", "every": "10min", "link": "nb-iot-psm"}
"""With an example of each."""
LISTS = {"batch": "1,6", "protocols": "coaps,mqtts", "flip": "interval"}
"""Keys with several values, with an example of each."""
DAY_NS = 86_400 * 10**9
_YEARS = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*(years?|months?|days?)\s*")
_OF_YEAR = {"year": 1.0, "month": 1 / 12, "day": 1 / 365.25}
_BATTERY = re.compile(r"\s*([\d.]+\s*m?Ah)\s*[,@]?\s*([\d.]+\s*m?V)?\s*")
MOST_BATCH = 1000
Place = Callable[[str], Where | str]
T = TypeVar("T")
N = TypeVar("N", int, float)


@dataclass(frozen=True)
class Asked:
    """The question. Times are in nanoseconds, sizes in bytes of the application."""

    send_bytes: int
    every_ns: int
    link: str
    reply_bytes: int = 0
    command_within_ns: int | None = None
    radio: str | None = None
    battery: tuple[float, float] | None = None
    """mAh and V."""
    base_current_a: float | None = None
    life_years: float | None = None
    tariff: Tariff | None = None
    deadline_ns: int | None = None
    delivery: Delivery = "at-least-once"
    auth: Auth | None = None
    batch: tuple[int, ...] = (6,)
    """Readings in a message, in addition to 1."""
    protocols: tuple[str, ...] = ()
    """Empty for all."""
    flips: tuple[Flip, ...] = ()

    @property
    def contact_ns(self) -> int:
        """From one contact to the next: a command arrives with one, so that its limit may make them more frequent."""
        return self.every_ns if self.command_within_ns is None else min(self.every_ns, self.command_within_ns)


def question(given: Mapping[str, str | Sequence[str]], at: Place) -> Asked:
    """What the texts mean; `at` says where a key stands. Raises `WirelabError` for the first that is wrong."""
    for key, example in NEEDED.items():
        if key not in given:
            raise WirelabError(f"what to {_WHAT[key]} is not given", at(key), f"such as {_written(key, example, at)}")
    for key, example in LISTS.items():
        if key in given and not _list(given[key]):
            what = f"names nothing ({given[key] or repr(given[key])})"
            raise WirelabError(what, at(key), f"leave it out, or {_written(key, example, at)}")
    texts = {key: value for key, value in given.items() if isinstance(value, str)}
    read = _Reader(texts, at)
    battery = read.as_("battery", lambda text: _battery(text, at("battery")))
    base, life = (
        read.quantity("base-current", lambda text: current_a(text, "uA")),
        read.as_("life", lambda text: _life(text, at("life"))),
    )
    for key, value in (("base-current", base), ("life", life)):
        if value is not None and battery is None:
            raise WirelabError("needs a battery", at(key), _written("battery", "2400mAh 3.6V", at))
    if "price" in texts and "tariff" in given:
        raise WirelabError("price and tariff exclude each other", at("price"), "leave one of them out")
    return Asked(
        send_bytes=read.needed("send", size_bytes),
        every_ns=read.needed("every", lambda text: duration_ns(text, "min")),
        link=texts["link"],
        reply_bytes=read.quantity("reply", size_bytes, may_be_0=True) or 0,
        command_within_ns=read.quantity("command-within", lambda text: duration_ns(text, "h")),
        radio=texts.get("radio"),
        battery=battery,
        base_current_a=base,
        life_years=life,
        tariff=read.as_("price", lambda text: of_price(text, at("price"))),
        deadline_ns=read.quantity("deadline", lambda text: duration_ns(text, "s")),
        delivery=read.word("delivery", {each: each for each in get_args(Delivery)}) or "at-least-once",
        auth=read.word("auth", {each: each for each in get_args(Auth)}),
        batch=_batch(_list(given.get("batch", "1,6")), at("batch")),
        protocols=_list(given.get("protocols", ())),
        flips=_flips(_list(given.get("flip", ())), at("flip")),
    )


def require_possible(asked: Asked, rtt_ns: int, uplink_bps: float | None, downlink_bps: float | None) -> None:
    """Refuse what no protocol can do over a link with this round trip and these rates. Raises `WirelabError`."""
    if asked.deadline_ns is not None and asked.deadline_ns < rtt_ns:
        what = f"{format_duration(asked.deadline_ns)} is less than the link's round trip of {format_duration(rtt_ns)}"
        raise WirelabError(what, "--deadline", f"more than {format_duration(rtt_ns)}, or another link")
    _require_time(asked, "sending", asked.send_bytes, uplink_bps, "--send")
    _require_time(asked, "receiving", asked.reply_bytes, downlink_bps, "--reply")


def _require_time(asked: Asked, doing: str, size: int, rate_bps: float | None, option: str) -> None:
    """Refuse an interval that is shorter than one direction of a message takes at the link's rate."""
    needed_ns = 0.0 if rate_bps is None else size * 8e9 / rate_bps
    if rate_bps is not None and asked.contact_ns < needed_ns:
        what = (
            f"{doing} {format_size(size)} takes {format_duration(needed_ns)} at {format_rate(rate_bps)}, longer than "
            f"the interval of {format_duration(asked.contact_ns)}"
        )
        raise WirelabError(what, "--every", f"more than {format_duration(needed_ns)}, or a smaller {option}")


_WHAT = {"send": "send", "every": "wait for between messages", "link": "send it over"}


def _written(key: str, example: str, at: Place) -> str:
    """An example of a key, as an option or as a line of a file."""
    quoted = f"'{example}'" if " " in example else example
    return f"--{key} {quoted}" if isinstance(at(key), str) else f'{key} = "{example}"'


@dataclass(frozen=True)
class _Reader:
    texts: Mapping[str, str]
    at: Place

    def as_(self, key: str, read: Callable[[str], T]) -> T | None:
        """The value of a key that may be left out."""
        return read(self.texts[key]) if key in self.texts else None

    def quantity(self, key: str, read: Callable[[object], N], *, may_be_0: bool = False) -> N | None:
        """The same of a number with its unit."""
        if key not in self.texts:
            return None
        text = self.texts[key]
        try:
            value = read(text)
        except UnitError as error:
            raise WirelabError(f"'{text}' {error}", self.at(key), error.hint) from None
        if value == 0 and not may_be_0:
            raise WirelabError(f"'{text}' must be more than 0", self.at(key), "leave it out, or give more")
        return value

    def needed(self, key: str, read: Callable[[object], N]) -> N:
        """The same of a key that must be there."""
        value = self.quantity(key, read)
        assert value is not None, "asked before"
        return value

    def word(self, key: str, known: Mapping[str, T]) -> T | None:
        """One of some words."""
        if key not in self.texts:
            return None
        word = self.texts[key]
        if word not in known:
            raise WirelabError(f"unknown {key} '{word}'", self.at(key), did_you_mean(word, known))
        return known[word]


def _battery(text: str, where: Where | str) -> tuple[float, float]:
    match = _BATTERY.fullmatch(text)
    if match is None:
        what = f"'{text}' is not a battery's capacity and voltage"
        raise WirelabError(what, where, "such as '2400mAh 3.6V'")
    if match[2] is None:
        raise WirelabError(f"'{text}' has no voltage, which its energy needs", where, f"such as '{text.strip()} 3.6V'")
    try:
        capacity, voltage = charge_mah(match[1]), voltage_v(match[2])
    except UnitError as error:
        raise WirelabError(f"'{text}': {error}", where, error.hint) from None
    if not capacity or not voltage:
        raise WirelabError(f"'{text}' is an empty battery", where, "such as '2400mAh 3.6V'")
    return capacity, voltage


def _life(text: str, where: Where | str) -> float:
    match = _YEARS.fullmatch(text)
    if match is None or not float(match[1]):
        raise WirelabError(f"'{text}' is not a life", where, "such as '5 years'")
    return float(match[1]) * _OF_YEAR[match[2].removesuffix("s")]


def _list(value: Any) -> tuple[str, ...]:
    parts = value.split(",") if isinstance(value, str) else value
    return tuple(dict.fromkeys(str(part).strip() for part in parts if str(part).strip()))


def _batch(parts: Sequence[str], where: Where | str) -> tuple[int, ...]:
    for part in parts:
        if not part.isdecimal() or not 0 < int(part) <= MOST_BATCH:
            what = f"'{part}' is not a number of readings from 1 to {MOST_BATCH:,}"
            raise WirelabError(what, where, "such as 1,6,24")
    return tuple(sorted({int(part) for part in parts} - {1}))


def _flips(parts: Sequence[str], where: Where | str) -> tuple[Flip, ...]:
    known: dict[str, Flip] = {each: each for each in get_args(Flip)}
    for part in parts:
        if part not in known:
            raise WirelabError(f"unknown number to change '{part}'", where, did_you_mean(part, known))
    if len(parts) > 2:
        raise WirelabError(f"a map has at most two axes, not {len(parts)}", where, "such as --flip interval,nat")
    return tuple(known[part] for part in parts)
