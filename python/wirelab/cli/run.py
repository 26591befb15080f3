"""`wirelab run`: the whole line, from an experiment file to a report."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from wirelab.cli.arguments import (
    budget_option,
    by_option,
    experiment_argument,
    experiment_clock_option,
    link_option,
    load,
    set_option,
    site_option,
    with_clock,
    with_page,
    with_statistic,
)
from wirelab.cli.campaigns import RESULTS, not_an_option
from wirelab.cli.expectations import Exports, exit_code, export_options, fail_if_options, with_failures
from wirelab.cli.precheck import budget_jobs, precheck, within_budget
from wirelab.errors import WirelabError
from wirelab.launcher import launched

if TYPE_CHECKING:
    from rich.console import Console

    from wirelab.experiment.experiment import Experiment
    from wirelab.report.campaign import Campaign
    from wirelab.runner.progress import Summary
    from wirelab.runner.shards import Shard
    from wirelab.runner.start import Options
    from wirelab.schema.plan import Plan


@click.command("run", short_help="Run an experiment, measure, analyze and report it.")
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
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Folder for all results.  [results/NAME]",
)
@click.option(
    "--jobs",
    "-j",
    type=click.IntRange(1, 256),
    metavar="N",
    help="Trials at a time.  [chosen for this machine]",
)
@experiment_clock_option
@click.option("--capture", is_flag=True, help="Keep a capture of every packet at both ends, with the TLS secrets.")
@click.option("--fresh", is_flag=True, help="Archive earlier results in that folder and start again.")
@click.option("--retry-failed", is_flag=True, help="Repeat trials that failed in an earlier run.")
@click.option("--no-probes", is_flag=True, help="Skip the check of each link, 2 s long, before the first trial.")
@click.option("--shard", metavar="I/N", help="Run only part I of N of the trials; `merge` puts the parts together.")
@click.option(
    "--engine", metavar="dask[://HOST:PORT]",
    help="Run the plan in shards on a Dask cluster: one of this machine's, or that of a scheduler.",
)  # fmt: skip
@click.option("--shards", type=click.IntRange(min=1), metavar="N", help="Into how many shards --engine divides.")
@fail_if_options
@export_options
@click.option("--json", "as_json", is_flag=True, help="Print estimates.json instead of the summary.")
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
    capture: bool,
    fresh: bool,
    retry_failed: bool,
    no_probes: bool,
    shard: str | None,
    engine: str | None,
    shards: int | None,
    fail_if: tuple[str, ...],
    fail_if_inconclusive: bool,
    markdown: Path | None,
    junit: Path | None,
    keep: Path | None,
    as_json: bool,
) -> int:
    """Run an experiment, measure, analyze and report it.

    FILE is a path, or the name of a shipped experiment. A trial runs one protocol over one link once. The same command
    again continues where it stopped, and runs only what has changed. Exits with 1 if no trial of a protocol succeeded,
    if a program did not become ready, or if a client calls an exchange completed that the link did not carry. Other
    failed trials are data: they are counted, and --retry-failed repeats them.
    """
    from rich.console import Console

    from wirelab.limits import require_limits
    from wirelab.report.campaign import load as load_campaign

    require_limits(starts=True)
    exports = Exports(markdown, junit, keep)
    exports.require_names()
    console = Console(stderr=True, highlight=False)
    sets = (*with_page(with_statistic(sets, by), site, link), *(["capture=true"] * capture), *with_clock(clock))
    in_parts = next((name for name, value in (("--shard", shard), ("--engine", engine)) if value is not None), None)
    if in_parts is not None:
        of_whole = {
            "--json": as_json, "--fail-if": fail_if, "--fail-if-inconclusive": fail_if_inconclusive,
            "--markdown": markdown, "--junit": junit, "--keep": keep,
        }  # fmt: skip
        _require_divisible(in_parts, [name for name, value in of_whole.items() if value])
    of_one_run = {"--shard": shard, "--jobs": jobs, "--fresh": fresh, "--retry-failed": retry_failed}
    _require_meant(engine, shards, [name for name, value in of_one_run.items() if value])
    loaded, plan = planned(experiment, sets, budget=budget, seed=seed, jobs=jobs, fail_if=fail_if)
    if shard is not None:
        require_same_plan(plan, budget, jobs)
        how = How(jobs=jobs, fresh=fresh, retry_failed=retry_failed, probes=not no_probes)
        from wirelab.runner.shards import Shard

        return run_shard(loaded, plan, Shard.read(shard), out, how, console)
    if engine is not None:
        from wirelab.cli.engine import run_with_engine

        words = options_words(
            experiment, sets, {"--seed": seed, "--budget": budget and f"{budget} ns"}, no_probes=no_probes
        )
        return run_with_engine(plan, (engine, shards), words, out, console)
    folder = not_an_option(out) if out is not None else RESULTS / campaign_name(plan)
    how = How(jobs=jobs, fresh=fresh, retry_failed=retry_failed, probes=not no_probes)
    summary = run_campaign(loaded, plan, folder, how, console)
    campaign = load_campaign(folder, folder)
    exports.write(campaign)
    if as_json:
        click.echo((folder / "estimates.json").read_text(encoding="utf-8"), nl=False)
    else:
        tell(campaign, folder)
    if summary.digest is not None:
        click.echo(f"Digest  {summary.digest}", err=True)
    tell_trials(summary, console)
    if campaign.failed or not summary.is_whole:
        return 1
    return exit_code(campaign.estimates, inconclusive_fails=fail_if_inconclusive)


def tell_trials(summary: Summary, console: Console) -> None:
    """Print how many trials failed, were not run, or do not count, and what repeats them."""
    again = "the same command with --retry-failed repeats them"
    late = "the link was so late in them that a timer may have fired"
    for count, what in (
        (summary.failed, f"failed; {again}"),
        (summary.not_run, "were not run; the same command runs them"),
        (summary.not_confirmed, "have exchanges that the link did not confirm"),
        (summary.unusable, f"count in no estimate: {late}; {again}"),
    ):
        if count:
            console.print(f"{count} of {summary.total} trials {what}", markup=False, soft_wrap=True)


def _require_divisible(option: str, others: Sequence[str]) -> None:
    """Raise `WirelabError` for options about results, which no part has."""
    if others:
        what = f"{others[0]} is about a whole campaign, and {option} runs it in parts"
        raise WirelabError(what, others[0], "an experiment's [expect] is judged when the parts are merged")


def _require_meant(engine: str | None, shards: int | None, others: Sequence[str]) -> None:
    """Raise `WirelabError` for options that would have no effect."""
    if engine is None and shards is not None:
        raise WirelabError("divides nothing without --engine", "--shards", "--engine dask, or --shard I/N")
    if engine is not None and others:
        raise WirelabError(f"{others[0]} and --engine exclude each other", others[0], "the engine runs each shard")


def require_same_plan(plan: Plan, budget: int | None, jobs: int | None) -> None:
    """In real time a budget divides by the jobs, of which each machine has its own number."""
    from wirelab.schema import Clock

    if budget is not None and jobs is None and plan.clock is Clock.LIVE:
        what = "with --budget each machine would plan for its own processors"
        raise WirelabError(what, "--shard", "--jobs N as well, the same on each machine")


def options_words(experiment: str, sets: Sequence[str], options: Mapping[str, object], *, no_probes: bool) -> list[str]:
    """A command line that makes the same plan. `sets` have what other options stand for."""
    varied = [word for each in sets for word in ("--set", each)]
    given = [word for option, value in options.items() if value is not None for word in (option, value)]
    # Plain texts, which another process reads: some know the option that they stand for.
    return [f"{word}" for word in ("run", experiment, *varied, *given, *["--no-probes"] * no_probes)]


def run_shard(  # noqa: PLR0913, PLR0917 (what is run, where, and how)
    loaded: Experiment, plan: Plan, shard: Shard, out: Path | None, how: How, console: Console
) -> int:
    """Run one part of a plan, which has no estimates before it is merged with the others."""
    whole, count = divisible(plan, console), len(shard.trials(plan))
    name = f"{campaign_name(plan)}-{shard.number}-of-{shard.of}"
    folder = RESULTS / name if out is None else not_an_option(out)
    summary = run_trials(loaded, whole, folder, replace(how, shard=shard), console)
    click.echo(f"Shard   {shard} of {plan.experiment.name}: {count} of {plan.trials} trials, in {folder}")
    click.echo(f"Next    {launched(f'merge DIR... --out {RESULTS / campaign_name(plan)}')}, when all have run")
    tell_trials(summary, console)
    return 0 if summary.is_whole else 1


def divisible(plan: Plan, console: Console) -> Plan:
    """The plan without a budget by the clock, with a line if it had one. Raises `WirelabError` as its shards do."""
    from wirelab.runner.shards import divided

    if plan.experiment.stop.budget_ns is not None:
        console.print("stop.budget has no effect in shards: none knows how long the others take", soft_wrap=True)
    return divided(plan)


def campaign_name(plan: Plan) -> str:
    """Of the folder. A quick run must not replace the full campaign."""
    return f"{plan.experiment.name}{'-preview' * (plan.experiment.preview is not None)}"


def new_folder(plan: Plan, out: Path | None) -> Path:
    """Of a campaign that is merged. Raises `WirelabError` if it is there."""
    folder = (RESULTS / campaign_name(plan) if out is None else not_an_option(out)).resolve()
    if folder.exists():
        raise WirelabError(f"{folder} is already there", "--out", "name another folder: a merged campaign is a new one")
    return folder


@dataclass(frozen=True)
class How:
    """How a campaign is run: options of the command line that change no trial."""

    jobs: int | None = None
    fresh: bool = False
    retry_failed: bool = False
    probes: bool = True
    shard: Shard | None = None
    closed_loop: bool = True
    """Say what a closed loop leaves out. A test of a program has no option for it."""


def run_campaign(loaded: Experiment, plan: Plan, folder: Path, how: How, console: Console) -> Summary:
    """Check, run, measure, analyze and report a plan; a folder that has some of it is continued."""
    summary = run_trials(loaded, plan, folder, how, console)
    derive(folder, console)
    return summary


def run_trials(loaded: Experiment, plan: Plan, folder: Path, how: How, console: Console) -> Summary:
    """Check and run a plan; a folder that has some of it is continued."""
    from wirelab.runner.campaign import require_makeable
    from wirelab.runner.start import Options, planned_jobs

    require_makeable(folder)
    at_a_time = planned_jobs(plan).number if how.jobs is None else how.jobs
    left = precheck(plan, loaded, at_a_time, closed_loop=how.closed_loop).plan
    options = Options(
        jobs=how.jobs, fresh=how.fresh, retry_failed=how.retry_failed, probes=how.probes,
        command=("wirelab", *sys.argv[1:]), beside=loaded.source.folder, claims=loaded.claims, pages=loaded.pages(),
        own={} if loaded.energy is None else loaded.energy.files(loaded.source.folder), texts=_as_written(loaded),
        shard=how.shard,
    )  # fmt: skip
    shown = left if how.shard is None else how.shard.part(left, plan)
    _announce(shown, 0 if how.shard is not None else plan.trials - left.trials, at_a_time, console, probes=how.probes)
    return _run(plan, folder, options, console)


def _as_written(loaded: Experiment) -> dict[str, str]:
    """The experiment's file, and the user's own programs if there are some."""
    from wirelab.experiment.programs.implementations import CATALOGUE
    from wirelab.schema.campaign import EXPERIMENT

    programs = loaded.source.folder / CATALOGUE
    own = {CATALOGUE: programs.read_text(encoding="utf-8")} if programs.is_file() else {}
    return {EXPERIMENT: loaded.source.text, **own}


def planned(  # noqa: PLR0913 (one parameter for each option)
    experiment: str,
    sets: tuple[str, ...],
    *,
    budget: int | None,
    seed: int | None,
    jobs: int | None,
    fail_if: Sequence[str] = (),
) -> tuple[Experiment, Plan]:
    """An experiment and its plan, scaled down if a budget says so, with the bounds of `--fail-if`."""
    from wirelab.plan import make_plan
    from wirelab.runner.start import planned_jobs, require_clock

    loaded = load(experiment, sets)
    require_clock(loaded.clock)
    if seed is not None:
        loaded = replace(loaded, seed=seed)
    loaded = with_failures(loaded, fail_if)
    plan = make_plan(loaded)
    if budget is not None:
        plan = within_budget(plan, loaded, budget, budget_jobs(plan, jobs or planned_jobs(plan).number))
    return loaded, plan


def _announce(plan: Plan, unsupported: int, jobs: int, console: Console, *, probes: bool) -> None:
    """Print the size and duration of the run, and how many trials of unsupported scenarios its progress also counts."""
    from wirelab.runner.minutes import time_words
    from wirelab.runner.progress import jobs_words
    from wirelab.schema import Clock
    from wirelab.site import count

    least, most = plan.experiment.stop.replicates
    live = plan.clock is Clock.LIVE
    with_jobs = f"{' with' if live else ','} {jobs_words(jobs)}{'; unprivileged' * (os.geteuid() != 0)}"
    console.print(
        f"{count(len(plan.scenarios), 'scenario')}, {'up to ' * (least != most)}{count(plan.trials, 'trial')}"
        f"{f' and {unsupported} unsupported' * (unsupported > 0)}, {time_words(plan, jobs, probes=probes)}{with_jobs}"
    )


def _run(plan: Plan, folder: Path, options: Options, console: Console) -> Summary:
    from wirelab.cli.progress import LiveProgress
    from wirelab.cli.terminate import terminated_as_interrupted
    from wirelab.runner.start import run_plan
    from wirelab.stats.estimate.stopping import make_enough

    with terminated_as_interrupted() as check, LiveProgress(console, check) as progress:
        enough = make_enough(plan, _headline_values(folder, plan))
        return run_plan(plan, folder, options, enough, progress)


def _headline_values(folder: Path, plan: Plan) -> Callable[[str], list[list[float]]]:
    """Reads the headline metric's values of a scenario's finished trials, times in seconds."""
    from wirelab.metrics.dataset import values_so_far
    from wirelab.metrics.registry import EXCHANGE_METRICS

    metric = next(metric for metric in EXCHANGE_METRICS if metric.name == plan.experiment.metric)
    factor = 1e-9 if metric.unit == "ns" else 1.0

    def read(scenario: str) -> list[list[float]]:
        return [[factor * value for value in trial] for trial in values_so_far(folder, plan, scenario, metric)]

    return read


def derive(folder: Path, console: Console) -> None:
    """Dataset, estimates, verdicts and report."""
    from wirelab import report
    from wirelab.cli.analyze import analyze_campaign
    from wirelab.metrics.dataset import measure
    from wirelab.runner.disk import faults_as_errors
    from wirelab.runner.lock import locked
    from wirelab.runner.run import InterruptedRunError

    steps = (("measuring", measure), ("analyzing", analyze_campaign), ("writing the report", report.write))
    try:
        with faults_as_errors(folder), locked(folder):
            for words, step in steps:
                if not console.is_terminal:
                    console.print(words)
                with console.status(words):
                    step(folder)
    except KeyboardInterrupt:
        hint = f"all trials are kept: the same command continues, or {launched(f'measure {folder}')}"
        raise InterruptedRunError("stopped before the report was written", hint=hint) from None


def tell(campaign: Campaign, folder: Path) -> None:
    """Print the summary of a campaign, its answer, and what can be done next."""
    from wirelab.cli import summary
    from wirelab.cli.energy_summary import energy_lines
    from wirelab.cli.expectations import expectation_lines
    from wirelab.report.answer import answer
    from wirelab.schema.back_to_back import back_to_back

    click.echo(summary.link_line(campaign))
    for table in summary.tables(campaign):
        click.echo(f"\n{table}")
    click.echo("")
    for line in (*summary.recovery_lines(campaign), *energy_lines(campaign)):
        click.echo(line)
    if (missed := back_to_back(campaign.plan)) is not None:
        click.echo(f"{missed.what}. For messages minutes apart: {missed.hint}")
    if campaign.unfinished:
        click.echo(campaign.unfinished)
    for statement in answer(campaign):
        click.echo("\n".join(statement.lines()))
    for line in expectation_lines(campaign.estimates):
        click.echo(line)
    click.echo(f"Report  {folder / 'report.html'}")
    click.echo(summary.next_commands(campaign, folder))
