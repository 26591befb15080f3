"""Programs that speak no protocol, in each protocol and role: what a run shows of them, and of their honest peers.

`WIRELAB_UPDATE_GOLDEN=1` with `-m nightly` writes what the runs show; read the difference: the documentation has it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from tests.interop.test_misbehaving import PUBSUB, TELEMETRY, experiment, shown
from tests.misbehaving.programs import PROTOCOLS, Rows, entry, read, write

from wirelab.schema import registered

if TYPE_CHECKING:
    from conftest import Bench

pytestmark = pytest.mark.namespaces

EVERY = [protocol.name for protocol in registered().protocols]
SOME = ["raw-udp", "http1", "https1", "h3", "mqtt", "amqp", "coap", "coap+tcp"]
"""Of each transport, with and without a session and a handshake."""
PROGRAMS = {
    "client": {kind: ["anything.py", kind] for kind in ("nothing", "few", "bytes")},
    "subscriber": {"receives-nothing": ["subscriber.py"]},
    "server": {"deaf": ["deaf.py"]},
}


def protocols_of(role: str, names: list[str]) -> list[str]:
    """Those of the protocols that have such a role."""
    kind = "pubsub" if role == "subscriber" else "telemetry"
    return [each.name for each in registered().protocols if each.name in names and kind in each.workloads]


@pytest.mark.parametrize("role", list(PROGRAMS))
@pytest.mark.parametrize("names", [SOME, pytest.param(EVERY, marks=pytest.mark.nightly)], ids=["some", "every"])
def test_a_run_shows_what_the_table_says_of_programs_that_speak_no_protocol(
    bench: Bench, role: str, names: list[str]
) -> None:
    protocols, end = protocols_of(role, names), "server" if role == "server" else "client"
    programs = PROGRAMS[role]
    texts = [entry(name, end, protocols, command) for name, command in programs.items()]
    (bench.folder / "implementations.toml").write_text("\n".join(texts))
    workload = PUBSUB if role == "subscriber" else TELEMETRY
    _, words, found = shown(
        bench, end, experiment(protocols, end, {each: list(programs) for each in protocols}, workload)
    )
    if os.environ.get("WIRELAB_UPDATE_GOLDEN") == "1" and names is EVERY:
        write(PROTOCOLS, _with(read(PROTOCOLS), found))
    shows = {row["protocol"]: row for row in read(PROTOCOLS)}
    assert found == {(name, each): shows[name][each] for name in protocols for each in programs}, words
    # All are found, but for the echoes: any bytes are their message.
    unseen = {each for each, words in found.items() if words == "nothing"}
    assert unseen == {(name, "bytes") for name in {"raw-tcp", "raw-udp"} & {*protocols} if role == "client"}


def _with(rows: Rows, found: dict[tuple[str, str], str]) -> Rows:
    """The rows with what was found, each with its programs in their order."""
    known = {row["protocol"]: row for row in rows}
    for (protocol, program), words in found.items():
        known.setdefault(protocol, {})[program] = words
    order = [program for programs in PROGRAMS.values() for program in programs]
    return [
        {"protocol": name, **{each: known[name][each] for each in order if each in known.get(name, {})}}
        for name in EVERY
    ]
