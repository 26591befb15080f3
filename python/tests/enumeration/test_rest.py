"""What is sampled of a tree that is not whole, next to what a whole one says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from random import Random

import pytest

from tests.enumeration.toy import grown, in_a_row
from wirelab.enumeration.bounds import Weighed
from wirelab.enumeration.loss import Independent, Loss, Process, gilbert_elliott, lost_of
from wirelab.enumeration.rest import FURTHER, Rest
from wirelab.enumeration.tree import Branch, Run
from wirelab.schema.exact import WAYS, Direction

X_S = 0.25


def _run(lost: dict[str, list[bool]]) -> Run:
    """The toy with what each direction loses, which its patterns count together."""
    pattern: tuple[int, ...] = ()
    while True:
        draws = in_a_row(6)(pattern).draws
        counts = {"uplink": 0, "downlink": 0}
        for at, draw in enumerate(draws):
            gone = lost[draw.direction][counts[draw.direction]]
            counts[draw.direction] += 1
            if gone and at not in pattern:
                pattern = (*pattern, at)
                break
        else:
            return in_a_row(6)(pattern)


LOSSES = [Loss(Independent(0.1), Independent(0.05)), Loss(gilbert_elliott(0.05, 0.3, 0.7, 0.01), Independent(0.1))]


@pytest.mark.parametrize("loss", LOSSES)
def test_the_sampled_part_agrees_with_a_deeper_tree(loss: Loss) -> None:
    shallow, deep = grown(in_a_row(6), 1), Weighed.of(grown(in_a_row(6), 4), loss).beyond(X_S)
    rest = Rest(shallow, loss, seed=7)
    assert rest.weight == pytest.approx(Weighed.of(shallow, loss).beyond(shallow.horizon_s).width, abs=1e-12)
    rest.runs += [_run(dict(rest.lost(number))) for number in range(2000)]
    found = rest.beyond(X_S)
    assert found.exact.low <= found.low <= found.point <= found.high <= found.exact.high
    assert found.low <= deep.high and deep.low <= found.high
    assert found.high - found.low < found.exact.width / 5


def _begins_with(lost: Mapping[Direction, Sequence[bool]], branch: Branch) -> bool:
    begun = {way: lost_of(branch.draws, way) for way in WAYS}
    return all(list(lost[way])[: len(begun[way])] == begun[way] for way in WAYS)


def test_a_sample_begins_with_a_branch_and_depends_on_its_number_alone() -> None:
    rest = Rest(grown(in_a_row(4), 1), LOSSES[0], seed=3)
    assert rest.lost(5) == rest.lost(5)
    branches = [*rest.tree.branches()]
    for number in range(20):
        lost = rest.lost(number)
        assert any(_begins_with(lost, branch) for branch in branches)
        assert all(len(each) >= FURTHER for each in lost.values())


def test_samples_of_other_branches_have_another_name() -> None:
    one, other = (Rest(grown(in_a_row(4), losses), LOSSES[0], seed=3) for losses in (1, 2))
    assert one.branches != other.branches


def test_without_a_sample_there_are_the_exact_bounds() -> None:
    found = Rest(grown(in_a_row(4), 1), LOSSES[0], seed=3).beyond(X_S)
    assert (found.low, found.high, found.n) == (found.exact.low, found.exact.high, 0)


@pytest.mark.parametrize("process", [Independent(0.3), gilbert_elliott(0.2, 0.4, 0.9, 0.05)])
def test_what_follows_is_as_probable_as_its_weight_says(process: Process) -> None:
    """After two packets of which one was lost, the next two."""
    begun = [True, False]
    random, counts = Random(1), Counter[tuple[bool, ...]]()
    for _ in range(20_000):
        found = tuple(process.follow(begun, 2, random))
        counts[found] += 1
    for found, count in counts.items():
        expected = process.weight([*begun, *found]) / process.weight(begun)
        assert count / 20_000 == pytest.approx(expected, abs=0.015)
