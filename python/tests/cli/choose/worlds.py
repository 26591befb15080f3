"""Networks and devices in which runs of `choose` take no time: what a run would measure follows from what is run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from wirelab.answer.choose.candidates import Candidate
from wirelab.answer.choose.evidence import Run
from wirelab.answer.choose.experiments import Variant
from wirelab.answer.choose.measured import OfChoice
from wirelab.answer.choose.network import Nat
from wirelab.answer.choose.question import Asked
from wirelab.answer.choose.ranking import Parts
from wirelab.answer.choose.timers import Silence
from wirelab.cli.choose.work import Work
from wirelab.clock.kernel import Kernel
from wirelab.stats.estimate.proportion import share

S = 10**9
MESSAGES = 20
"""Of a trial."""


@dataclass(frozen=True)
class Point:
    """What is run: one choice on one link, behind one NAT."""

    candidate: Candidate
    link: str
    nat: Nat | None
    variant: Variant
    replicates: int


@dataclass(frozen=True)
class Call:
    """One campaign."""

    name: str
    members: tuple[Candidate, ...]
    links: tuple[str, ...]
    nats: Mapping[str, tuple[Nat | None, ...]]
    replicates: int
    variant: Variant | None
    asked: Asked | None

    @property
    def names(self) -> list[str]:
        return [each.name for each in self.members]


def usual(point: Point) -> float:
    """Where nothing else is said, CoAP takes less than others, a kept connection least, and each keep-alive a bit."""
    protocol = 1.0 if point.candidate.protocol == "coaps" else 3.0
    policy = {"persistent": 1.0, "resumed": 1.5, "new": 2.0}[point.candidate.connection]
    kept = point.candidate.keep_alive_ns
    return protocol * policy * (1.0 if kept is None else 1 + 10 * S / kept)


@dataclass
class World:
    """`joules` and `size` of a message, how many of a run's messages are `lost` and `late`, which shares are late with
    a little less time and more (`near`), which `silences` the packets have, and by which factor a trial differs from
    others.

    `refused` are the campaigns for which the budget is too small.
    """

    joules: Callable[[Point], float | None] = usual
    size: Callable[[Point], float] = lambda point: float(point.variant.send_bytes + 100)
    lost: Callable[[Point], int] = lambda _: 0
    late: Callable[[Point], int] | None = None
    near: Callable[[Point], tuple[float, float] | None] = lambda _: None
    noise: Callable[[Point, int], float] = lambda _, nth: 1 + 1e-4 * (nth * 7 % 5 - 2)
    silences: Callable[[Point], set[Silence]] = lambda _: set()
    refused: Callable[[str, int], bool] = lambda _name, _replicates: False
    calls: list[Call] = field(default_factory=list)

    def measure(self, work: Work, point: Point) -> OfChoice:
        """What a run measures."""
        joules, sizes = self.joules(point), [MESSAGES] * point.replicates
        noise = [self.noise(point, nth) for nth in range(point.replicates)]
        rest = [0] * (point.replicates - 1)
        radio = next(iter(work.network.radios))
        radios = [*work.radios.get(point.link, {radio: None})]
        trials = {} if joules is None else {nth: _parts(joules * by) for nth, by in enumerate(noise)}
        energies = {name: trials for name in radios if trials}
        late = None if self.late is None else share(_spread(self.late(point), point.replicates), sizes, 0.95)
        return OfChoice(
            data_bytes={nth: self.size(point) * by for nth, by in enumerate(noise)},
            energies=energies if point.link in work.radios else {}, messages=sum(sizes), lost=self.lost(point),
            lost_share=share([self.lost(point), *rest], sizes, 0.95), late=late,
            late_near=self.near(point), silences=self.silences(point),
        )  # fmt: skip

    def run(  # noqa: PLR0917 (as what it stands for)
        self,
        work: Work,
        name: str,
        members: Sequence[Candidate],
        links: Sequence[str],
        nats: Mapping[str, Sequence[Nat | None]],
        replicates: int,
        variant: Variant | None = None,
        asked: Asked | None = None,
    ) -> dict[Run, OfChoice] | None:
        """As `Work.run`."""
        of = {key: tuple(each) for key, each in nats.items()}
        self.calls.append(Call(name, tuple(members), tuple(links), of, replicates, variant, asked))
        if self.refused(name, replicates):
            return None
        given = variant or Variant.of(work.asked)
        return {
            (each.name, link, nat): self.measure(work, Point(each, link, nat, given, replicates))
            for each in members
            for link in links
            for nat in nats[each.name]
        }

    def named(self, name: str) -> list[Call]:
        """The campaigns with a name that begins so."""
        return [each for each in self.calls if each.name.startswith(name)]


def _spread(count: int, trials: int) -> list[int]:
    """As many in each trial as can be."""
    return [count // trials + (nth < count % trials) for nth in range(trials)]


def _parts(joules: float) -> Parts:
    return {"tail": {"low": joules, "typical": joules, "high": joules}}


def live_in(world: World, patched: pytest.MonkeyPatch, *, virtual: bool = True) -> World:
    """From here on, runs measure this world."""

    def run(work: Work, *given: Any) -> dict[Run, OfChoice] | None:
        return world.run(work, *given)

    with_kernel(patched, virtual=virtual)
    patched.setattr(Work, "run", run)
    patched.setattr("wirelab.cli.choose.tails.tails", lambda _: {})
    return world


def with_kernel(patched: pytest.MonkeyPatch, *, virtual: bool = True) -> None:
    """A kernel that nothing boots, or none."""
    kernel = Kernel(Path("/nowhere"), "7.2", "recipe", 250, "gcc", "sha256", "origin")
    patched.setattr("wirelab.clock.kernel.find_kernel", lambda: kernel if virtual else None)


def typically(work: Work, replicates: int = 5) -> Work:
    """The same after the runs under the network's typical settings."""
    nats = {each.name: work.network.nats[:1] or (None,) for each in work.candidates}
    found = work.run("typical", work.candidates, work.network.links[:1], nats, replicates)
    assert found is not None, "the budget allows it"
    work.runs |= found
    return work


def work_of(folder: Path, budget_s: float = 300, **asked: Any) -> Work:
    """A question's work."""
    given = {"send_bytes": 64, "every_ns": 600 * S, "link": "nb-iot-psm", "protocols": ("coaps", "mqtts"), **asked}
    return Work.of(Asked(**given), folder, round(budget_s * S), 1, Console(quiet=True))
