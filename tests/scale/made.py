"""Campaigns as large as one likes: every trial has the records of a small run, with other delays."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from wirelab.cli.arguments import load
from wirelab.plan import make_plan
from wirelab.schema.campaign import EXPERIMENT, JOURNAL, PLAN, TRIALS, JournalEntry, read_journal, read_plan
from wirelab.schema.plan import Plan
from wirelab.schema.record import FACTS
from wirelab.schema.records import sync_records

VARIANTS = 8
"""Different records that the trials of a protocol have in turn."""
PACKETS = "packets.wlpl"
MOMENTS = frozenset({
    "intended_start_ns", "start_ns", "name_lookup_ns", "tcp_connect_ns", "handshake_ns", "request_start_ns",
    "first_body_sent_ns", "first_response_byte_ns", "first_final_byte_ns", "end_ns",
})  # fmt: skip
"""Columns of clients' rows that are instants."""


@dataclass(frozen=True)
class Small:
    """A campaign that was run, with one trial or more of each protocol."""

    folder: Path
    entries: Mapping[str, JournalEntry]
    """A trial of each protocol."""

    @classmethod
    def read(cls, folder: Path) -> Small:
        """Of a campaign's folder."""
        protocols = {each.key: each.protocol for each in read_plan(folder).scenarios}
        return cls(folder, {protocols[each.scenario]: each for each in read_journal(folder / JOURNAL)[0]})


def make(small: Small, experiment: Path, folder: Path, exchanges: int) -> Plan:
    """A campaign of an experiment in a new folder, with so many exchanges in each trial."""
    plan = make_plan(load(str(experiment), ()))
    begin(small, experiment, plan, folder)
    add(small, plan, folder, small_variants(small, folder, exchanges))
    return plan


def begin(small: Small, experiment: Path, plan: Plan, folder: Path) -> None:
    """A campaign without trials."""
    (folder / TRIALS).mkdir(parents=True)
    shutil.copy(experiment, folder / EXPERIMENT)
    shutil.copy(small.folder / FACTS, folder / FACTS)
    (folder / PLAN).write_text(json.dumps(plan.to_json(), indent=1))


Variant = tuple[Path, Mapping[str, str]]
"""A trial's folder, and the digests of its records."""


def add(
    small: Small,
    plan: Plan,
    folder: Path,
    variants: Mapping[str, Sequence[Variant]],
    only: frozenset[str] | None = None,
) -> None:
    """Add the trials of a plan, or some of them, by hard links."""
    protocols = {each.key: each.protocol for each in plan.scenarios}
    with (folder / JOURNAL).open("wb") as journal:
        for block in plan.blocks:
            for number, trial in enumerate(block.trials):
                if only is not None and trial.trial not in only:
                    continue
                protocol = protocols[trial.scenario]
                source, records = variants[protocol][(block.block + number) % len(variants[protocol])]
                shutil.copytree(source, folder / TRIALS / trial.trial, copy_function=os.link)
                entry = small.entries[protocol].model_copy(
                    update={"trial": trial.trial, "scenario": trial.scenario, "block": block.block, "records": records}
                )
                journal.write(entry.line())


def small_variants(small: Small, folder: Path, exchanges: int) -> dict[str, list[Variant]]:
    """Records of trials with so many exchanges by their protocols, made in a folder next to the trials."""
    return {name: _variants(small, entry, folder, exchanges) for name, entry in small.entries.items()}


def _variants(small: Small, entry: JournalEntry, folder: Path, exchanges: int) -> list[Variant]:
    found = []
    for number in range(VARIANTS):
        made = folder / "made" / f"{entry.trial}-{number}"
        shutil.copytree(small.folder / TRIALS / entry.trial, made, ignore=shutil.ignore_patterns(PACKETS))
        rows = made / "client" / "exchanges.arrow"
        multiplied(pl.read_ipc(rows.read_bytes()), exchanges, np.random.default_rng(number)).write_ipc(rows)
        found.append((made, sync_records(made)))
    return found


def multiplied(rows: pl.DataFrame, exchanges: int, random: np.random.Generator) -> pl.DataFrame:
    """So many rows, one after the other, whose delays are those of these rows times a random factor."""
    repeated = pl.concat([rows] * -(-exchanges // len(rows))).head(exchanges)
    factors = random.lognormal(0, 0.3, exchanges)
    delays = (repeated["end_ns"] - repeated["start_ns"]).to_numpy() * factors
    begins = int(rows["start_ns"][0]) + np.concatenate([[0], np.cumsum(delays)[:-1]])
    start, factor, begin = pl.col("start_ns").cast(pl.Int64), pl.Series(factors), pl.Series(begins)
    moved = [
        (begin + (pl.col(name).cast(pl.Int64) - start) * factor).round().cast(kind).alias(name)
        for name, kind in rows.schema.items()
        if name in MOMENTS
    ]
    numbered = pl.Series("index", np.arange(exchanges)).cast(rows.schema["index"])
    return repeated.with_columns(numbered, *moved)
