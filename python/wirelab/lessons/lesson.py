"""The lessons that ship, as they are written in `data/lessons/`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from typing import Any

from wirelab.errors import WirelabError, did_you_mean

_FOLDER = resources.files("wirelab.data").joinpath("lessons")


@dataclass(frozen=True)
class Case:
    """A scenario under a short name: its levels by their paths."""

    label: str
    where: Mapping[str, Any]


@dataclass(frozen=True)
class Chart:
    """What one chart draws. `kind` is `amounts` (a bar for each case), `messages` (the delay of each message of one
    trial), `distribution`, `probability` or `prices`; `of` is what it draws, such as `median of end-to-end-delay` or
    `completed`. Of an enumeration it is a delay, or the name of a scenario.
    """

    kind: str
    title: str
    of: str = ""
    cases: Sequence[str] = ()
    """Labels of the cases that it draws; all without any."""


@dataclass(frozen=True)
class Packets:
    """Which exchange is drawn as packets: the `typical` one of a case, the `slowest` or a `late` one, without the first
    `after` of a trial; or that of an enumerated scenario.
    """

    case: str
    about: str
    exchange: str = "typical"
    after: int = 0


@dataclass(frozen=True)
class Task:
    """A question of the lab sheet: what to do, with a command perhaps, and the key."""

    do: str
    key: str
    command: str = ""


@dataclass(frozen=True)
class Lesson:
    """One idea, and how to see it. `verb` says what is done with `experiment` and what it `sets`: `run` or `exact`."""

    name: str
    title: str
    experiment: str
    idea: Sequence[str]
    charts: Sequence[Chart]
    packets: Packets
    question: str
    answer: str
    tasks: Sequence[Task]
    verb: str = "run"
    sets: Sequence[str] = ()
    cases: Sequence[Case] = field(default_factory=tuple)

    def case(self, label: str) -> Case:
        """The case of this label."""
        return next(case for case in self.cases if case.label == label)


def lesson_names() -> tuple[str, ...]:
    """All of them."""
    names = (entry.name.removesuffix(".toml") for entry in _FOLDER.iterdir() if entry.name.endswith(".toml"))
    return tuple(sorted(names))


def find_lesson(name: str) -> Lesson:
    """The lesson of this name. Raises `WirelabError` if there is none."""
    known = lesson_names()
    if name not in known:
        raise WirelabError(f"no lesson '{name}'", hint=did_you_mean(name, known))
    table: dict[str, Any] = tomllib.loads(_FOLDER.joinpath(f"{name}.toml").read_text(encoding="utf-8"))
    return Lesson(
        name=name,
        cases=[Case(**case) for case in table.pop("case", ())],
        charts=[Chart(**chart) for chart in table.pop("chart")],
        packets=Packets(**table.pop("packets")),
        tasks=[Task(**task) for task in table.pop("task")],
        **table,
    )
