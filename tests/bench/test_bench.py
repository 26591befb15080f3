"""What the bench makes of what it measured."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import bench.__main__
import numpy as np
import pytest
from bench import results
from bench.flow import Received, read
from bench.instructions import Counts, beyond_tolerance, changes, rows
from bench.peers import Stages
from bench.process import FailedError, User
from bench.questions import delay, throughput
from bench.questions.delay import figures_of
from bench.questions.rate import estimate_rate, idle_times
from bench.results import Answer, Target
from bench.setup import Setup


def even_packets(rate_bps: float, ip_bytes: int, count: int, jitter_ns: int = 0) -> Received:
    """Back to back at a rate, their stamps off by no more than the jitter."""
    number = np.arange(count)
    stamps = np.round(number * 8e9 * ip_bytes / rate_bps).astype(np.int64)
    stamps += np.random.default_rng(1).integers(0, jitter_ns + 1, count)
    return Received(number, np.zeros(count, dtype=np.int64), stamps + 10**15)


def test_a_rate_is_the_bits_behind_the_first_packet_over_the_time() -> None:
    estimate = estimate_rate(even_packets(999_000, 1500, 1000), 1_000_000, 1500)
    assert estimate.error_percent == pytest.approx(-0.1, abs=1e-6)
    assert estimate.seconds == pytest.approx(999 * 12_000 / 999_000)
    assert estimate.packets == 1000


def test_the_stated_resolution_covers_what_jitter_does_to_the_estimate() -> None:
    for seed_count in (200, 300, 400):
        estimate = estimate_rate(even_packets(1e6, 1500, seed_count, jitter_ns=1_000_000), 1_000_000, 1500)
        assert 0 < abs(estimate.error_percent) <= estimate.resolution_percent
    exact = estimate_rate(even_packets(1e6, 1500, 200), 1_000_000, 1500)
    assert exact.resolution_percent == pytest.approx(0, abs=1e-6)


def test_a_rate_without_packets_is_detected() -> None:
    assert idle_times([0, 0, 500, 1000], 1e-6) == 0
    assert idle_times([0, 0, 2000, 2001], 1e-6) == 0
    assert idle_times([0, 0, 2001, 2001, 5000], 1e-6) == 2


def test_the_lines_of_a_sink_have_number_send_time_and_receive_time() -> None:
    received = read("0 1000 3500 16\n2 5000 9000 16\n")
    assert received.number.tolist() == [0, 2]
    assert received.one_way_us.tolist() == [2.5, 4.0]
    assert read("").number.size == 0
    with pytest.raises(FailedError, match="the receiver said: error: no"):
        read("0 1000 3500 16\nerror: no\n")


def test_quantiles_are_values_that_occurred() -> None:
    figures = figures_of(np.arange(1, 1001, dtype=np.float64))
    assert figures == {"p50": 500.0, "p99": 990.0, "p99.9": 999.0, "max": 1000.0}


def test_the_expected_delay_is_the_delay_plus_the_bytes_at_the_rate() -> None:
    assert Stages(10.0).configured_ms(1500) == 10.0
    assert Stages(10.0, rate_bps=1_000_000).configured_ms(1500) == 22.0
    assert Stages(0.0, rate_bps=1_000_000).configured_ms(1486, more_bytes=14) == 12.0


def test_a_target_is_met_missed_or_not_measured() -> None:
    assert [Target("x", "us", value, "<=", 5.0).verdict for value in (4.0, 5.0, 5.1, None)] == [
        "met", "met", "missed", "not measured",
    ]  # fmt: skip
    least = Target("x", "", 0.3, ">=", 0.6)
    assert (least.verdict, least.ratio) == ("missed", 0.5)


def test_a_figure_that_must_be_zero_has_no_ratio() -> None:
    assert [(target.verdict, target.ratio) for target in (Target("x", "", value, "<=", 0) for value in (0, 1))] == [
        ("met", None), ("missed", None),
    ]  # fmt: skip


@pytest.fixture
def setup(tmp_path: Path) -> Setup:
    """One user, whose agent and instruments say nothing that a question can use."""
    agent = tmp_path / "agent"
    agent.write_text("#!/bin/sh\necho no such thing >&2\nexit 1\n")
    agent.chmod(0o755)
    users = (User("user", None),)
    return Setup(agent, agent, tmp_path, users, {"user": "slice"}, (), (), quick=True)


def test_a_path_that_fails_leaves_its_targets_not_measured(setup: Setup) -> None:
    found = throughput.answer(setup)
    assert [target.verdict for target in found.targets] == ["not measured"] * 3
    assert sum("a round of veth and wirelab failed" in note for note in found.notes) == throughput.ROUNDS


def test_without_plain_veth_no_delay_is_measured(setup: Setup, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise FailedError("no veth")

    monkeypatch.setattr(delay, "send", fail)
    monkeypatch.setattr(delay, "first_cpu", lambda: None)
    found = delay.answer(setup)
    assert [target.verdict for target in found.targets] == ["not measured"] * 2 * len(delay.DELAYS_MS)
    assert found.rows == []


def test_a_path_with_unreadable_output_leaves_its_targets_not_measured(
    setup: Setup, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(throughput, "run", lambda *_, **__: "no JSON")
    found = throughput.answer(setup)
    assert [target.verdict for target in found.targets] == ["not measured"] * 3


def test_an_unanswered_question_still_counts_among_the_targets(setup: Setup, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: Setup) -> Answer:
        raise ZeroDivisionError

    monkeypatch.setitem(bench.__main__.QUESTIONS, "delay", fail)
    found = bench.__main__._ask("delay", setup)
    assert results.summary([found]) == "1 target: 0 met, 0 missed, 1 not measured"
    assert found.notes == ["not answered: ZeroDivisionError()"]


def test_more_datagrams_than_were_sent_are_as_wrong_as_fewer(setup: Setup, monkeypatch: pytest.MonkeyPatch) -> None:
    rounds = iter([0, -7, 2])

    def measure(*_: object, **__: object) -> str:
        rates = {"packets_per_second": 1000.0, "bits_per_second": 1e9}
        off = next(rounds)
        return json.dumps({"flows": [
            {"path": "link", "kind": "udp", "unaccounted": off, **rates},
            {"path": "link", "kind": "tcp", "unaccounted": None, **rates},
        ]})  # fmt: skip

    monkeypatch.setattr(throughput, "run", measure)
    found = throughput.answer(setup)
    assert [row[-1] for row in found.rows] == [-7, None]
    [target] = [target for target in found.targets if "no counter explains" in target.what]
    assert (target.measured, target.verdict) == (7, "missed")


def test_results_are_read_back_with_the_missed_targets(tmp_path: Path) -> None:
    answer = Answer("delay", "Delay", ("path", "p50"), [("veth", 1.5), ("wirelab", None)], notes=["a note"])
    answer.targets += [Target("p50", "us", 9.0, "<=", 5.0), Target("p99", "us", None, "<=", 20.0)]
    results.write(tmp_path, {"cpu": "x"}, [answer])
    document = json.loads((tmp_path / "bench.json").read_text())
    assert document["machine"] == {"cpu": "x"}
    assert document["questions"][0]["rows"] == [{"path": "veth", "p50": 1.5}, {"path": "wirelab", "p50": None}]
    with (tmp_path / "targets.csv").open() as file:
        assert [row["verdict"] for row in csv.DictReader(file)] == ["missed", "not measured"]
    assert (tmp_path / "delay.csv").read_text().splitlines() == ["path,p50", "veth,1.5", "wirelab,"]
    assert results.summary([answer]).splitlines() == [
        "2 targets: 0 met, 1 missed, 1 not measured",
        "missed: p50: 9 us (<= 5)",
    ]
    assert "wirelab" in answer.text()
    assert "note: a note" in answer.text()


def test_a_change_of_instructions_beyond_the_tolerance_is_named() -> None:
    kept = Counts("rustc 1", "avx2", {"delay": 1000.0, "loss": 1000.0, "gone": 1.0})
    counted = Counts("rustc 1", "avx2", {"delay": 1019.0, "loss": 970.0, "new": 5.0})
    assert counted.comparable(kept)
    assert not counted.comparable(Counts("rustc 2", "avx2", {}))
    assert beyond_tolerance(counted, kept) == {"loss": pytest.approx(-0.03), "gone": float("inf")}
    assert changes(counted, kept)["delay"] == pytest.approx(0.019)
    assert rows(counted, kept)[0] == ("delay", 1019.0, 1000.0, pytest.approx(1.9))
    assert rows(counted, None)[2] == ("new", 5.0, None, None)
