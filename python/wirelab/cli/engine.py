"""`run --engine`: a plan in shards on a scheduler, merged into one campaign."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rich.console import Console

    from wirelab.schema.plan import Plan

SHARD_S = 120
"""About how long a shard takes unless --shards says it: its start costs some 2 s."""
A_SLOT = 2
"""At least so many shards for each processor, so that the last ones end together."""


def run_with_engine(
    plan: Plan, engine: tuple[str, int | None], words: Sequence[str], out: Path | None, console: Console
) -> int:
    """Run every shard that is not done, merge them into the campaign's folder, and report it. `engine` is its name and
    the number of shards, `words` the command line that makes the plan.
    """
    from wirelab.cli.merge import merged
    from wirelab.cli.progress import LiveLine
    from wirelab.cli.run import divisible, new_folder
    from wirelab.cli.terminate import terminated_as_interrupted
    from wirelab.runner.on_dask import require_engine, run_on_dask
    from wirelab.runner.shard_jobs import ShardJob
    from wirelab.runner.shards import Shard

    name, asked = engine
    address = require_engine(name)
    plan = divisible(plan, console)
    count = asked or shards_of(plan)
    every = [Shard(number, count) for number in range(1, count + 1)]
    every[0].trials(plan)
    folder = new_folder(plan, out)
    parts = folder.with_name(f"{folder.name}-shards-{count}")
    jobs = [
        ShardJob(str(each), [*words, "--jobs", "1", "--shard", str(each)], parts / f"{each.number:04d}", Path.cwd())
        for each in every
    ]
    with terminated_as_interrupted() as check, LiveLine(console) as line:

        def tell(done: int, workers: int, elapsed_s: float) -> None:
            check()
            line.show(done / count, f"{done}/{count} shards, {workers} workers", elapsed_s)

        parts.mkdir(parents=True, exist_ok=True)
        run_on_dask(jobs, address, parts, tell)
    code = merged([job.folder for job in jobs], folder, console)
    click.echo(f"Shards  {parts}, which may be deleted")
    return code


def shards_of(plan: Plan) -> int:
    """Shards of some minutes of the machine's time each, and of two or more for each processor."""
    from wirelab.experiment.duration.guest import guests_wall_ns
    from wirelab.plan import expected_ns
    from wirelab.runner.shards import units
    from wirelab.schema import Clock

    whole_s = (guests_wall_ns(plan, 1) if plan.clock is Clock.VIRTUAL else expected_ns(plan, 1)) / 1e9
    least = A_SLOT * len(os.sched_getaffinity(0))
    return max(1, min(len(units(plan)), max(least, math.ceil(whole_s / SHARD_S))))
