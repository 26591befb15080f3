"""The order in which patterns are run."""

from __future__ import annotations

import pytest

from tests.enumeration.toy import in_a_row, request_and_reply
from wirelab.enumeration.bounds import Weighed
from wirelab.enumeration.loss import Independent, Loss
from wirelab.enumeration.search import Asked, Search


def _asked(rate: float, within: float) -> Asked:
    return Asked(Loss(Independent(rate), Independent(rate)), within)


def test_a_search_ends_once_every_probability_is_bounded() -> None:
    simulated, asked = in_a_row(4), [_asked(0.01, 0.001), _asked(0.02, 0.005)]
    search = Search(asked, [0.1, 0.2, 1.0])
    while (pattern := search.next()) is not None:
        search.add(simulated(pattern))
    for each in asked:
        weighed = Weighed.of(search.tree, each.loss)
        assert all(weighed.beyond(x_s).width <= each.within for x_s in (0.1, 0.2, 1.0))
        assert weighed.beyond(1.0).width == pytest.approx(search.left(asked.index(each)), abs=1e-12)
    assert 5 <= len(search.tree.runs) < 40


def test_the_heaviest_patterns_come_first_and_the_run_without_losses_before_all() -> None:
    simulated = request_and_reply()
    search = Search([Asked(Loss(Independent(0.01), Independent(0.2)), 0.001)], [10.0])
    assert [search.next(), search.next()] == [(), None]
    search.add(simulated(()))
    assert [search.next(), search.next(), search.next()] == [(1,), (0,), None]


def test_nothing_is_run_if_the_run_without_losses_bounds_everything() -> None:
    search = Search([_asked(0.001, 0.01)], [10.0])
    search.add(request_and_reply()(()))
    assert search.next() is None


def test_runs_that_were_made_for_another_reason_narrow_the_bounds() -> None:
    simulated, asked = in_a_row(4), _asked(0.01, 1e-9)
    search = Search([asked], [0.1, 1.0])
    search.add(simulated(()))
    packets = len(search.tree.runs[()].draws)
    taken = search.next()
    before = Weighed.of(search.tree, asked.loss).beyond(1.0).width
    # A pattern that was taken and never run, one whose parent is not there, and one after the end.
    search.add_known({(at,): simulated((at,)) for at in range(packets)} | {(0, 1, 2): simulated((0, 1, 2))})
    search.add_known({(packets,): simulated(())})
    assert taken is not None
    assert {*search.tree.runs} == {(), *((at,) for at in range(packets))}
    weighed = Weighed.of(search.tree, asked.loss)
    assert weighed.beyond(1.0).width < before / 10
    assert search.left(0) == pytest.approx(weighed.beyond(1.0).width, abs=1e-12)
