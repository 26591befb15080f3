"""Runs of patterns: what is asked of a host, what is kept, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from tests.enumeration.lossy_host import LossyHost, subject
from tests.enumeration.toy import in_a_row, request_and_reply
from wirelab.enumeration.bounds import Weighed
from wirelab.enumeration.loss import Independent, Loss
from wirelab.enumeration.rest import Rest
from wirelab.enumeration.search import Asked, Search
from wirelab.errors import RunError
from wirelab.runner.enumeration import Enumeration, Sampled, Samples, Singles
from wirelab.runner.patterns import PATTERNS, Patterns, known_in, pattern_name, trial_name

LOSS = Loss(Independent(0.02), Independent(0.02))


def _patterns(host: LossyHost, folder: Path, jobs: int = 2) -> Patterns:
    (folder / "trials").mkdir(exist_ok=True)
    if not (folder / PATTERNS).exists():
        (folder / PATTERNS).write_text("{}\n")
    return Patterns(cast("Any", host), host.endpoints, folder, jobs, host.read, known_in(folder))


def _search(within: float = 0.001) -> Search:
    return Search([Asked(LOSS, within)], [0.1, 0.3])


def _never() -> bool:
    return False


def test_a_search_is_run_until_it_is_bounded_and_its_runs_are_those_on_paper(tmp_path: Path) -> None:
    host, search = LossyHost(in_a_row(4)), _search()
    heard: list[float] = []
    _patterns(host, tmp_path).run(Enumeration([(subject(), search)], heard.append), _never)
    assert search.urgency <= 1 and heard[-1] == search.urgency
    assert len(heard) == host.started == len(search.tree.runs)
    for pattern, run in search.tree.runs.items():
        assert run.end_s == in_a_row(4)(pattern).end_s
    found = Weighed.of(search.tree, LOSS).beyond(0.1)
    assert found.low - 1e-12 <= 1 - 0.98**4 <= found.high + 1e-12


def test_the_scenario_that_is_furthest_from_its_bounds_is_next(tmp_path: Path) -> None:
    wide, narrow = _search(0.001), _search(0.05)
    source = Enumeration([(subject(), narrow), (subject(1), wide)], lambda _: None)
    _patterns(LossyHost(in_a_row(4)), tmp_path).run(source, _never)
    assert len(narrow.tree.runs) < len(wide.tree.runs)


def test_the_same_command_continues_and_a_torn_line_is_run_again(tmp_path: Path) -> None:
    first = LossyHost(in_a_row(4))
    _patterns(first, tmp_path).run(Enumeration([(subject(), _search())], lambda _: None), _never)
    journal = tmp_path / PATTERNS
    journal.write_text(journal.read_text()[:-20])
    again, search = LossyHost(in_a_row(4)), _search()
    _patterns(again, tmp_path).run(Enumeration([(subject(), search)], lambda _: None), _never)
    assert again.started == 1
    assert len(search.tree.runs) == first.started


def test_records_stay_of_single_losses_alone(tmp_path: Path) -> None:
    mine, search = subject(), _search()
    _patterns(LossyHost(in_a_row(4)), tmp_path).run(Enumeration([(mine, search)], lambda _: None), _never)
    kept = {folder.name for folder in (tmp_path / "trials").iterdir()}
    assert kept == {trial_name(mine.trial, pattern_name(each)) for each in search.tree.runs if len(each) <= 1}
    assert len({len(name) for name in kept}) == 1


def test_a_run_that_is_no_function_of_its_losses_is_an_error(tmp_path: Path) -> None:
    class Drifting(LossyHost):
        def read(self, folder: Path, trial: str) -> Any:
            draws, end_s = super().read(folder, trial)
            later = self.started * 1e-9
            return tuple(type(each)(each.direction, each.lost, each.at_s + later) for each in draws), end_s

    with pytest.raises(RunError, match="not repeatable"):
        _patterns(Drifting(in_a_row(4)), tmp_path).run(Enumeration([(subject(), _search())], lambda _: None), _never)


def test_a_guest_that_fails_is_an_error_with_its_reason(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="no room"):
        host = LossyHost(in_a_row(4), refuses=3)
        _patterns(host, tmp_path, jobs=1).run(Enumeration([(subject(), _search())], lambda _: None), _never)
    assert len(known_in(tmp_path)) == 2


def test_nothing_begins_once_the_time_is_up(tmp_path: Path) -> None:
    host = LossyHost(in_a_row(4))
    search = _search()
    _patterns(host, tmp_path).run(Enumeration([(subject(), search)], lambda _: None), lambda: host.started >= 5)
    assert host.started == len(search.tree.runs) == 5


def test_every_packet_is_lost_alone_those_after_the_end_too(tmp_path: Path) -> None:
    host, mine = LossyHost(request_and_reply()), subject()
    patterns = _patterns(host, tmp_path)
    patterns.run(Enumeration([(mine, _search(0.5))], lambda _: None), _never)
    assert host.started == 1
    root = patterns.known[mine.trial.trial, pattern_name(())]
    patterns.run(Singles([(mine, root)], patterns.known), _never)
    assert {run.pattern for run in patterns.known.values()} == {(), (0,), (1,)}


def test_samples_fill_what_enumeration_leaves_whatever_ends_first(tmp_path: Path) -> None:
    results = []
    for jobs in (1, 4):
        folder = tmp_path / str(jobs)
        folder.mkdir()
        host, mine, search = LossyHost(in_a_row(5)), subject(), _search(0.05)
        _patterns(host, folder, jobs=1).run(Enumeration([(mine, search)], lambda _: None), _never)
        rest = Rest(search.tree, Loss(Independent(0.2), Independent(0.2)), seed=1)
        sampled = Sampled(mine, "20 %", rest, 0.1, [0.3])
        before = sampled.urgency()
        _patterns(host, folder, jobs).run(Samples([sampled], lambda _: None, most=60), _never)
        assert len(rest.runs) <= 60 and sampled.urgency() < before
        results.append([run.end_s for run in rest.runs][:40])
    assert results[0] == results[1]
