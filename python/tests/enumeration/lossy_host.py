"""A host whose guests run a protocol on paper: each loses what its link's patterns say."""

from __future__ import annotations

from collections import deque
from pathlib import Path
from typing import Any, cast

from tests.enumeration.toy import Simulated
from tests.runner.fakes import make_plan, result
from wirelab.clock.host import RefusedError
from wirelab.enumeration.link import patterned
from wirelab.enumeration.tree import Pattern, Run
from wirelab.runner.endpoints import Endpoints
from wirelab.runner.patterns import Subject
from wirelab.schema import LinkSpec, LossPattern, TrialResult
from wirelab.schema.exact import WAYS, Draw


def subject(number: int = 0) -> Subject:
    """One scenario with one seed."""
    plan = make_plan(scenarios=number + 1, blocks=1)
    scenario = plan.scenarios[number]
    trial = next(trial for block in plan.blocks for trial in block.trials if trial.scenario == scenario.key)
    return Subject(scenario.model_copy(update={"link": patterned(scenario.link)}), trial)


def ran(simulated: Simulated, link: LinkSpec) -> Run:
    """What the protocol does where packets of each direction are lost by their number."""
    digits = {
        way: next(stage.pattern for stage in getattr(link, way) if isinstance(stage, LossPattern)) for way in WAYS
    }  # fmt: skip
    pattern: Pattern = ()
    while True:
        counts = dict.fromkeys(WAYS, 0)
        for at, draw in enumerate(simulated(pattern).draws):
            number = counts[draw.direction]
            counts[draw.direction] += 1
            if at not in pattern and digits[draw.direction][number : number + 1] == "1":
                pattern = (*pattern, at)
                break
        else:
            return simulated(pattern)


class LossyHost:
    """Runs of a protocol on paper; `refuses` is the number of the run that it refuses."""

    def __init__(self, simulated: Simulated, refuses: int | None = None) -> None:
        self.simulated, self.refuses = simulated, refuses
        self.runs: dict[str, Run] = {}
        self.started = 0
        self._over: deque[str] = deque()

    @property
    def endpoints(self) -> Endpoints:
        """Makes requests of no files."""
        return cast("Endpoints", _Endpoints())

    def start(self, request: Any) -> None:
        self.started += 1
        request.folder.mkdir(parents=True)
        self.runs[request.trial] = ran(self.simulated, request.link)
        self._over.append(request.trial)

    def wait(self, timeout_s: float) -> TrialResult | RefusedError | None:
        # The last that began ends first, as guests may.
        trial = self._over.pop()
        return RefusedError(trial, "no room") if self.started == self.refuses else result(trial)

    def read(self, folder: Path, trial: str) -> tuple[tuple[Draw, ...], float | None]:
        return self.runs[trial].draws, self.runs[trial].end_s


class _Endpoints:
    def request(self, scenario: Any, trial: Any, lane: int, folder: Path) -> Any:
        return _Request(trial.trial, scenario.link, folder)


class _Request:
    def __init__(self, trial: str, link: LinkSpec, folder: Path) -> None:
        self.trial, self.link, self.folder = trial, link, folder
