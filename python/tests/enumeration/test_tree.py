"""The tree of loss patterns."""

from __future__ import annotations

import pytest

from tests.enumeration.toy import disturbed, grown, request_and_reply
from wirelab.enumeration.tree import Tree
from wirelab.errors import RunError


def test_each_set_of_losses_is_run_once() -> None:
    tree = grown(request_and_reply(), 2)
    assert set(tree.runs) == {(), (0,), (1,), (0, 1), (0, 2), (1, 2), (1, 3)}
    assert tree.whole_to(2)
    assert not tree.whole_to(3)


def test_later_packets_than_the_horizon_are_no_draws() -> None:
    tree = grown(request_and_reply(), 2, horizon_s=1.0)
    assert set(tree.runs) == {(), (0,), (1,)}
    assert tree.whole_to(5)


def test_a_run_that_differs_from_its_parent_before_its_last_loss_is_an_error() -> None:
    simulated, tree = request_and_reply(), Tree(10.0)
    tree.add(simulated(()))
    with pytest.raises(RunError, match=r"a run is not repeatable: with packet 2 lost it differs .* nothing lost"):
        tree.add(disturbed(simulated((1,))))
    with pytest.raises(RunError, match="without losses lost a packet"):
        Tree(10.0).add(simulated(()).__class__((), simulated((0,)).draws, 1.0))
