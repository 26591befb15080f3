"""The experiments that a question needs, as texts: candidates that differ in protocol alone share one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from wirelab.answer.choose.candidates import MIGRATES, Candidate, idle_timeout
from wirelab.answer.choose.network import Nat
from wirelab.answer.choose.question import Asked
from wirelab.toml import inline

TIMEOUT_NS = 120 * 10**9
"""A message that is not acknowledged by then, or by a later deadline, is lost."""
DRIFT = "20 ppm"
"""Of the device's oscillator, so that messages and the network's cycles shift against each other."""
IDLE_START_MESSAGES = 3


@dataclass(frozen=True)
class Variant:
    """What of the question is changed in a run: another size or interval, loss, or a round trip."""

    send_bytes: int
    every_ns: int
    loss: float | None = None
    rtt_ns: int | None = None

    @classmethod
    def of(cls, asked: Asked) -> Variant:
        """The question as it is."""
        return cls(asked.send_bytes, asked.contact_ns)


@dataclass(frozen=True)
class Named:
    """What texts name that is not built in: who speaks a protocol, and links as an experiment has them."""

    programs: Mapping[str, str]
    links: Mapping[str, Mapping[str, object]]


@dataclass(frozen=True)
class Group:
    """Candidates with the same policy, one of each protocol; their links; and the NAT."""

    members: tuple[Candidate, ...]
    links: tuple[str, ...]
    nat: Nat | None


def groups(
    candidates: Iterable[Candidate], links: Sequence[str], nats: Mapping[str, Sequence[Nat | None]]
) -> Iterator[Group]:
    """As few as possible. `nats` are those with which a candidate is to run, by its name."""
    found: dict[_Alike, list[Candidate]] = {}
    for candidate in candidates:
        for nat in nats[candidate.name]:
            at = 0
            alike = _Alike(candidate.connection, candidate.messages, nat, at)
            while any(each.protocol == candidate.protocol for each in found.get(alike, [])):
                at += 1
                alike = alike._replace(nth=at)
            found.setdefault(alike, []).append(candidate)
    for alike, members in found.items():
        yield Group(tuple(members), tuple(links), alike.nat)


class _Alike(NamedTuple):
    """What candidates of one group share. `nth` tells those of one protocol apart."""

    connection: str
    messages: int
    nat: Nat | None
    nth: int


def text(group: Group, asked: Asked, variant: Variant, named: Named, *, virtual: bool) -> str:
    """An experiment file."""
    every = f"{variant.every_ns} ns"
    first = group.members[0]
    messages = first.messages if virtual else IDLE_START_MESSAGES
    timeout = f"{max(TIMEOUT_NS, asked.deadline_ns or 0)} ns"
    workload: dict[str, object] = {
        "connection": first.connection, "exchanges": messages, "timeout": timeout, "interval": every,
    }  # fmt: skip
    if asked.reply_bytes:
        workload |= {
            "kind": "request-response", "upload": f"{variant.send_bytes} B", "download": f"{asked.reply_bytes} B"
        }  # fmt: skip
    else:
        workload |= {"kind": "telemetry", "message": f"{variant.send_bytes} B"}
    workload |= {"start-phase": every, "drift": DRIFT} if virtual else {"arrival": "idle-start"}
    # A factor is laid over what the profile says; `[link]` is below it.
    factors: dict[str, object] = {"protocol": [each.protocol for each in group.members], "link": [*group.links]}
    if group.nat is not None:
        factors |= {f"link.nat.{key}": [value] for key, value in group.nat.table().items()}
    if variant.loss is not None:
        factors["link.loss"] = [f"{100 * variant.loss:.10g} %"]
    if variant.rtt_ns is not None:
        factors["link.rtt"] = [f"{variant.rtt_ns} ns"]
    tables: list[tuple[str, Mapping[str, object]]] = [
        ("factors", factors),
        *((f"links.{inline_key(link)}", table) for link, table in named.links.items() if link in group.links),
        ("workload", workload),
        *((f"protocols.{inline_key(each.protocol)}", _of_protocol(each, variant, named)) for each in group.members),
        ("stop", {"replicates": 2}),
    ]
    head = f'title = "Which protocol?"\nmetric = "end-to-end-delay"\nclock = "{"virtual" if virtual else "live"}"\n'
    return head + "".join(_table(name, table) for name, table in tables if table)


def _of_protocol(candidate: Candidate, variant: Variant, named: Named) -> dict[str, str | int]:
    """Its settings, and who speaks it."""
    spoken = {} if candidate.builtin else {"implementation": named.programs[candidate.protocol]}
    # A kept connection has to outlive the interval of this run.
    outlives = {MIGRATES: idle_timeout(variant.every_ns)} if MIGRATES in candidate.settings else {}
    return {**candidate.settings, **outlives, **spoken}


def inline_key(name: str) -> str:
    """A key as TOML has it: `"coap+tcp"` in quotation marks."""
    return name if name.replace("-", "").isalnum() else f'"{name}"'


def _table(name: str, table: Mapping[str, object]) -> str:
    lines = "".join(f"{inline_key(key)} = {_written(value)}\n" for key, value in table.items())
    return f"\n[{name}]\n{lines}"


def _written(value: object) -> str:
    """Settings that are no texts are written without quotation marks."""
    return value if isinstance(value, str) and value in {"true", "false"} else inline(value)
