"""`wirelab verify`: whether the records of a campaign are those that it had, and those of a second run."""

from __future__ import annotations

import tempfile
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING

import click

from wirelab.errors import WirelabError
from wirelab.launcher import launched

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wirelab.runner.again import Difference
    from wirelab.schema.campaign import JournalEntry
    from wirelab.schema.plan import Plan

_NAMED = 5


@click.command("verify", short_help="Check an archive, or a run of the virtual clock, or repeat it.")
@click.argument("campaign", type=click.Path(path_type=Path))
@click.option("--again", is_flag=True, help="Run all its trials again, and name the first packet that differs.")
@click.option("--jobs", "-j", type=click.IntRange(1, 256), metavar="N", help="Trials at a time.  [one for each CPU]")
def command(campaign: Path, jobs: int | None, *, again: bool) -> int:
    """Compare the records of CAMPAIGN, which ran under the virtual clock, with its digest or with a second run.

    CAMPAIGN is a folder, a name under results/, or a file that `archive` wrote. Each file of an archive is checked too,
    also of a run in real time. Exits with 1 if a record differs, and with 2 if an archive is damaged.
    """
    from wirelab.archive.zipped import SUFFIX, is_archive, opened
    from wirelab.cli.campaigns import existing
    from wirelab.site import count

    if campaign.suffix == SUFFIX and not campaign.exists():
        raise WirelabError(f"no such file ({campaign})", hint=f"{launched('archive CAMPAIGN')} makes one")
    if not is_archive(campaign):
        return _verified(existing(campaign).resolve(), str(campaign), jobs, again=again)
    with opened(campaign) as folder:
        files = sum(path.is_file() for path in folder.rglob("*"))
        click.echo(f"{campaign}: {count(files, 'file')}, each as it was archived")
        if not again and not _digest(folder):
            return 0
        return _verified(folder, str(campaign), jobs, again=again)


def _digest(folder: Path) -> str | None:
    """That of the last run's records; None if it has none."""
    from wirelab.schema.record import read_record

    record = read_record(folder)
    return record.runs[-1].digest if record is not None and record.runs else None


def _verified(folder: Path, campaign: str, jobs: int | None, *, again: bool) -> int:
    """The exit code for a campaign's folder, which people call `campaign`."""
    from wirelab.runner.digest import campaign_digest
    from wirelab.runner.start import require_clock
    from wirelab.schema.campaign import JOURNAL, read_journal, read_plan
    from wirelab.site import count

    plan, recorded = read_plan(folder), _digest(folder)
    if recorded is None:
        raise WirelabError(
            f"{campaign} has no digest: only a run under the virtual clock that came to its end has one",
            hint=f"{launched('run FILE --clock virtual')} makes one",
        )
    if again:
        require_clock(plan.clock)
    planned = {trial.trial for block in plan.blocks for trial in block.trials}
    last = {entry.trial: entry for entry in read_journal(folder / JOURNAL)[0]}
    finished = sorted(name for name, entry in last.items() if name in planned and entry.status.final)
    found = campaign_digest(folder, finished)
    if unchanged := found == recorded:
        click.echo(f"{campaign}: {count(len(finished), 'trial')}, digest {found}")
    else:
        click.echo(f"{campaign}: the records are not those of its last run: digest {found}, not {recorded}")
        changed = [line for name in finished if (line := _changed(folder, last[name]))]
        click.echo("".join(f"{line}\n" for line in changed[:_NAMED]), nl=False)
    if not again:
        return 0 if unchanged else 1
    return max(_again(folder, plan, finished, jobs), 0 if unchanged else 1)


def _changed(folder: Path, entry: JournalEntry) -> str | None:
    """The files of a trial that are not those of which the journal has digests."""
    from wirelab.runner.digest import trial_digests

    found, recorded = trial_digests(folder, entry.trial), entry.records or {}
    names = sorted(name for name, digest in recorded.items() if found.get(name) != digest)
    return f"{entry.trial}: {', '.join(names)}" if names else None


def _again(folder: Path, plan: Plan, finished: list[str], jobs: int | None) -> int:
    from rich.console import Console

    from wirelab.cli.progress import LiveProgress
    from wirelab.cli.terminate import terminated_as_interrupted
    from wirelab.experiment.programs.implementations import CATALOGUE
    from wirelab.runner.again import finished_part, run_again
    from wirelab.runner.start import Options
    from wirelab.site import count

    beside = folder if (folder / CATALOGUE).is_file() else Path.cwd()
    part, options = finished_part(plan, finished), Options(jobs=jobs, beside=beside)
    with (
        tempfile.TemporaryDirectory(prefix="wirelab-again-") as other,
        terminated_as_interrupted() as check,
        LiveProgress(Console(stderr=True, highlight=False), check) as progress,
    ):
        different = run_again(folder, part, Path(other), options, progress)
        lines = [_words(folder, Path(other), each) for each in different[:_NAMED]]
        lines += _unlike(folder, Path(other))
    if not different:
        click.echo(f"the same bytes in every record of {count(len(finished), 'trial')}")
        return 0
    click.echo("\n".join([f"{len(different)} of {len(finished)} trials differ", *lines]))
    return 1


def _unlike(folder: Path, other: Path) -> Iterator[str]:
    """What else than chance may be the reason of a difference."""
    from wirelab.schema.campaign import JOURNAL, read_journal
    from wirelab.schema.record import read_record

    builds = [{entry.agent for entry in read_journal(each / JOURNAL)[0]} for each in (folder, other)]
    if builds[0] != builds[1]:
        yield "The second run had another build of the agent, which may give other bytes."
    first, second = read_record(folder), read_record(other)
    if first is None or second is None:
        return
    if first.kernel is not None and second.kernel is not None and first.kernel.recipe != second.kernel.recipe:
        yield f"The second run had another kernel: recipe {second.kernel.recipe}, not {first.kernel.recipe}."
    for name, version in second.implementations.items():
        if first.implementations.get(name) != version:
            yield f"The second run had another version of {name}."


def _words(folder: Path, other: Path, difference: Difference) -> str:
    from wirelab.metrics.packets import dissected, records_of
    from wirelab.schema.campaign import PACKET_LOG, TRIALS

    trial = difference.trial
    names = f"{trial}: {', '.join(difference.names)}"
    if PACKET_LOG not in difference.names:
        return names
    logs = [each / TRIALS / trial / PACKET_LOG for each in (folder, other)]
    try:
        packets = [dissected(log) for log in logs]
    except WirelabError:
        # A log that was changed may be one no more.
        return names
    (header, records), (other_header, other_records) = map(records_of, logs)
    if header != other_header:
        return f"{names}\n  The headers of packets.wlpl differ."
    for number, (one, again) in enumerate(zip_longest(records, other_records)):
        if one != again:
            first, second = (each[number] if number < len(each) else None for each in packets)
            where = f"packet {number} is the first that differs"
            if first == second:
                # What is dissected leaves out some of the bytes that were logged.
                place = next(at for at, pair in enumerate(zip_longest(one or b"", again or b"")) if pair[0] != pair[1])
                where = f"{where}, in byte {place} of its record"
            return f"{trial}: {where}:\n  {first}\n  {second}"
    return names
