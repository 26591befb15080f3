"""A lesson on a campaign to report."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl

from tests.report import campaigns
from wirelab.lessons.lesson import Case, Chart, Lesson, Packets, Task
from wirelab.metrics.tables import write_table
from wirelab.report.campaign import Campaign, load

CASES = (
    Case("one, clean", {"protocol": "http1", "link": "clean"}),
    Case("two, lossy", {"protocol": "h2", "link": "lossy"}),
)
LESSON = Lesson(
    name="tiny",
    title="Which is faster?",
    experiment="tiny",
    idea=["Loss costs time.", "Round trips do too."],
    charts=[Chart("amounts", "Delays", "median of end-to-end-delay"), Chart("distribution", "All delays")],
    packets=Packets("one, clean", "A message."),
    question="Why?",
    answer="Because of TLS.",
    tasks=[Task("Count them.", "Four.", "wirelab show results/tiny"), Task("Think.", "Yes.")],
    cases=CASES,
)


def campaign(folder: Path) -> Campaign:
    """A campaign whose exchanges have numbers."""
    campaigns.write(folder)
    path = folder / "exchanges.parquet"
    rows = pl.read_parquet(path)
    half = pl.int_range(pl.len()).over("scenario")
    write_table(rows.with_columns(replicate=half % 2, index=half // 2), path)
    return load(folder, folder)


def with_charts(*charts: Chart) -> Lesson:
    """The lesson with other charts."""
    return replace(LESSON, charts=charts)
