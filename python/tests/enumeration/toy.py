"""Protocols on paper, as pure functions of the packets that are lost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from wirelab.enumeration.tree import Pattern, Run, Tree
from wirelab.schema.exact import Draw

Simulated = Callable[[Pattern], Run]


def request_and_reply(timer_s: float = 2.0, way_s: float = 0.01, most: int = 5) -> Simulated:
    """A request is repeated after a fixed time until its reply comes; a server answers each copy."""

    def run(pattern: Pattern) -> Run:
        draws: list[Draw] = []

        def lost(direction: str, at_s: float) -> bool:
            draws.append(Draw(direction, len(draws) in pattern, at_s))  # type: ignore[arg-type]
            return draws[-1].lost

        for attempt in range(most):
            at_s = attempt * timer_s
            if not lost("uplink", at_s) and not lost("downlink", at_s + way_s):
                return Run(pattern, tuple(draws), at_s + 2 * way_s)
        return Run(pattern, tuple(draws), None)

    return run


def in_a_row(count: int, cost_s: float = 0.2) -> Simulated:
    """Packets each way in turn, each of which is sent again after a fixed time until it comes."""

    def run(pattern: Pattern) -> Run:
        draws: list[Draw] = []
        at_s = 0.0
        for packet in range(count):
            direction = "downlink" if packet % 2 else "uplink"
            while True:
                draws.append(Draw(direction, len(draws) in pattern, at_s))
                if not draws[-1].lost:
                    break
                at_s += cost_s
            at_s += 0.01
        return Run(pattern, tuple(draws), at_s)

    return run


def grown(simulated: Simulated, losses: int, horizon_s: float = 10.0) -> Tree:
    """Every pattern with so many losses at most."""
    tree = Tree(horizon_s)
    tree.add(simulated(()))
    while (branch := next((each for each in tree.branches() if len(each.pattern) <= losses), None)) is not None:
        tree.add(simulated(branch.pattern))
    return tree


def disturbed(run: Run) -> Run:
    """The same with its first packet a nanosecond later."""
    first, *rest = run.draws
    return replace(run, draws=(replace(first, at_s=first.at_s + 1e-9), *rest))
