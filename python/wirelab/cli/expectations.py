"""`--fail-if`, and what the terminal says of expectations."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from wirelab.errors import Where, WirelabError
from wirelab.units import UnitError

if TYPE_CHECKING:
    from wirelab.experiment.experiment import Experiment
    from wirelab.report.campaign import Campaign
    from wirelab.report.compared import Compared
    from wirelab.schema.estimates import Estimates, ExpectationRecord, Kept

Command = TypeVar("Command", bound=Callable[..., Any])

MISSED, INCONCLUSIVE = 4, 6
"""Exit codes."""
VERDICTS: tuple[Kept, ...] = ("kept", "missed", "inconclusive")
MOST_LINES = 8
"""Scenarios that the terminal names of each expectation."""


def fail_if_options(command: Command) -> Command:
    """The options `fail_if` and `fail_if_inconclusive`."""
    inconclusive = click.option(
        "--fail-if-inconclusive", is_flag=True, help="Exit with 6 if an expectation is neither kept nor missed."
    )
    fail_if = click.option(
        "--fail-if", multiple=True, metavar="CONDITION",
        help="Exit with 4 if this is so in a scenario, such as 'p95 > 800ms'. May be repeated.",
    )  # fmt: skip
    return fail_if(inconclusive(command))


def export_options(command: Command) -> Command:
    """The options `keep`, `markdown` and `junit`."""
    kind = click.Path(path_type=Path, dir_okay=False)
    keep = click.option(
        "--keep", type=kind, metavar="FILE.tar.xz", help="Also write what a later comparison needs, as one small file."
    )
    junit = click.option("--junit", type=kind, metavar="FILE", help="Also write the bounds as JUnit XML.")
    return click.option("--markdown", type=kind, metavar="FILE", help="Also write the numbers as Markdown.")(
        junit(keep(command))
    )


@dataclass(frozen=True)
class Exports:
    """Files that were asked for, in addition to a campaign's folder."""

    markdown: Path | None
    junit: Path | None
    keep: Path | None

    def require_names(self) -> None:
        """Before anything is run. Raises `WirelabError` for a name that cannot be read again."""
        from wirelab.answer.compare.kept import require_name

        if self.keep is not None:
            require_name(self.keep)

    def write(self, campaign: Campaign, compared: Compared | None = None) -> None:
        """With a comparison of the campaign's sides. Raises `WirelabError` where that fails."""
        from wirelab.answer.compare import kept
        from wirelab.report import junit, markdown
        from wirelab.report.page import write_text

        if self.markdown is not None:
            write_text(self.markdown, markdown.of_campaign(campaign, compared))
        if self.junit is not None:
            write_text(self.junit, junit.of_campaign(campaign, compared))
        if self.keep is not None:
            kept.keep(campaign.folder, self.keep)


def with_failures(loaded: Experiment, conditions: Sequence[str]) -> Experiment:
    """The experiment with the expectations that conditions of `--fail-if` stand for. Raises `WirelabError`."""
    from wirelab.claims.check import of_another_unit
    from wirelab.experiment.file.expect import never_decided, read_failure

    found = list(loaded.expect)
    for text in conditions:
        try:
            expected = read_failure(text, loaded.metric)
        except UnitError as error:
            raise WirelabError(f"{error} ({text})", Where("--fail-if"), error.hint) from None
        wrong = of_another_unit(expected) or never_decided(expected, loaded.scenarios, loaded.stop.replicates[1])
        if wrong is not None:
            raise WirelabError(f"{wrong.what} ({text})", Where("--fail-if"), wrong.hint)
        if expected not in found:
            found.append(expected)
    return replace(loaded, expect=tuple(found))


def exit_code(estimates: Estimates, *, inconclusive_fails: bool) -> int:
    """4 if a scenario misses an expectation, 6 if one is inconclusive and that fails, else 0."""
    verdicts = {each["verdict"] for each in estimates.get("expectations", [])}
    if "missed" in verdicts:
        return MISSED
    return INCONCLUSIVE if inconclusive_fails and "inconclusive" in verdicts else 0


def expectation_lines(estimates: Estimates) -> Iterator[str]:
    """A line for each expectation, and one for each scenario that does not keep it; those without an estimate share
    one with their reason.
    """
    groups: dict[tuple[str, str], list[ExpectationRecord]] = {}
    for each in estimates.get("expectations", []):
        groups.setdefault((each["subject"], each["bound"]), []).append(each)
    for (subject, bound), records in groups.items():
        verdicts = [each["verdict"] for each in records]
        counts = [f"{verdict} in {verdicts.count(verdict)}" for verdict in VERDICTS if verdict in verdicts]
        yield f"Expected {subject} {bound}: {', '.join(counts)} of {len(records)} scenario{'s' * (len(records) > 1)}"
        others = [each for each in records if each["verdict"] != "kept" and each["estimate"] is not None]
        others.sort(key=lambda each: VERDICTS.index(each["verdict"]))
        for each in others[:MOST_LINES]:
            why = "" if each["why"] is None else f" ({each['why']})"
            yield f"  {each['verdict']}: {each['name']}: {value_words(each)}{why}"
        if (more := len(others) - MOST_LINES) > 0:
            yield f"  {more} more scenario{'s are' if more > 1 else ' is'} in the report"
        yield from _without_estimate(records)


def _without_estimate(records: Sequence[ExpectationRecord]) -> Iterator[str]:
    reasons = [each["why"] for each in records if each["estimate"] is None]
    for why in dict.fromkeys(reasons):
        number = reasons.count(why)
        yield f"  inconclusive: {number} scenario{'s' * (number > 1)}: {why}"


def value_words(record: ExpectationRecord) -> str:
    """`95.1 ms [93.0, 97.0], n = 300`."""
    from wirelab.report.numbers import Estimate, with_unit
    from wirelab.report.sections.expectations import unit_of

    found = Estimate.of(record["estimate"])
    return f"{with_unit(found, unit_of(record))}, n = {found.n if found is not None else 0:,}"
