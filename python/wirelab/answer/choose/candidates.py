"""Which protocols can give what is asked, and how each can use connections: what has to be run for a choice. What a
protocol can do is read off its description, so that a new one needs no line here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from wirelab.answer.choose.question import Asked, Auth
from wirelab.errors import Where, WirelabError, did_you_mean
from wirelab.schema.choose import Apart
from wirelab.schema.describe import ProtocolDescription
from wirelab.units import format_duration

Connection = Literal["new", "resumed", "persistent"]
KEEP_ALIVES = {"ping-interval": 10**6, "keep-alive": 10**9, "quic-keep-alive": 10**6, "tcp-keep-alive": 10**9}
"""Settings that keep a silent connection alive, the protocol's own before its transport's; nanoseconds of one unit."""
MIGRATES = "quic-idle-timeout"
"""Who has this setting speaks QUIC, whose connections outlive another address; their own time-out ends them."""
MOST_IDLE_MS = 7 * 86_400_000
"""The longest that this setting can be."""
WITHIN = 0.8
"""A keep-alive comes after this share of the time after which the NAT forgets."""
MESSAGES = 24
"""Of a trial."""
MOST_PINGS = 4000
"""Of a trial, which then has fewer messages."""
LEAST_MESSAGES = 3
DELIVERIES: Mapping[str, Mapping[str, str | int]] = {
    "at-least-once": {"qos": 1, "confirmable": "true", "delivery": "at-least-once"},
    "at-most-once": {"qos": 0, "confirmable": "false", "delivery": "at-most-once"},
}
"""Settings that choose a delivery. A protocol without any of them answers each message."""


@dataclass(frozen=True)
class Candidate:
    """A protocol with a connection policy, and what an experiment sets for it."""

    protocol: str
    transport: Literal["tcp", "udp"]
    auth: Auth
    connection: Connection
    keep_alive_ns: int | None
    messages: int
    settings: Mapping[str, str | int]
    """Of the protocol, as an experiment file has them."""
    builtin: bool = True
    """Whether it is spoken by the built-in programs; else by others, which open a connection for each message."""

    @property
    def policy(self) -> str:
        """In words, such as `persistent, a ping each 96 s`."""
        kept = "" if self.keep_alive_ns is None else f", a ping each {format_duration(self.keep_alive_ns)}"
        return f"{self.connection}{kept}"

    @property
    def name(self) -> str:
        """`coaps, persistent`."""
        return f"{self.protocol}, {self.policy}"


@dataclass(frozen=True)
class Forgets:
    """After how long a NAT forgets a silent flow, in nanoseconds: typically, and at the least of any operator."""

    udp: tuple[int, int] | None
    tcp: tuple[int, int] | None

    def of(self, transport: str) -> tuple[int, int] | None:
        """Of a transport; None without a NAT."""
        return self.udp if transport == "udp" else self.tcp


def security(protocol: ProtocolDescription) -> tuple[Auth, ...]:
    """How a protocol's ends can be known here."""
    if not protocol.secure:
        return ("none",)
    if protocol.setting("certificate-key") is None:
        return ("psk",)
    return ("server-certificate", *(("mutual",) if protocol.setting("client-certificate") is not None else ()))


def candidates(
    asked: Asked, protocols: Sequence[ProtocolDescription], forgets: Forgets, where: Where | str
) -> tuple[list[Candidate], list[Apart]]:
    """What is compared, and what is not, with the reason. Raises `WirelabError` if nothing can give what is asked;
    `where` is where protocols are named.
    """
    known = {each.name: each for each in protocols if not each.echo}
    for name in asked.protocols:
        if name not in known:
            raise WirelabError(f"unknown protocol '{name}'", where, did_you_mean(name, known))
    found, apart = list[Candidate](), list[Apart]()
    for protocol in known.values() if not asked.protocols else map(known.__getitem__, asked.protocols):
        if (why := _cannot(protocol, asked)) is not None:
            apart.append({"protocol": protocol.name, "why": why})
        else:
            found += _policies(protocol, asked, forgets)
    if not found:
        raise WirelabError(_nobody(asked, apart), where, _cure(asked, known.values()))
    return found, apart


def idle_timeout(every_ns: int) -> str:
    """With which both ends keep a silent QUIC connection for longer than the next message takes to come."""
    return f"{min(MOST_IDLE_MS, max(30_000, 2 * every_ns // 10**6))} ms"


def _cannot(protocol: ProtocolDescription, asked: Asked) -> str | None:
    able = security(protocol)
    if asked.auth is None and able == ("none",):
        return "It has no security; --auth none compares those without."
    if asked.auth is not None and asked.auth not in able:
        return f"It has {_auth_words(able)} here: compare it with --auth {able[0]}."
    if asked.reply_bytes and "request-response" not in protocol.workloads:
        return "Its acknowledgement carries no reply."
    if not asked.reply_bytes and "telemetry" not in protocol.workloads:
        return "It has no way to hand over a reading."
    return None


def _auth_words(able: Collection[str]) -> str:
    words = {"none": "no security", "psk": "pre-shared keys", "server-certificate": "certificates", "mutual": ""}
    return " or ".join(words[each] for each in able if words[each])


def _nobody(asked: Asked, apart: Sequence[Apart]) -> str:
    names = ", ".join(each["protocol"] for each in apart)
    if asked.auth is not None and all("--auth" in each["why"] for each in apart):
        return f"none of these has --auth {asked.auth}: {names}"
    return f"no protocol can give what is asked: {names}"


def _cure(asked: Asked, known: Iterable[ProtocolDescription]) -> str:
    able = [each.name for each in known if each.name not in asked.protocols and _cannot(each, asked) is None]
    return f"such as --protocols {','.join(able[:4])}" if able and asked.protocols else "ask for less"


def _policies(protocol: ProtocolDescription, asked: Asked, forgets: Forgets) -> Iterator[Candidate]:
    transport: Literal["tcp", "udp"] = "udp" if protocol.transport == "udp" else "tcp"
    auth = asked.auth or security(protocol)[0]
    common = _common(protocol, asked)

    def made(connection: Connection, kept: int | None, settings: Mapping[str, str | int]) -> Candidate:
        pings = 0.0 if kept is None else asked.contact_ns / kept
        messages = max(LEAST_MESSAGES, min(MESSAGES, int(MOST_PINGS / max(pings, 1.0))))
        return Candidate(
            protocol.name, transport, auth, connection, kept, messages, {**common, **settings}, protocol.builtin
        )

    yield made("new", None, {})
    if not protocol.builtin:
        return
    if protocol.setting("resumption") is not None:
        yield made("resumed", None, {})
    for kept in _keep_alives(protocol, asked, forgets.of(transport)):
        yield made("persistent", kept, _kept_alive(protocol, asked, kept))


def _common(protocol: ProtocolDescription, asked: Asked) -> dict[str, str | int]:
    """Settings of every policy."""
    found: dict[str, str | int] = {
        name: value for name, value in DELIVERIES[asked.delivery].items() if protocol.setting(name) is not None
    }
    if asked.auth == "mutual":
        found["client-certificate"] = "true"
    if protocol.setting("keep-alive") is not None:
        found["keep-alive"] = "0 s"
    if protocol.setting("after-timeout") is not None:
        found["after-timeout"] = "reconnect"
    return found


def _keep_alives(protocol: ProtocolDescription, asked: Asked, forgets: tuple[int, int] | None) -> Iterator[int | None]:
    """Without any; then those that outlive a typical NAT and every operator's, where a message comes too late for it.
    QUIC needs none.
    """
    yield None
    unit = _unit_ns(protocol)
    if forgets is None or unit is None or protocol.setting(MIGRATES) is not None:
        return
    needed = [int(WITHIN * nat_ns) // unit * unit for nat_ns in dict.fromkeys(forgets) if asked.contact_ns >= nat_ns]
    yield from (kept for kept in needed if kept > 0)


def _unit_ns(protocol: ProtocolDescription) -> int | None:
    name = _keep_alive_of(protocol)
    return None if name is None else KEEP_ALIVES[name]


def _keep_alive_of(protocol: ProtocolDescription) -> str | None:
    return next((name for name in KEEP_ALIVES if protocol.setting(name) is not None), None)


def _kept_alive(protocol: ProtocolDescription, asked: Asked, kept: int | None) -> dict[str, str]:
    found = {}
    if protocol.setting(MIGRATES) is not None:
        found[MIGRATES] = idle_timeout(asked.contact_ns)
    name = _keep_alive_of(protocol)
    if kept is not None and name is not None:
        found[name] = f"{kept // 10**6} ms"
    return found
