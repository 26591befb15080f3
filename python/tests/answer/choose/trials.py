"""A campaign with one scenario, as `measure` leaves it, whose packets are made up: for tests of what is measured."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.documents import whole_plan
from tests.wirelab_energy.radios import three_states
from wirelab.answer.choose import measured as module
from wirelab.answer.choose.measured import OfChoice, measured, vary_radio
from wirelab.metrics.energy_settings import Equipment
from wirelab.metrics.exchange_rows import EXCHANGE_TYPES
from wirelab.metrics.intervals import Logged
from wirelab.metrics.radio import LoggedTrial
from wirelab.metrics.trial_rows import TRIAL_TYPES
from wirelab.schema.plan import Plan
from wirelab.stats.dataset import Dataset
from wirelab_energy import Packet

S = 10**9
EVERY = {"process": "periodic", "interval_ns": 600 * S}
PERSISTENT = {"policy": "persistent", "connections": 1}
RADIO = Equipment(three_states())
UP, DOWN = 111, 36


def message(nth: int, at_s: float | None = None, **given: Any) -> dict[str, Any]:
    """The nth of a trial, one each 600 s, which was acknowledged after 200 ms."""
    at_ns = round((600 * nth if at_s is None else at_s) * S)
    return {
        "client": 0, "index": nth, "intended_start_ns": at_ns, "start_ns": at_ns, "request_start_ns": at_ns,
        "end_ns": at_ns + S // 5, "end_to_end_delay_ns": S // 5, "outcome": "completed", "connection_reused": nth > 0,
        "local_port": 1, **given,
    }  # fmt: skip


def unanswered(nth: int, outcome: str) -> dict[str, Any]:
    return message(nth, outcome=outcome, end_to_end_delay_ns=None)


def packets(*starts: float, up: int = UP, down: int = DOWN) -> list[Logged]:
    """A request at each start, and its answer 200 ms later."""
    each = [(start, True, up) for start in starts] + [(start + 0.2, False, down) for start in starts]
    return [Logged(Packet(round(at * S), way, size), 1) for at, way, size in sorted(each)]


@dataclass
class Campaign:
    """A campaign with one scenario, as it would be after `measure`; its packets are made up."""

    folder: Path
    workload: Mapping[str, Any] = field(default_factory=dict)
    logged: list[tuple[list[dict[str, Any]], list[Logged]]] = field(default_factory=list)
    of_trial: dict[int, dict[str, Any]] = field(default_factory=dict)
    """What `trials.parquet` says of the nth."""

    def trial(self, rows: Sequence[Mapping[str, Any]], flowed: Sequence[Logged]) -> None:
        self.logged.append(([dict(row) for row in rows], [*flowed]))

    @property
    def plan(self) -> Plan:
        workload = {"arrival": EVERY, "exchanges": 9, "kind": "telemetry", "timeout_ns": 120 * S, **self.workload}
        trials = [
            {"trial": f"t{nth}", "scenario": "s", "replicate": nth, "link_seed": 1, "endpoint_seed": 2}
            for nth in range(len(self.logged))
        ]
        scenario = {"key": "s", "workload": workload, "link_name": "nb"}
        return Plan.model_validate(whole_plan({"scenarios": [scenario], "blocks": [{"trials": trials}]}))

    def trials(self) -> Iterator[LoggedTrial]:
        [scenario] = self.plan.scenarios
        for nth, (rows, flowed) in enumerate(self.logged):
            yield LoggedTrial(f"t{nth}", scenario, rows, flowed, None)

    def dataset(self) -> Dataset:
        rows = [
            {"scenario": "s", "trial": f"t{nth}", "block": 0, "replicate": nth, "lane": 0, **row}
            for nth, (of_trial, _) in enumerate(self.logged)
            for row in of_trial
        ]
        trials = [
            {"scenario": "s", "trial": f"t{nth}", "replicate": nth, "status": "done", "excluded": False}
            | self.of_trial.get(nth, {})
            for nth in range(len(self.logged))
        ]
        plan = self.plan
        return Dataset(
            self.folder, plan, _table(rows, EXCHANGE_TYPES, disturbed=pl.Boolean).lazy(), _table(trials, TRIAL_TYPES)
        )

    def measured(self, deadline_s: float | None = None, equipment: Equipment | None = RADIO) -> OfChoice:
        """With a radio whose settings are named `typical`."""
        radios = {} if equipment is None else {"nb": {"typical": equipment}}
        deadline_ns = None if deadline_s is None else round(deadline_s * S)
        with self._logged():
            return measured(self.dataset(), radios, deadline_ns)["s"]

    def vary_radio(self, found: OfChoice, equipments: Mapping[str, Equipment]) -> None:
        """By the names of settings."""
        with self._logged():
            vary_radio({"s": found}, self.dataset(), {"nb": equipments})

    @contextmanager
    def _logged(self) -> Iterator[None]:
        def logged(_folder: Path, _plan: Plan, _rows: object, _trials: object, wanted: Callable[[str], bool]) -> Any:
            return (each for each in self.trials() if wanted(each.scenario.key))

        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(module, "logged_trials", logged)
            yield


def _table(rows: Sequence[Mapping[str, Any]], types: Mapping[str, Any], **more: Any) -> pl.DataFrame:
    known = {**types, **more}
    found = pl.DataFrame([*rows], infer_schema_length=None)
    return found.with_columns(pl.lit(None, dtype=kind).alias(name) for name, kind in known.items() if name not in found)
