"""What the bench found: a table for each question, each figure that has a target next to it, and both as files."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

Cell = str | int | float | None


@dataclass(frozen=True)
class Target:
    """A figure and what it should be."""

    what: str
    unit: str
    measured: float | None
    """None where it could not be measured; a note says why."""
    relation: Literal["<=", ">="]
    target: float

    @property
    def met(self) -> bool | None:
        """None where nothing was measured."""
        if self.measured is None:
            return None
        return self.measured <= self.target if self.relation == "<=" else self.measured >= self.target

    @property
    def ratio(self) -> float | None:
        """Measured over target; None too where the target is 0."""
        return self.measured / self.target if self.measured is not None and self.target else None

    @property
    def verdict(self) -> str:
        """One word."""
        return {True: "met", False: "missed", None: "not measured"}[self.met]


@dataclass
class Answer:
    """What came of one question."""

    name: str
    title: str
    columns: tuple[str, ...]
    rows: list[tuple[Cell, ...]] = field(default_factory=list)
    targets: list[Target] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def as_dict(self) -> dict[str, Any]:
        """For the file."""
        return {
            "name": self.name,
            "title": self.title,
            "seconds": round(self.seconds, 1),
            "rows": [dict(zip(self.columns, row, strict=True)) for row in self.rows],
            "targets": [_target_row(target) for target in self.targets],
            "notes": self.notes,
        }

    def text(self) -> str:
        """For people."""
        parts = [f"== {self.title} ({self.seconds:.0f} s)"]
        if self.rows:
            parts.append(table(self.columns, self.rows))
        if self.targets:
            rows = [tuple(_target_row(target).values()) for target in self.targets]
            parts.append(table(tuple(_target_row(self.targets[0])), rows))
        parts += [f"note: {note}" for note in self.notes]
        return "\n".join(parts)


def table(columns: tuple[str, ...], rows: list[tuple[Cell, ...]]) -> str:
    """Columns that line up: words to the left, numbers to the right."""
    cells = [columns, *(tuple(_cell(value) for value in row) for row in rows)]
    widths = [max(len(row[index]) for row in cells) for index in range(len(columns))]
    numbers = [all(not isinstance(row[index], str) for row in rows) for index in range(len(columns))]
    lines = [
        "  ".join(
            cell.rjust(width) if number else cell.ljust(width)
            for cell, width, number in zip(row, widths, numbers, strict=True)
        ).rstrip()
        for row in cells
    ]
    return "\n".join(lines)


def summary(answers: list[Answer]) -> str:
    """How many targets were met, and which were not."""
    targets = [target for answer in answers for target in answer.targets]
    count = {verdict: sum(target.verdict == verdict for target in targets) for verdict in ("met", "missed")}
    lines = [f"{len(targets)} target{'s' * (len(targets) != 1)}: {count['met']} met, {count['missed']} missed"]
    if rest := len(targets) - sum(count.values()):
        lines[0] += f", {rest} not measured"
    lines += [
        f"missed: {target.what}: {_number(target.measured)} {target.unit} ({target.relation} {_number(target.target)})"
        for target in targets
        if target.met is False
    ]
    return "\n".join(lines)


def write(folder: Path, machine: dict[str, Any], answers: list[Answer]) -> None:
    """All of it as `bench.json`, and each table as CSV next to it."""
    folder.mkdir(parents=True, exist_ok=True)
    document = {"machine": machine, "questions": [answer.as_dict() for answer in answers]}
    (folder / "bench.json").write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    for answer in answers:
        if answer.rows:
            _write_csv(folder / f"{answer.name}.csv", answer.columns, answer.rows)
    targets = [(answer.name, *_target_row(target).values()) for answer in answers for target in answer.targets]
    if targets:
        some = next(target for answer in answers for target in answer.targets)
        _write_csv(folder / "targets.csv", ("question", *_target_row(some)), targets)


def _target_row(target: Target) -> dict[str, Cell]:
    return {
        "figure": target.what,
        "unit": target.unit,
        "target": f"{target.relation} {_number(target.target)}",
        "measured": target.measured,
        "measured/target": target.ratio,
        "verdict": target.verdict,
    }


def _write_csv(path: Path, columns: tuple[str, ...], rows: list[tuple[Cell, ...]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(rows)


def _cell(value: Cell) -> str:
    if value is None:
        return "-"
    return value if isinstance(value, str) else _number(value)


def _number(value: float | None) -> str:
    """Integers whole, others with at least three digits that count."""
    if value is None:
        return "-"
    if isinstance(value, int) or (value == round(value) and abs(value) >= 1000):
        return f"{round(value)}"
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.4g}"
