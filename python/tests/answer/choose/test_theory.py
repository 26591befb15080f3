"""An answer follows from packets, from the radio and from the network: if one of them is another, the answer changes as
theory says, and no such number stands in the code.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from tests.answer.choose.trials import DOWN, PERSISTENT, Campaign, S, message, packets
from tests.wirelab_energy.radios import three_states
from wirelab.answer import choose
from wirelab.answer.choose.candidates import Candidate, Forgets, candidates
from wirelab.answer.choose.chosen import chosen
from wirelab.answer.choose.evidence import Evidence, Run
from wirelab.answer.choose.measured import OfChoice
from wirelab.answer.choose.network import Nat, Network
from wirelab.answer.choose.question import Asked
from wirelab.answer.choose.tariff import Tariff
from wirelab.experiment.library import Profile
from wirelab.metrics.energy_settings import Equipment
from wirelab.metrics.intervals import Logged
from wirelab.schema import registered
from wirelab.schema.choose import Chosen
from wirelab_energy import Radio

ASKED = Asked(send_bytes=64, every_ns=600 * S, link="nb", tariff=Tariff("EUR", 0.5e-6))
TWICE, ONCE = (Candidate(name, "udp", "none", "new", None, 24, {}) for name in ("twice", "once"))
"""One that wakes the radio twice for a message, and one that sends for long once it is awake."""
BIT_RATE, ANSWER_S, EVERY_S = 20e3, 0.2, 600.0
REQUESTS = 20
SENDS = {"twice": (0.0, 30.0), "once": tuple(ANSWER_S * nth for nth in range(REQUESTS))}
"""When each sends, from when a message is due; each request is answered after 200 ms."""


def by_hand(
    sends: Sequence[float], size: int, tail_s: float, *, awake_w: float = 0.05, transmit_w: float = 0.5
) -> float:
    """Joules of a message: sending, then awake until the tail after each answer is over, then asleep."""
    awake_until = [(start, start + ANSWER_S + tail_s) for start in sends]
    total_s, over = 0.0, 0.0
    for start, end in awake_until:
        total_s += end - max(start, over) if end > over else 0.0
        over = max(over, end)
    sending_s = len(sends) * size * 8 / BIT_RATE
    return sending_s * transmit_w + (total_s - sending_s) * awake_w + (EVERY_S - total_s) * 10e-6


def measured(
    folder: Path, radio: Radio, sends: Sequence[float], size: int = 111, pings: Sequence[float] = ()
) -> OfChoice:
    """Two trials of three messages each."""
    campaign = Campaign(folder, {"connection": PERSISTENT} if pings else {})
    rows = [message(nth) for nth in range(3)]
    flowed: list[Logged] = []
    for nth in range(3):
        flowed += packets(*(EVERY_S * nth + start for start in sends), up=size)
        flowed += packets(*(EVERY_S * nth + at for at in pings), up=40, down=40)
    flowed.sort(key=lambda each: each.packet.time_ns)
    campaign.trial(rows, flowed)
    campaign.trial(rows, flowed)
    return campaign.measured(equipment=Equipment(radio))


def answer(runs: Mapping[str, OfChoice], radio: Radio, network: Network | None = None) -> Chosen:
    """With one NAT at most, and one setting of the radio."""
    plain = network or Network(("nb",), (), {"typical": {}}, ())
    these = [each for each in (TWICE, ONCE) if each.protocol in runs]
    of: dict[Run, OfChoice] = {(each.name, "nb", None): runs[each.protocol] for each in these}
    return chosen(Evidence(ASKED, plain, these, {"nb": Equipment(radio)}, of), settled=True)


def of_radio(folder: Path, radio: Radio, size: int = 111) -> Chosen:
    return answer({name: measured(folder, radio, sends, size) for name, sends in SENDS.items()}, radio)


def joules(record: Chosen) -> dict[str, float]:
    return {each["protocol"]: each["energy_j"]["typical"] for each in record["choices"] if each["energy_j"] is not None}


def test_the_energy_of_a_choice_is_that_of_its_packets(tmp_path: Path) -> None:
    for tail_s in (1, 10, 40):
        found = joules(of_radio(tmp_path, three_states(inputs={"stays-awake": f"{tail_s} s"})))
        assert found == pytest.approx({name: by_hand(sends, 111, tail_s) for name, sends in SENDS.items()})


def test_the_radios_tail_decides_whether_waking_twice_or_sending_for_long_is_dearer(tmp_path: Path) -> None:
    # Another second of tail costs the one that wakes twice a second more than the other.
    apart = by_hand(SENDS["once"], 111, 0) - by_hand(SENDS["twice"], 111, 0)
    crossing_s = apart / (0.05 - 10e-6)
    assert 5 < crossing_s < 20
    shorter, longer = (three_states(inputs={"stays-awake": f"{crossing_s + more:.3f} s"}) for more in (-2, 2))
    assert of_radio(tmp_path, shorter)["first"] == TWICE.name
    assert of_radio(tmp_path, longer)["first"] == ONCE.name
    even = of_radio(tmp_path, three_states(inputs={"stays-awake": f"{crossing_s:.3f} s"}))
    assert (even["first"], {*even["alike"]}) == (None, {TWICE.name, ONCE.name})


def test_a_tail_of_the_network_that_nobody_knows_gives_each_of_its_values_a_first(tmp_path: Path) -> None:
    radio = three_states(ranges={"stays-awake": ["2 s", "40 s"]}, sources={"ranges.stays-awake": "my scale"})
    network = Network.of(Profile("nb", "", "", {}, {}), Equipment(radio))
    typical = next(iter(network.radios))
    runs = {}
    for name, sends in SENDS.items():
        found = measured(tmp_path, radio, sends)
        found.energies = {typical: found.energies["typical"]}
        for setting, equipment in network.variants(Equipment(radio)).items():
            found.energies[setting] = measured(tmp_path, equipment.radio, sends).energies["typical"]
        runs[name] = found
    record = answer(runs, radio, network)
    firsts = {each["levels"][0]: each["first"] for each in record["settings"]}
    assert firsts == {"10 s": [TWICE.name], "2 s": [TWICE.name], "40 s": [ONCE.name]}
    for each in record["settings"]:
        tail_s = float(each["levels"][0].removesuffix(" s"))
        expected = {f"{name}, new": by_hand(sends, 111, tail_s) for name, sends in SENDS.items()}
        assert each["values"] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("transmit", "awake", "first"),
    # Cheap sending favours the one that sends for long, and cheap waiting the one that waits twice.
    [("500 mW", "50 mW", TWICE), ("100 mW", "50 mW", ONCE), ("500 mW", "100 mW", ONCE), ("2 W", "100 mW", TWICE)],
)
def test_the_power_of_each_state_decides(tmp_path: Path, transmit: str, awake: str, first: Candidate) -> None:
    radio = three_states(power={"transmit": transmit, "awake": awake, "asleep": "10 uW"})
    record = of_radio(tmp_path, radio)
    awake_w, transmit_w = (radio.watts[name].typical for name in ("awake", "transmit"))
    expected = {
        name: by_hand(sends, 111, 10, awake_w=awake_w, transmit_w=transmit_w) for name, sends in SENDS.items()
    }  # fmt: skip
    assert joules(record) == pytest.approx(expected)
    assert record["first"] == first.name == f"{min(expected, key=expected.__getitem__)}, new"


def test_each_byte_costs_the_time_of_sending_it_and_its_price(tmp_path: Path) -> None:
    radio = three_states()
    small, large = (
        answer({"once": measured(tmp_path, radio, (0.0,), size)}, radio)["choices"][0] for size in (111, 311)
    )
    assert small["energy_j"] is not None and large["energy_j"] is not None
    more_j = large["energy_j"]["typical"] - small["energy_j"]["typical"]
    assert more_j == pytest.approx(200 * 8 / BIT_RATE * (0.5 - 0.05))
    assert (small["data_bytes"]["point"], large["data_bytes"]["point"]) == (147, 347)
    assert small["data_year_bytes"] is not None and large["data_year_bytes"] is not None
    more_bytes = large["data_year_bytes"] - small["data_year_bytes"]
    assert more_bytes == pytest.approx(200 * 365.25 * 144)
    assert small["cost_year"] is not None and large["cost_year"] is not None
    assert large["cost_year"] - small["cost_year"] == pytest.approx(more_bytes * 0.5e-6, rel=1e-5)


def test_a_protocol_with_fewer_bytes_is_first_until_it_has_more(tmp_path: Path) -> None:
    radio = three_states()
    other = measured(tmp_path, radio, (0.0,), 300)
    for size, first in ((200, ONCE.name), (400, TWICE.name)):
        record = answer({"once": measured(tmp_path, radio, (0.0,), size), "twice": other}, radio)
        assert record["first"] == first


def test_without_a_radio_bytes_alone_decide_however_they_are_sent(tmp_path: Path) -> None:
    runs: dict[Run, OfChoice] = {
        (TWICE.name, "nb", None): measured(tmp_path, three_states(), SENDS["twice"], 400),
        (ONCE.name, "nb", None): measured(tmp_path, three_states(), SENDS["once"], 10),
    }
    network = Network(("nb",), (), {"": {}}, ())
    record = chosen(Evidence(ASKED, network, (TWICE, ONCE), {}, runs), settled=True)
    sizes = {"twice": 2 * (400 + DOWN), "once": REQUESTS * (10 + DOWN)}
    assert {each["protocol"]: each["data_bytes"]["point"] for each in record["choices"]} == sizes
    assert (record["criterion"], record["first"], record["spread"]) == (
        "data", TWICE.name, pytest.approx(sizes["once"] / sizes["twice"])
    )  # fmt: skip


def pinging(nat_s: int) -> list[Candidate]:
    """What is tried of a protocol where a NAT forgets after so long."""
    found, _ = candidates(
        replace(ASKED, protocols=("coaps",)),
        registered().protocols,
        Forgets((nat_s * S, nat_s * S), None),
        "--protocols",
    )
    return found


@pytest.mark.parametrize(
    ("nat_s", "first"), [(30, "coaps, new"), (120, "coaps, new"), (400, "coaps, persistent, a ping each 5.33 min")]
)
def test_the_longer_a_nat_remembers_the_less_keeping_a_connection_costs(tmp_path: Path, nat_s: int, first: str) -> None:
    """To open a connection takes many packets, and each keep-alive wakes the radio once."""
    radio = three_states()
    fresh, _, pings = pinging(nat_s)
    assert pings.keep_alive_ns == 0.8 * nat_s * S
    every_s = pings.keep_alive_ns / 1e9
    times = [every_s * nth for nth in range(1, 1 + int((EVERY_S - 1) / every_s))]
    runs: dict[Run, OfChoice] = {
        (fresh.name, "nb", None): measured(tmp_path, radio, SENDS["once"], 400),
        (pings.name, "nb", None): measured(tmp_path, radio, (0.0,), pings=times),
    }
    network = Network(("nb",), (), {"typical": {}}, ())
    record = chosen(Evidence(ASKED, network, (fresh, pings), {"nb": Equipment(radio)}, runs), settled=True)
    found = {each["name"]: each["energy_j"] for each in record["choices"]}
    kept_j = found[pings.name]
    assert kept_j is not None
    alone, tail_j = by_hand((0.0,), 111, 10), by_hand((0.0,), 40, 10) - EVERY_S * 10e-6
    assert kept_j["typical"] == pytest.approx(alone + len(times) * tail_j)
    assert record["first"] == first


def test_with_another_nat_as_the_typical_one_another_choice_is_first(tmp_path: Path) -> None:
    radio = three_states()
    fresh, kept, _ = pinging(30)
    lenient, strict = Nat("30 min", None), Nat("30 s", None)
    small, large = measured(tmp_path, radio, (0.0,)), measured(tmp_path, radio, SENDS["once"], 300)
    losing = replace(small, lost=5, lost_share=replace(small.lost_share, point=5 / 6))
    runs: dict[Run, OfChoice] = {(kept.name, "nb", lenient): small, (kept.name, "nb", strict): losing}
    firsts = []
    for nats in ((lenient, strict), (strict, lenient)):
        of = {**runs, (fresh.name, "nb", nats[0]): large}
        network = Network(("nb",), nats, {"typical": {}}, ())
        record = chosen(Evidence(ASKED, network, (kept, fresh), {"nb": Equipment(radio)}, of), settled=True)
        assert {tuple(each["levels"]): each["first"] for each in record["settings"]} == {
            (lenient.words,): [kept.name], (strict.words,): [fresh.name]
        }  # fmt: skip
        firsts.append(record["first"])
    assert firsts == [kept.name, fresh.name]


NUMBERS = frozenset({0, 1, 2, 4, 6, 0.5, 10, 12, 100, 365.25, 1e9, 8e9, 1e-9})
"""Of arithmetic, of units and of the calendar."""
QUANTILE, QUIC_IDLE_MS = 0.95, 30_000


def test_no_number_of_a_protocol_a_radio_or_a_network_stands_in_a_function() -> None:
    """What was decided for all of them stands at the top of its module, with its reason."""
    [folder] = choose.__path__
    for path in sorted(Path(folder).glob("*.py")):
        functions = [each for each in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(each, ast.FunctionDef)]
        nodes = (node for each in functions for node in ast.walk(each) if isinstance(node, ast.Constant))
        found = {node.value for node in nodes if isinstance(node.value, int | float)}
        assert found <= NUMBERS | {QUANTILE, QUIC_IDLE_MS}, path.name
