"""The energies of one trial, from its exchanges and packets."""

from __future__ import annotations

from typing import Any

import pytest

from tests.documents import whole_scenario
from tests.wirelab_energy.radios import three_states
from wirelab.errors import RunError
from wirelab.metrics import trial_energy
from wirelab.metrics.energy_names import BOUNDS, TRIAL, TRIAL_CLOSING, TRIAL_MESSAGES, TRIAL_SETUP, column
from wirelab.metrics.energy_settings import Equipment
from wirelab.metrics.intervals import Logged
from wirelab.metrics.trial_energy import TrialEnergy
from wirelab.schema.plan import Scenario
from wirelab_energy import Packet, Radio, load_device, load_radio, radio_energy

S = 10**9
EVERY = {"process": "periodic", "interval_ns": 600 * S}
RADIO = three_states()
ROUND_TRIP = (0.0, True), (0.2, False)


def scenario(**workload: Any) -> Scenario:
    given = {"arrival": EVERY, "exchanges": 9, **workload}
    return Scenario.model_validate(whole_scenario({"key": "s", "workload": given}))


def message(at_s: float, index: int = 0, **given: Any) -> dict[str, Any]:
    at_ns = round(at_s * S)
    return {
        "client": 0, "index": index, "intended_start_ns": at_ns, "start_ns": at_ns, "request_start_ns": at_ns,
        "outcome": "completed", "connection_reused": False, "local_port": 1, **given,
    }  # fmt: skip


def packets(*starts: float, port: int = 1, rested_s: float = 0) -> list[Logged]:
    """A request of 111 B at each start, and its answer of 36 B."""
    return [
        Logged(Packet(round((start + after) * S), up, 111 if up else 36), port, round(rested_s * S))
        for start in starts
        for after, up in ROUND_TRIP
    ]


def taken(
    rows: list[dict[str, Any]],
    logged: list[Logged],
    of: Scenario | None = None,
    equipment: Equipment | None = None,
    work_ns: int | None = None,
) -> TrialEnergy:
    return TrialEnergy(equipment or Equipment(RADIO), "t", of or scenario(), rows, logged, work_ns)


def typical(energy: TrialEnergy, what: str) -> list[float | None]:
    return [row.get(column(what, "typical")) for row in energy.exchanges()]


def whole(energy: TrialEnergy) -> dict[str, float]:
    [row] = energy.whole()
    return row


def test_each_message_pays_for_its_interval_and_the_last_one_too() -> None:
    starts = [0, 600, 1200]
    energy = taken([message(start, nth) for nth, start in enumerate(starts)], packets(*starts))
    assert typical(energy, "interval-energy") == pytest.approx([0.535878] * 3)
    assert typical(energy, "day-energy") == pytest.approx([144 * 0.535878] * 3)
    # By itself an exchange ends with its tail, 10.2 s long.
    assert typical(energy, "radio-energy") == pytest.approx([0.0222 + 0.50778] * 3)
    assert typical(energy, "setup-energy") == [None] * 3
    assert whole(energy)[column(TRIAL, "typical")] == pytest.approx(3 * 0.535878)
    assert energy.counted == 3


def test_parts_make_up_the_trial_in_every_bound() -> None:
    rows = [
        message(5, request_start_ns=round(5.5 * S)), message(605, 1, connection_reused=True),
        message(1205, 2, outcome="failed", request_start_ns=None, connection_reused=False),
    ]  # fmt: skip
    logged = [*packets(1, 5, 5.6, 605, 700, 1205, 1900)]
    radio = load_radio("nrf9160-nbiot")
    energy = taken(rows, logged, scenario(connection={"policy": "persistent", "connections": 1}), Equipment(radio))
    found = whole(energy)
    for bound in BOUNDS:
        parts = [found[column(what, bound)] for what in (TRIAL_SETUP, TRIAL_MESSAGES, TRIAL_CLOSING)]
        assert sum(parts) == pytest.approx(found[column(TRIAL, bound)], rel=1e-9)
        assert min(parts) > 0
    setup, *others = typical(energy, "setup-energy")
    assert setup == pytest.approx(found[column(TRIAL_SETUP, "typical")])
    assert others == [None, None]


def test_keep_alives_are_charged_to_the_message_before_them() -> None:
    kept = scenario(connection={"policy": "persistent", "connections": 1})
    rows = [message(0), *(message(600 * nth, nth, connection_reused=True) for nth in (1, 2))]
    quiet = taken(rows, packets(0, 600, 1200), kept)
    kept_alive = taken(rows, packets(0, 600, *(660 + 60 * nth for nth in range(9)), 1200), kept)
    [_, before, _], [_, after, last] = typical(quiet, "interval-energy"), typical(kept_alive, "interval-energy")
    assert before == last == pytest.approx(0.535878)
    # Nine pings, each with its tail and less sleep.
    awake = 0.0222 + 0.50778 - 10.2 * 10e-6
    assert after == pytest.approx(0.535878 + 9 * awake)
    assert typical(kept_alive, "radio-energy")[1] > 9 * awake


def test_parts_that_do_not_add_up_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def torn(radio: Radio, *given: Any) -> Any:
        found, parts = real(radio, *given)
        return found, parts[1:]

    real = trial_energy.partition
    monkeypatch.setattr(trial_energy, "partition", torn)
    with pytest.raises(RunError, match="energies of trial t do not add up: its parts have"):
        taken([message(0)], packets(0))


def test_a_message_that_failed_or_timed_out_counts_in_the_interval_and_not_by_itself() -> None:
    rows = [message(0, outcome="failed"), message(600, 1, outcome="timed-out"), message(1200, 2, outcome="unsupported")]
    energy = taken(rows, packets(0, 600, 1200))
    assert typical(energy, "interval-energy") == pytest.approx([0.535878, 0.535878, None])
    [*states] = energy.states()
    assert {row["exchanges"] for row in states} == {0}
    assert {row["days"] for row in states} == {2}


def test_a_trial_without_a_packet_sleeps_through_its_intervals() -> None:
    energy = taken([message(0), message(600, 1)], [])
    assert typical(energy, "interval-energy") == pytest.approx([600 * 10e-6] * 2)
    assert list(taken([message(0)], [], scenario(arrival={"process": "closed"})).whole()) == []


def test_a_closed_loop_has_no_intervals_and_its_trial_ends_with_the_tail() -> None:
    logged = packets(0, 1)
    closed = scenario(arrival={"process": "closed"})
    energy = taken([message(0), message(1, 1)], logged, closed)
    assert typical(energy, "interval-energy") == [None, None]
    assert energy.counted == 0
    alone = radio_energy(RADIO, [each.packet for each in logged], 0, logged[-1].packet.time_ns)
    assert whole(energy)[column(TRIAL, "typical")] == pytest.approx(alone.joules.typical)


def test_a_first_message_with_a_wake_that_others_lack_is_not_in_the_mean() -> None:
    # The radio stays awake for 10 s, and messages come every 5 s.
    often = scenario(arrival={"process": "periodic", "interval_ns": 5 * S})
    energy = taken([message(5 * nth, nth) for nth in range(3)], packets(0, 5, 10), often)
    steady = 0.0222 + (5 - 0.0444) * 0.05
    assert typical(energy, "interval-energy") == [None, pytest.approx(steady), pytest.approx(steady)]
    assert energy.counted == 2


def test_each_client_is_a_device_with_a_radio_of_its_own() -> None:
    rows = [message(0), message(0.1, client=1, local_port=2)]
    logged = sorted([*packets(0), *packets(0.1, port=2), *packets(300, port=9)], key=lambda each: each.packet.time_ns)
    energy = taken(rows, logged, scenario(clients=2, exchanges=1))
    assert typical(energy, "interval-energy") == pytest.approx([0.535878] * 2)
    assert whole(energy)[column(TRIAL, "typical")] == pytest.approx(2 * 0.535878)
    assert energy.unowned == 2
    assert taken(rows[:1], logged).unowned == 0


def test_where_intervals_mean_nothing_the_trial_still_has_its_parts() -> None:
    energy = TrialEnergy(Equipment(RADIO), "t", scenario(), [message(0)], packets(0), None, intervals=False)
    assert typical(energy, "interval-energy") == [None]
    assert whole(energy)[column(TRIAL_MESSAGES, "typical")] == pytest.approx(0.535878)


def test_an_idle_start_costs_what_waiting_would() -> None:
    rows = [message(0), message(1, 1)]
    rested = taken(rows, [*packets(0), *packets(1, rested_s=599)])
    waited = taken([message(0), message(600, 1)], packets(0, 600))
    assert typical(rested, "interval-energy") == typical(waited, "interval-energy") == pytest.approx([0.535878] * 2)
    assert whole(rested) == whole(waited)


def test_a_message_that_began_after_the_last_interval_shows_an_overload() -> None:
    rows = [message(0), message(600, 1, start_ns=1201 * S)]
    assert taken(rows, packets(0, 1201)).overloaded
    assert not taken([message(0), message(600, 1)], packets(0, 600)).overloaded


def test_a_day_has_the_devices_sleep_and_its_processors_work_for_each_message() -> None:
    device = load_device("raspberry-pi-3")
    rows = [message(0), message(600, 1, outcome="failed")]
    energy = taken(
        rows, packets(0, 600), equipment=Equipment(RADIO, device, measured_on_device=True), work_ns=4 * 10**6
    )
    each_j = 0.535878 + 600 * device.sleep.value.typical + device.cpu_joules(2e-3).typical
    assert typical(energy, "day-energy") == pytest.approx([144 * each_j] * 2)
    # All of the client's time is that of the one that completed.
    assert typical(energy, "message-energy")[0] == pytest.approx(0.0222 + 0.50778 + device.cpu_joules(4e-3).typical)
    unknown = taken(rows, packets(0, 600), equipment=Equipment(RADIO, device, measured_on_device=True))
    assert typical(unknown, "day-energy") == [None, None]
    assert typical(unknown, "interval-energy") == pytest.approx([0.535878] * 2)


def test_a_trial_without_exchanges_has_the_energy_of_its_packets() -> None:
    energy = taken([], packets(0))
    assert list(energy.exchanges()) == []
    assert whole(energy)[column(TRIAL, "typical")] == pytest.approx(0.0222 + 0.50778)
