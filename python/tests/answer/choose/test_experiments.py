"""The experiments that a question needs: as few as possible, and what stands in them reaches the scenarios."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from tests.asked import ask
from wirelab.answer.choose.candidates import MOST_IDLE_MS, Candidate, candidates
from wirelab.answer.choose.experiments import (
    DRIFT,
    IDLE_START_MESSAGES,
    Group,
    Named,
    Variant,
    groups,
    inline_key,
    text,
)
from wirelab.answer.choose.network import Nat, Network
from wirelab.answer.choose.question import Asked
from wirelab.claims.check import metric_and_claims
from wirelab.experiment.experiment import Experiment, resolve
from wirelab.experiment.file.source import source_of_text
from wirelab.experiment.grid.scenario import Scenario
from wirelab.experiment.library import profiles
from wirelab.schema import Clock, Delay, DirectionFacts, LinkSpec, Loss, Periodic, Persistent, Telemetry, registered
from wirelab.schema.workload import IdleStart

S = 10**9
ASKED = Asked(send_bytes=64, every_ns=600 * S, link="nb-iot-psm", protocols=("coaps", "https1", "mqtts"))
AS_ASKED, PLAIN = Variant.of(ASKED), Named({}, {})
TYPICAL, STRICT = Nat("120 s", "20 min"), Nat("30 s", "150 s")


def candidate(protocol: str, connection: str = "new", kept: int | None = None, messages: int = 24) -> Candidate:
    transport = "udp" if protocol.startswith("coap") else "tcp"
    return Candidate(protocol, transport, "none", connection, kept, messages, {})  # type: ignore[arg-type]


def grouped(these: Sequence[Candidate], *nats: Nat | None) -> list[tuple[list[str], Nat | None]]:
    found = groups(these, ["clean"], {each.name: nats or (None,) for each in these})
    return [([member.name for member in each.members], each.nat) for each in found]


def resolved(written: str) -> Experiment:
    """As `choose` reads it."""
    return resolve(source_of_text(written, "choose", Path.cwd()), registered(), ask, metric_and_claims)


def scenarios(
    group: Group, asked: Asked = ASKED, variant: Variant = AS_ASKED, named: Named = PLAIN, *, virtual: bool = True
) -> list[Scenario]:
    return [*resolved(text(group, asked, variant, named, virtual=virtual)).scenarios]


def of(*these: Candidate, links: Sequence[str] = ("nb-iot-psm",), nat: Nat | None = None) -> Group:
    return Group(these, tuple(links), nat)


def one_way_ns(link: LinkSpec) -> list[int]:
    ways = (link.uplink, link.downlink)
    return [sum(stage.delay_ns for stage in way if isinstance(stage, Delay)) for way in ways]


def loss_of(link: LinkSpec) -> list[float]:
    """Each way's share of lost packets, as the agent knows it."""
    facts = ask(link)
    return [_share(facts.uplink), _share(facts.downlink)]


def _share(way: DirectionFacts) -> float:
    shares = [stage.loss.share or 0.0 for stage in way.stages if stage.loss is not None]
    return sum(shares)


def test_candidates_that_differ_in_protocol_alone_share_a_text() -> None:
    these = [candidate("coap"), candidate("http1"), candidate("mqtt")]
    assert grouped(these) == [(["coap, new", "http1, new", "mqtt, new"], None)]


def test_a_text_has_one_of_each_protocol() -> None:
    these = [
        *(candidate("coap", "persistent", kept) for kept in (None, 96 * S, 24 * S)),
        *(candidate("http1", "persistent", kept) for kept in (None, 120 * S)),
    ]
    found = groups(these, ["clean"], {each.name: [None] for each in these})
    protocols = [[member.protocol for member in each.members] for each in found]
    assert protocols == [["coap", "http1"], ["coap", "http1"], ["coap"]]


def test_what_differs_in_connections_in_messages_or_in_its_nat_is_apart() -> None:
    these = [candidate("coap"), candidate("http1", "persistent"), candidate("mqtt", messages=3)]
    assert [names for names, _ in grouped(these)] == [["coap, new"], ["http1, persistent"], ["mqtt, new"]]
    assert grouped([candidate("coap")], TYPICAL, STRICT) == [(["coap, new"], TYPICAL), (["coap, new"], STRICT)]


def test_no_text_could_be_spared_and_no_run_is_in_two() -> None:
    network = Network.of(profiles()["nb-iot-psm"], None)
    these, _ = candidates(replace(ASKED, protocols=()), registered().protocols, network.forgets, "--protocols")
    nats = {each.name: network.nats_of(each) for each in these}
    found = list(groups(these, network.links, nats))
    runs = [(member.name, each.nat) for each in found for member in each.members]
    assert sorted(map(str, runs)) == sorted(str((each.name, nat)) for each in these for nat in nats[each.name])
    for each in found:
        protocols = [member.protocol for member in each.members]
        assert len(set(protocols)) == len(protocols)
        assert {(member.connection, member.messages) for member in each.members} == {
            (each.members[0].connection, each.members[0].messages)
        }
    # Whichever protocol has the most with one policy and NAT needs as many texts.
    needed: dict[tuple[str, int, Nat | None], list[set[str]]] = {}
    for each in found:
        alike = (each.members[0].connection, each.members[0].messages, each.nat)
        needed.setdefault(alike, []).append({member.protocol for member in each.members})
    for texts in needed.values():
        assert set.intersection(*texts)


@pytest.mark.parametrize("virtual", [True, False])
def test_the_nat_loss_and_round_trip_reach_the_link(virtual: bool) -> None:
    """A table `[link]` is below a profile, so that an earlier version lost the NAT."""
    variant = replace(AS_ASKED, loss=0.05, rtt_ns=40_000_001)
    group = of(candidate("coaps", "persistent"), candidate("mqtts", "persistent"), nat=STRICT)
    found = scenarios(group, variant=variant, virtual=virtual)
    assert [each.protocol for each in found] == ["coaps", "mqtts"]
    for each in found:
        assert each.link.nat is not None
        assert (each.link.nat.udp_timeout_ns, each.link.nat.tcp_established_timeout_ns) == (30 * S, 150 * S)
        assert loss_of(each.link) == pytest.approx([0.05, 0.05])
        assert sum(one_way_ns(each.link)) == pytest.approx(40_000_001, abs=1)


def test_what_is_not_varied_is_that_of_the_profile() -> None:
    [found] = scenarios(of(candidate("coaps")))
    assert found.link.nat is not None
    assert (found.link.nat.udp_timeout_ns, found.link.nat.tcp_established_timeout_ns) == (120 * S, 1200 * S)
    assert (loss_of(found.link), one_way_ns(found.link)) == ([0, 0], [100_000_000, 100_000_000])


def test_each_link_has_the_same_nat_and_its_own_power_saving() -> None:
    links = ("nb-iot-psm", "nb-iot-edrx", "nb-iot")
    found = scenarios(of(candidate("coaps"), links=links, nat=STRICT))
    assert [each.link_name for each in found] == [*links]
    assert {each.link.nat.udp_timeout_ns for each in found if each.link.nat is not None} == {30 * S}
    assert len({str(each.link.radio) for each in found}) == 3


def test_a_nat_of_one_transport_leaves_the_other_as_it_is() -> None:
    [found] = scenarios(of(candidate("coaps"), nat=Nat("45 s", None)))
    assert found.link.nat is not None
    assert (found.link.nat.udp_timeout_ns, found.link.nat.tcp_established_timeout_ns) == (45 * S, 1200 * S)


@pytest.mark.parametrize("link", [*profiles()])
def test_every_link_that_ships_can_be_varied(link: str) -> None:
    variant = Variant(send_bytes=64, every_ns=600 * S, loss=0.02, rtt_ns=123_456_000)
    [found] = scenarios(of(candidate("coap"), links=[link], nat=STRICT), replace(ASKED, auth="none"), variant)
    assert found.link.nat is not None
    assert found.link.nat.udp_timeout_ns == 30 * S
    assert [stage.probability for stage in found.link.uplink if isinstance(stage, Loss)] == [0.02]
    assert sum(one_way_ns(found.link)) == 123_456_000


def test_settings_of_a_candidate_are_those_of_its_protocol_alone() -> None:
    network = Network.of(profiles()["nb-iot-psm"], None)
    these, _ = candidates(ASKED, registered().protocols, network.forgets, "--protocols")
    pinging: dict[str, Candidate] = {}
    for each in these:
        if each.keep_alive_ns is not None:
            pinging.setdefault(each.protocol, each)
    coaps, https1, mqtts = scenarios(of(*pinging.values()))
    assert coaps.settings["ping-interval"] == 96_000
    assert coaps.settings["confirmable"] is True
    assert https1.settings["tcp-keep-alive"] == 120
    assert (mqtts.settings["keep-alive"], mqtts.settings["qos"]) == (120, 1)
    assert "qos" not in coaps.settings


def test_under_the_virtual_clock_the_device_has_a_phase_and_a_drift_of_its_own() -> None:
    found = resolved(text(of(candidate("coaps", "persistent")), ASKED, AS_ASKED, PLAIN, virtual=True))
    workload = found.scenarios[0].workload
    assert found.clock is Clock.VIRTUAL
    assert isinstance(workload, Telemetry)
    assert workload.arrival == Periodic(interval_ns=600 * S)
    assert workload.connection == Persistent(connections=1)
    assert (workload.exchanges, workload.message_bytes, workload.timeout_ns) == (24, 64, 120 * S)
    assert workload.device is not None
    assert f"{workload.device.drift_ppb / 1000:g} ppm" == DRIFT
    assert workload.device.start_phase_ns == 600 * S


def test_in_real_time_messages_come_at_once_and_the_links_clock_is_put_forward() -> None:
    found = resolved(text(of(candidate("coaps")), ASKED, AS_ASKED, PLAIN, virtual=False))
    workload = found.scenarios[0].workload
    assert found.clock is Clock.LIVE
    assert isinstance(workload, Telemetry)
    assert workload.arrival == IdleStart(interval_ns=600 * S)
    assert (workload.exchanges, workload.device) == (IDLE_START_MESSAGES, None)


def test_a_trial_has_as_many_messages_as_its_candidates() -> None:
    [found] = scenarios(of(candidate("coaps", messages=7)))
    assert found.workload.rows == 7


def test_a_message_may_take_until_its_deadline() -> None:
    def timeout_s(deadline_s: int) -> float:
        [found] = scenarios(of(candidate("coaps")), replace(ASKED, deadline_ns=deadline_s * S))
        return found.workload.timeout_ns / S

    assert (timeout_s(10), timeout_s(300)) == (120, 300)


def test_a_quic_connection_outlives_the_interval_of_its_run() -> None:
    network = Network.of(profiles()["nb-iot-psm"], None)
    asked = replace(ASKED, protocols=("h3",))
    these, _ = candidates(asked, registered().protocols, network.forgets, "--protocols")
    kept = next(each for each in these if each.connection == "persistent")

    def idle_ms(every_s: int) -> object:
        [found] = scenarios(of(kept), asked, replace(AS_ASKED, every_ns=every_s * S))
        return found.settings["quic-idle-timeout"]

    assert (idle_ms(600), idle_ms(14_400), idle_ms(1)) == (1_200_000, 28_800_000, 30_000)
    # A month is more than the setting can be.
    assert idle_ms(30 * 86_400) == MOST_IDLE_MS


def test_a_reply_makes_it_a_request() -> None:
    [found] = scenarios(of(candidate("coaps")), replace(ASKED, reply_bytes=20), replace(AS_ASKED, send_bytes=65))
    assert found.workload.kind == "request-response"
    assert (found.workload.upload_bytes, found.workload.download_bytes) == (65, 20)


def test_a_contact_for_commands_sets_the_interval() -> None:
    assert Variant.of(replace(ASKED, command_within_ns=60 * S)) == Variant(send_bytes=64, every_ns=60 * S)
    assert Variant.of(ASKED) == Variant(64, 600 * S, loss=None, rtt_ns=None)


def test_a_name_that_toml_does_not_take_bare_is_quoted() -> None:
    assert (inline_key("coap+tcp"), inline_key("keep-alive"), inline_key("h3")) == ('"coap+tcp"', "keep-alive", "h3")
    written = text(of(replace(candidate("coap+tcp"), settings={"tls": "1.3"})), ASKED, AS_ASKED, PLAIN, virtual=True)
    assert '[protocols."coap+tcp"]\ntls = "1.3"' in written


def test_a_profile_of_the_users_own_is_a_link_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(
        '[link]\nrtt = "80 ms"\nnat = { udp = "90 s", tcp = "1 h" }\n', encoding="utf-8"
    )
    named = Named({}, {"mine": {"profile": str(tmp_path / "mine.toml")}})
    [found] = scenarios(of(candidate("coap"), links=["mine"], nat=STRICT), named=named)
    assert (found.link_name, one_way_ns(found.link)) == ("mine", [40_000_000, 40_000_000])
    assert found.link.nat is not None
    assert found.link.nat.udp_timeout_ns == 30 * S


def test_a_program_speaks_what_is_not_built_in() -> None:
    other = replace(candidate("mqtts-psk"), builtin=False, settings={"qos": 1})
    written = text(
        of(other, candidate("coaps")), ASKED, AS_ASKED, Named({"mqtts-psk": "its-program"}, {}), virtual=True
    )
    assert '[protocols.mqtts-psk]\nqos = 1\nimplementation = "its-program"' in written
    assert written.count("implementation") == 1
