"""`wirelab slurm`: scripts that run an experiment in shards on a Slurm cluster."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from wirelab.cli.arguments import (
    budget_option,
    by_option,
    experiment_argument,
    experiment_clock_option,
    link_option,
    set_option,
    site_option,
    with_clock,
    with_page,
    with_statistic,
)


@click.command("slurm", short_help="Write the scripts that run an experiment in shards on a Slurm cluster.")
@experiment_argument
@set_option
@site_option
@link_option
@budget_option
@by_option
@click.option(
    "--seed", type=click.IntRange(min=0), metavar="N", help="Seed of everything random, instead of the experiment's."
)
@click.option(
    "--out", type=click.Path(path_type=Path, file_okay=False), metavar="DIR",
    help="Folder of the merged results.  [results/NAME]",
)  # fmt: skip
@click.option(
    "--jobs", "-j", type=click.IntRange(1, 256), metavar="N",
    help="Trials at a time in a task.  [1 under the virtual clock, else chosen on each node]",
)  # fmt: skip
@experiment_clock_option
@click.option("--no-probes", is_flag=True, help="Skip the check of each link, 2 s long, before the first trial.")
@click.option("--shards", type=click.IntRange(min=1), required=True, metavar="N", help="How many tasks there are.")
def command(  # noqa: PLR0913, PLR0917 (one parameter for each option)
    experiment: str,
    sets: tuple[str, ...],
    site: Path | None,
    link: str | None,
    budget: int | None,
    by: str | None,
    seed: int | None,
    out: Path | None,
    jobs: int | None,
    clock: str | None,
    *,
    no_probes: bool,
    shards: int,
) -> None:
    """Write the scripts that run an experiment in shards on a Slurm cluster, and print the line that submits them.

    A script runs a shard as a task of an array, and a second one merges the shards when all tasks have ended. Nothing
    is started. Every node needs this Wirelab and these folders under the same paths. In real time a task has a node for
    itself.
    """
    from rich.console import Console

    from wirelab.cli.run import campaign_name, divisible, new_folder, options_words, planned, require_same_plan
    from wirelab.runner.shards import Shard
    from wirelab.runner.slurm import SlurmJobs
    from wirelab.schema import Clock

    sets = (*with_page(with_statistic(sets, by), site, link), *with_clock(clock))
    _, plan = planned(experiment, sets, budget=budget, seed=seed, jobs=jobs)
    require_same_plan(plan, budget, jobs)
    plan = divisible(plan, Console(stderr=True, highlight=False))
    trials = Shard(1, shards).trials(plan)
    live = plan.clock is Clock.LIVE
    at_a_time = jobs if live else jobs or 1
    words = options_words(
        experiment, sets, {"--seed": seed, "--budget": budget and f"{budget} ns", "--jobs": at_a_time},
        no_probes=no_probes,
    )  # fmt: skip
    merged = new_folder(plan, out)
    folder = merged.with_name(f"{merged.name}-slurm-{shards}")
    made = SlurmJobs(campaign_name(plan), words, shards, folder, merged, Path.cwd(), None if live else at_a_time)
    made.write()
    click.echo(f"Scripts  in {folder}: {shards} tasks of up to {len(trials)} trials, and the merge")
    click.echo(f"Submit   {made.submit()}")
    click.echo(f"Again    {made.again()}")
    click.echo(f"Merge    sbatch {shlex.quote(str(made.merge))}")
