"""A comparison in words, whatever was compared: what a terminal, Markdown and JUnit XML show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from wirelab.report.blocks import Table


class Case(NamedTuple):
    """A test of a suite; `tag` is None if it passes."""

    of: str
    name: str
    tag: Literal["failure", "skipped"] | None
    message: str


@dataclass(frozen=True)
class Compared:
    """`name` is that of the comparison, `headline` its first sentence. Below the table stand `packets`, then `notes`:
    what was compared, and what limits it.
    """

    name: str
    headline: str
    table: Table
    packets: Sequence[str]
    notes: Sequence[str]
    cases: Sequence[Case]
