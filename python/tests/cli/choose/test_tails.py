"""How probable a late acknowledgement is: of which choices every pattern of lost packets is run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.cli.choose.worlds import S, World, live_in, typically, work_of
from tests.enumeration.toy import grown, in_a_row
from wirelab.cli.choose.tails import BUDGET_S, MOST, WITHIN, tails
from wirelab.cli.choose.work import Work
from wirelab.clock.kernel import Kernel
from wirelab.enumeration.answer import Grown
from wirelab.runner.exact import Found, How, Question, UnbegunError
from wirelab.schema.exact import ExactBounds
from wirelab.schema.plan import Plan

PACKETS, LOSS = 4, 0.05
LOSSY = f'[link]\nrtt = "100 ms"\nloss = "{100 * LOSS:g} %"\n'


class Enumerated:
    """Each choice takes packets in a row, each of which is sent again after 200 ms until it comes."""

    def __init__(self, patched: pytest.MonkeyPatch) -> None:
        self.questions: list[Question] = []
        self.budget_s = 0.0

        def enumerate_losses(_plan: Plan, folder: Path, questions: Sequence[Question], how: How) -> Found:
            assert folder.name == "tails"
            how.tell(7, 1.5, 2.0, "begun")
            self.questions += questions
            self.budget_s = how.budget_s
            tree = grown(in_a_row(PACKETS), 2)
            made = [
                Grown(
                    name=each.scenario.name, protocol=each.scenario.protocol, client="builtin", server="builtin",
                    seed=1, trial="t", asked=each.losses, beyond_s=each.beyond_s, tree=tree, rests={}, whole=tree.runs,
                )
                for each in questions
            ]  # fmt: skip
            return Found(made, Kernel(Path("/nowhere"), "7.2", "r", 250, "gcc", "s", "o"), 1.0)

        patched.setattr("wirelab.runner.exact.enumerate_losses", enumerate_losses)


def _too_late(*_: object) -> Found:
    raise UnbegunError("coaps, new was not run even once within the budget")


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lossy.toml").write_text(LOSSY, encoding="utf-8")


@pytest.fixture
def enumerated(monkeypatch: pytest.MonkeyPatch) -> Enumerated:
    return Enumerated(monkeypatch)


def found(patched: pytest.MonkeyPatch, *, virtual: bool = True, **asked: Any) -> tuple[dict[str, ExactBounds], Work]:
    live_in(World(), patched, virtual=virtual)
    work = typically(work_of(Path("x"), **{"link": "./lossy.toml", "deadline_ns": S // 10, **asked}))
    return tails(work), work


def test_each_new_connection_has_the_probability_that_it_is_late(
    monkeypatch: pytest.MonkeyPatch, enumerated: Enumerated
) -> None:
    bounds, _ = found(monkeypatch)
    assert {*bounds} == {"coaps, new", "mqtts, new"}
    # Later than 100 ms is what loses a packet or more.
    expected = 1 - (1 - LOSS) ** PACKETS
    for each in bounds.values():
        assert each["low"] - 1e-9 <= expected <= each["high"] + 1e-9
        assert each["high"] - each["low"] < 0.01
    for question in enumerated.questions:
        assert (question.beyond_s, question.scenario.workload.rows) == ((0.1,), 1)
        assert [asked.within for asked in question.losses.values()] == [WITHIN]


def test_only_some_of_the_lowest_are_enumerated(monkeypatch: pytest.MonkeyPatch, enumerated: Enumerated) -> None:
    bounds, _ = found(monkeypatch, protocols=("https1", "mqtts", "amqps", "h2", "coaps"))
    assert len(bounds) == MOST
    assert "coaps, new" in bounds


def test_what_third_parties_speak_is_not_enumerated(monkeypatch: pytest.MonkeyPatch, enumerated: Enumerated) -> None:
    bounds, _ = found(monkeypatch, protocols=("coaps", "mqtts-psk"), auth="psk")
    assert {*bounds} == {"coaps, new"}


def test_nothing_is_enumerated_without_a_deadline_without_losses_or_in_real_time(
    monkeypatch: pytest.MonkeyPatch, enumerated: Enumerated
) -> None:
    assert found(monkeypatch, deadline_ns=None)[0] == {}
    assert found(monkeypatch, link="nb-iot-psm", deadline_ns=S)[0] == {}
    assert found(monkeypatch, virtual=False)[0] == {}
    assert enumerated.questions == []


def test_a_link_whose_losses_are_no_function_of_its_packets_is_left_out(
    monkeypatch: pytest.MonkeyPatch, enumerated: Enumerated
) -> None:
    bounds, work = found(monkeypatch, link="wifi-poor")
    assert (bounds, work.warnings, enumerated.questions) == ({}, [], [])


def test_the_budget_bounds_it_and_says_so(monkeypatch: pytest.MonkeyPatch, enumerated: Enumerated) -> None:
    found(monkeypatch)
    assert enumerated.budget_s == BUDGET_S
    _, work = found(monkeypatch)
    monkeypatch.setattr("wirelab.runner.budget.time.monotonic", lambda: work.budget.ends_s - 7.0)
    tails(work)
    assert enumerated.budget_s == pytest.approx(7.0)
    monkeypatch.setattr("wirelab.runner.budget.time.monotonic", lambda: work.budget.ends_s + 1.0)
    assert tails(work) == {}
    assert work.warnings == ["The budget did not allow enumerating lost packets; a longer --budget continues."]


def test_a_budget_that_is_too_short_for_one_run_of_each_leaves_it_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wirelab.runner.exact.enumerate_losses", _too_late)
    bounds, work = found(monkeypatch)
    assert bounds == {}
    assert work.warnings == ["The budget did not allow enumerating lost packets; a longer --budget continues."]
