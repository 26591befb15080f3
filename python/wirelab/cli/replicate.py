"""`wirelab replicate`: a paper's campaigns, one after the other, and the page that explains its verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import click

from wirelab.cli.arguments import budget_option
from wirelab.cli.campaigns import RESULTS, existing, not_an_option
from wirelab.errors import Where, WirelabError, did_you_mean
from wirelab.launcher import launched

if TYPE_CHECKING:
    from rich.console import Console

    from wirelab.claims.campaigns import CampaignTable
    from wirelab.claims.load import Claims
    from wirelab.experiment.experiment import Experiment
    from wirelab.replicate.source import Source
    from wirelab.schema.plan import Plan
    from wirelab.schema.replication import Replication

QUICK_NS = 10 * 60 * 10**9
"""What `--quick` takes for all campaigns together, about."""
CLAIMS = ".claims.toml"


@dataclass(frozen=True)
class _Planned:
    """A campaign that is to be run: its folder's name, what it is for, and its plan."""

    name: str
    why: str | None
    loaded: Experiment
    plan: Plan


@click.command("replicate", short_help="Replicate a paper: run its campaigns, explain its verdicts.")
@click.argument("paper", required=False)
@click.option(
    "--from", "folders", multiple=True, metavar="CAMPAIGN", type=click.Path(path_type=Path),
    help="Combine this campaign, or one that --keep wrote, or a folder of them; run none. May be repeated.",
)  # fmt: skip
@click.option("--kept", "use_kept", is_flag=True, help="Make the page of PAPER from what ships with Wirelab.")
@click.option("--quick", is_flag=True, help="Run smaller campaigns, 10 to 15 minutes in all. Not conclusive.")
@budget_option
@click.option(
    "--jobs", "-j", type=click.IntRange(1, 256), metavar="N", help="Trials at a time.  [chosen for this machine]"
)
@click.option(
    "--out", metavar="DIR", type=click.Path(path_type=Path, file_okay=False),
    help="Folder for the page and all campaigns.  [results/replicate-PAPER]",
)  # fmt: skip
@click.option(
    "--keep",
    metavar="DIR",
    type=click.Path(path_type=Path, file_okay=False),
    help="Also write PAPER.json there, and PAPER/CAMPAIGN.tar.xz of each campaign for a later --from.",
)
@click.option(
    "--markdown",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Also write the page as Markdown.",
)
def command(  # noqa: PLR0913, PLR0917 (one parameter for each option)
    paper: str | None,
    folders: tuple[Path, ...],
    use_kept: bool,
    quick: bool,
    budget: int | None,
    jobs: int | None,
    out: Path | None,
    keep: Path | None,
    markdown: Path | None,
) -> int:
    """Run all campaigns of PAPER, combine them, and write one page with each claim's verdict and what decides it.

    PAPER is a paper that ships, such as milosevic2021, or a FILE.claims.toml of your own with its [[campaign]] tables.
    The same command again continues where it stopped. Campaigns share a budget alike. Without PAPER: one page of all
    papers from what ships; nothing is run. Exits with 1 if no trial of a campaign succeeded, or if it left trials out.
    """
    from wirelab.limits import require_limits
    from wirelab.replicate.combine import combine
    from wirelab.replicate.kept import kept
    from wirelab.replicate.listed import not_given

    if quick and budget is not None:
        raise WirelabError("--quick excludes --budget", hint="leave out --quick")
    _refuse(paper, folders, use_kept=use_kept, runs=quick or budget is not None or jobs is not None, keep=keep)
    if paper is None or use_kept:
        require_limits(starts=False)
        records = kept([] if paper is None else [_name(paper)])
        _write(records, _folder(out, f"replicate-{_name(paper)}" if paper else "replications"), markdown)
        return 0
    claims, place = _claims(paper)
    suffix = "-preview" if quick or budget is not None else ""
    folder = _folder(out, f"replicate-{_name(paper)}{suffix}")
    left_out, complete, given = list[str](), True, list[Path]()
    if folders:
        require_limits(starts=False)
        given = _each_once(folders)
        sources = [_source(folder, claims) for folder in given]
        left_out = not_given(claims, sources)
    else:
        require_limits(starts=True)
        share = budget if budget is not None else QUICK_NS if quick else None
        sources, left_out, complete = _run_all(claims, place, folder, share, jobs)
        given = [folder / source.summary["name"] for source in sources]
    record = combine(claims, sources, left_out)
    _write([record], folder, markdown, single=True)
    if keep is not None:
        _keep(record, keep, given)
    return 0 if complete else 1


def _folder(out: Path | None, name: str) -> Path:
    """Where the page and the folders of campaigns go: not among the files of a campaign."""
    from wirelab.schema.campaign import PLAN

    folder = not_an_option(out) if out is not None else RESULTS / name
    if (folder / PLAN).exists():
        what = f"{folder} is a campaign, and no page of a paper is kept in it"
        raise WirelabError(what, "--out", "name another folder")
    return folder


def _refuse(paper: str | None, folders: Sequence[Path], *, use_kept: bool, runs: bool, keep: Path | None) -> None:
    """Options that exclude each other, or that need a paper."""
    if paper is None and (folders or runs or keep is not None):
        raise WirelabError("no paper is named, so nothing is run, combined or kept", hint=launched("replicate PAPER"))
    if (folders or use_kept) and runs:
        raise WirelabError("--quick, --budget and --jobs are for campaigns that are run", hint="leave them out")
    if use_kept and (folders or keep is not None):
        raise WirelabError("--kept excludes --from and --keep", hint="leave one of them out")
    for each in () if keep is None else (keep, *keep.parents):
        if each.is_file():
            raise WirelabError(f"not a folder ({each})", "--keep", "name a folder, which is made if it is missing")


def _each_once(paths: Sequence[Path]) -> list[Path]:
    """The campaigns that exist, folders or kept files. Raises `WirelabError` for one that is named twice."""
    found: dict[Path, Path] = {}
    for each in chain.from_iterable(_campaigns(path) for path in paths):
        if each.resolve() in found:
            raise WirelabError(f"'{each}' is named twice", hint=f"write once: --from {each}")
        found[each.resolve()] = each
    return [*found.values()]


def _campaigns(path: Path) -> list[Path]:
    """The campaign at a path, or those in a folder."""
    from wirelab.schema.archive import SUFFIX, is_archive
    from wirelab.schema.campaign import PLAN

    if is_archive(path) and path.is_file():
        return [path]
    if not path.exists() and not (RESULTS / path).exists():
        hint = "a campaign's folder, its archive NAME.tar.xz, or a folder of them"
        raise WirelabError(f"no such folder or file ({path})", "--from", hint)
    kept = [*path.glob(f"*{SUFFIX}"), *path.glob(f"*/*{SUFFIX}")]
    inside = [*kept, *(file.parent for file in path.glob(f"*/{PLAN}"))]
    if not inside or (path / PLAN).is_file():
        return [existing(path)]
    return sorted(inside)


def _name(paper: str) -> str:
    return Path(paper).name.removesuffix(CLAIMS)


def _claims(paper: str) -> tuple[Claims, Path]:
    """The claims of a shipped paper or of a file, and the folder of its experiments."""
    from wirelab.claims.load import load
    from wirelab.experiment.library import experiment_file

    if paper.endswith(".toml") or "/" in paper:
        path = Path(paper)
        if not paper.endswith(CLAIMS):
            hint = f"the file of its claims, such as {path.with_suffix('')}{CLAIMS}"
            raise WirelabError(f"'{paper}' is not a file of claims: its name does not end in {CLAIMS}", hint=hint)
    else:
        path = Path(str(experiment_file(f"{paper}.claims")))
        if not path.is_file():
            papers = sorted(each.name.removesuffix(CLAIMS) for each in path.parent.glob(f"*{CLAIMS}"))
            raise WirelabError(f"no such paper ({paper})", hint=did_you_mean(paper, papers))
    return load(path, to_run=True), path.parent


def _source(folder: Path, claims: Claims, why: str | None = None) -> Source:
    from wirelab.replicate.source import read_source
    from wirelab.report.campaign import load
    from wirelab.report.grade import graded
    from wirelab.schema.archive import unpacked

    if folder.is_file():
        with unpacked(folder) as campaign:
            return _source(campaign, claims, why)
    return read_source(folder, claims, graded(load(folder, folder)), why)


def _run_all(
    claims: Claims, place: Path, folder: Path, budget: int | None, jobs: int | None
) -> tuple[list[Source], list[str], bool]:
    """Every campaign in its order, those that are left out with the reason, and whether each is complete."""
    from rich.console import Console

    from wirelab.cli.precheck import FAR_OVER, LONG_NS
    from wirelab.cli.run import How, run_campaign
    from wirelab.runner.minutes import in_days
    from wirelab.units import format_duration

    console = Console(stderr=True, highlight=False)
    planned, left_out = _plan_all(claims, place, budget, jobs)
    for words in left_out:
        console.print(f"left out: {words}", markup=False, soft_wrap=True)
    takes = _announce(planned, jobs, console)
    if budget is None:
        sooner = "--quick runs less, and --kept makes the page of what ships, in seconds (if the paper ships)"
        console.print(sooner, markup=False, soft_wrap=True)
    if budget is not None and takes > max(FAR_OVER * budget, LONG_NS):
        what = f"even the smallest quick runs take about {in_days(takes)}, longer than {format_duration(budget)}"
        raise WirelabError(what, hint=f"a budget of {in_days(takes)}")
    sources, complete = [], True
    for number, each in enumerate(planned, 1):
        console.print(f"\n{number} of {len(planned)}: {each.name}{f' ({each.why})' * bool(each.why)}", markup=False)
        summary = run_campaign(each.loaded, each.plan, folder / each.name, How(jobs=jobs), console)
        complete = complete and not summary.not_run and summary.failed < summary.total
        sources.append(_source(folder / each.name, claims, each.why))
    return sources, left_out, complete


def _plan_all(claims: Claims, place: Path, budget: int | None, jobs: int | None) -> tuple[list[_Planned], list[str]]:
    """Each campaign's plan; a budget is shared alike, and campaigns that cannot be so small are left out."""
    from wirelab.cli.run import planned as plan_of
    from wirelab.replicate.listed import words

    listed = claims.file.campaign
    if not listed:
        hint = f'[[campaign]] experiment = "NAME"; or combine campaigns: {launched("replicate PAPER --from CAMPAIGN")}'
        raise WirelabError("names no campaign to run", Where(claims.name), hint)
    share = None if budget is None else budget // len(listed)
    found, left_out = list[_Planned](), list[str]()
    for number, campaign in enumerate(listed):
        own = place / f"{campaign.experiment}.toml"
        file = str(own) if own.is_file() else campaign.experiment
        loaded, plan = plan_of(file, campaign.assignments, budget=None, seed=None, jobs=jobs)
        try:
            if share is not None:
                loaded, plan = plan_of(file, campaign.assignments, budget=share, seed=None, jobs=jobs)
        except WirelabError as error:
            left_out.append(f"{words(campaign)}, {len(plan.scenarios)} scenarios: not run, {error.what}")
            continue
        _require_claims(loaded, claims, campaign)
        found.append(_Planned(_folder_name(campaign, listed[:number]), campaign.why, loaded, plan))
    if not found:
        raise WirelabError("every campaign is left out", hint="a longer --budget")
    return found, left_out


def _folder_name(campaign: CampaignTable, before: Sequence[CampaignTable]) -> str:
    """The experiment's name, with a number if an earlier campaign of the list is of the same one. Campaigns that are
    left out count, so that a campaign has the same folder with any budget.
    """
    count = sum(each.experiment == campaign.experiment for each in before)
    return campaign.experiment if not count else f"{campaign.experiment}-{count + 1}"


def _require_claims(loaded: Experiment, claims: Claims, campaign: CampaignTable) -> None:
    if loaded.claims is None or loaded.claims.name != claims.name:
        what = f"the experiment {campaign.experiment} is not judged by these claims"
        raise WirelabError(what, Where(claims.name), f'write in it: claims = "{claims.name}"')


def _announce(planned: Sequence[_Planned], jobs: int | None, console: Console) -> int:
    """Print how long all campaigns take, and how a quick run differs from the whole. Returns the time in ns."""
    from wirelab.replicate.source import quick_words
    from wirelab.runner.minutes import in_days, run_ns, virtual_run_ns
    from wirelab.runner.start import planned_jobs
    from wirelab.schema import Clock

    total = 0
    for each in planned:
        number = planned_jobs(each.plan).number if jobs is None else jobs
        takes = virtual_run_ns(each.plan, number) if each.plan.clock is Clock.VIRTUAL else run_ns(each.plan, number)
        total += takes
        words = f"{each.name}: {len(each.plan.scenarios)} scenarios, {each.plan.clock.value} clock, {in_days(takes)}"
        if (small := each.plan.experiment.preview) is not None:
            words += f"; quick: {quick_words(small)}"
        console.print(words, markup=False, soft_wrap=True)
    plural = "s" * (len(planned) != 1)
    console.print(f"{len(planned)} campaign{plural}, about {in_days(total)} in all", markup=False)
    return total


def _write(records: Sequence[Replication], folder: Path, markdown: Path | None, *, single: bool = False) -> None:
    """The page, the record of a paper, and Markdown; prints where they are."""
    from wirelab.replicate.kept import write_record
    from wirelab.report.replication.lead import lead, tally
    from wirelab.report.replication.markdown import write_markdown
    from wirelab.report.replication.page import write_all, write_paper
    from wirelab.schema.replication import REPLICATION

    page = folder / "index.html"
    if len(records) == 1:
        if single:
            write_record(records[0], folder / REPLICATION)
        write_paper(records[0], page)
        for statement in lead(records[0]):
            click.echo(statement.text)
    else:
        write_all(records, page)
        click.echo(tally(records))
    click.echo(f"Page    {page}")
    if markdown is not None:
        for path in write_markdown(records, markdown):
            click.echo(f"Page    {path}")


def _keep(record: Replication, folder: Path, campaigns: Sequence[Path]) -> None:
    from wirelab.replicate.kept import keep_campaign, write_record

    path = write_record(record, folder / f"{record['paper']}.json")
    click.echo(f"Kept    {path}")
    for campaign in campaigns:
        if campaign.is_dir():
            click.echo(f"Kept    {keep_campaign(campaign, folder / record['paper'])}")
