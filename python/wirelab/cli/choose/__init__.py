"""`wirelab choose`: which protocol a device should speak over its link."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from wirelab.cli.arguments import DurationType
from wirelab.cli.campaigns import RESULTS, not_an_option
from wirelab.errors import Where, WirelabError, did_you_mean

if TYPE_CHECKING:
    from wirelab.answer.choose.question import Asked
    from wirelab.answer.choose.tariff import Place
    from wirelab.cli.choose.work import Work
    from wirelab.schema.choose import Chosen

PAGE = "choose.html"
DEFAULTS = {"send": "64B", "every": "10min"}
"""Of what is asked for without a file."""
TARIFF = 'a tariff is a file with price = "0.50 EUR/MB"; without one: --price 0.50EUR/MB'
"""What a file of it should have."""
MOST_ROWS = 12
"""Of the table on a terminal; the page has all."""
BUDGET_NS = 5 * 60 * 10**9


@click.command("choose", short_help="Answer which protocol a device should speak over its link.")
@click.argument("file", required=False, metavar="[FILE]")
@click.option("--send", metavar="SIZE", help="Bytes of a message.  [64B]")
@click.option("--every", metavar="DURATION", help="Time between two messages.  [10min]")
@click.option("--link", metavar="NAME", help="A link that `list links` names, or the file of a profile.")
@click.option("--reply", metavar="SIZE", help="Bytes that the server answers each message with.  [0B]")
@click.option("--command-within", metavar="DURATION", help="How late a command may reach the device.")
@click.option("--radio", metavar="NAME", help="The device's radio.  [one that is known for the link]")
@click.option("--battery", metavar="'CHARGE VOLTAGE'", help="The battery, such as '2400mAh 3.6V'.")
@click.option("--base-current", metavar="CURRENT", help="What the rest of the device draws all the time.")
@click.option("--life", metavar="YEARS", help="How long the battery should last, such as '5 years'.")
@click.option("--price", metavar="PRICE", help="Of data, such as 0.50EUR/MB.")
@click.option("--tariff", metavar="FILE", help="A file with price, rounding, each and fee.")
@click.option("--deadline", metavar="DURATION", help="When a message must be acknowledged.")
@click.option("--delivery", metavar="KIND", help="at-least-once or at-most-once.  [at-least-once]")
@click.option("--auth", metavar="KIND", help="psk, server-certificate, mutual or none.  [any security]")
@click.option("--batch", metavar="N[,N...]", help="Readings in a message that are tried.  [1,6]")
@click.option("--protocols", metavar="NAME[,NAME...]", help="Compare these only.")
@click.option("--flip", metavar="NUMBER[,NUMBER]", help="Map the first over interval, size, loss, rtt or nat.")
@click.option("--budget", type=DurationType("min"), metavar="DURATION", help="Start nothing after this time.  [5min]")
@click.option("--jobs", "-j", type=click.IntRange(1, 256), metavar="N", help="Trials at a time.  [one for each CPU]")
@click.option(
    "--out", type=click.Path(path_type=Path, file_okay=False), metavar="DIR",
    help="Folder for all results.  [results/choose-LINK]",
)  # fmt: skip
@click.option("--fresh", is_flag=True, help="Archive earlier results in that folder and start again.")
@click.option("--json", "as_json", is_flag=True, help="Print choose.json instead of the tables.")
@click.option("--open", "opens", is_flag=True, help="Open the page in the browser.")
def command(  # noqa: PLR0913 (one parameter for each option that is not part of the question)
    file: str | None,
    budget: int | None,
    jobs: int | None,
    out: Path | None,
    *,
    fresh: bool,
    as_json: bool,
    opens: bool,
    **options: str | None,
) -> int:
    """Answer which protocol a device should speak over its link.

    FILE has the same keys as the options: send = "64 B". Real protocol stacks run under the virtual clock over the
    link, its NAT and its radio's sleep. Settings of the network that a device's owner does not know are varied. The
    first table comes after about a minute, and is replaced as it settles. The same command again continues, and repeats
    trials that failed. Exits with 1 if nothing can be ranked.
    """
    from rich.console import Console

    from wirelab.cli.choose.work import Work
    from wirelab.limits import require_limits
    from wirelab.report.choose.page import write_chosen

    require_limits(starts=True)
    asked = _asked(file, {key.replace("_", "-"): text for key, text in options.items() if text is not None})
    folder = not_an_option(out) if out is not None else RESULTS / f"choose-{Path(asked.link).stem}"
    console = Console(stderr=True, highlight=False)

    def show(record: Chosen) -> None:
        console.print("\n".join([*_lines(record), ""]), markup=False, soft_wrap=True)

    try:
        work = Work.of(asked, folder, BUDGET_NS if budget is None else budget, jobs, console)
    except WirelabError as error:
        error.where = _place(error.where, file, options)
        raise
    work.fresh = fresh
    if (other := _replaced(folder, work)) is not None:
        console.print(other, markup=False, soft_wrap=True)
    record = work.answer(show)
    text = write_chosen(record, folder, PAGE)
    if as_json:
        click.echo(text)
    else:
        click.echo("\n".join(_lines(record)))
        click.echo(f"Page    {folder / PAGE}")
    if opens:
        click.launch(str((folder / PAGE).resolve()))
    return 0 if any(choice["rank"] is not None for choice in record["choices"]) else 1


def _replaced(folder: Path, work: Work) -> str | None:
    """That the folder has the answer to another question; None if it has not."""
    from wirelab.answer.choose.chosen import chosen
    from wirelab.schema.choose import CHOSEN, read_chosen

    if not (folder / CHOSEN).is_file():
        return None
    try:
        earlier = read_chosen(folder / CHOSEN)["question"]
    except WirelabError:
        return None
    same = earlier == chosen(work.evidence(), settled=False)["question"]
    return None if same else f"This replaces the answer to another question in {folder}; --out keeps both."


def _asked(file: str | None, options: Mapping[str, str]) -> Asked:
    """The question of the file and the options, of which options count."""
    from wirelab.answer.choose.question import question
    from wirelab.answer.choose.tariff import of_table

    written = {} if file is None else _file(Path(file))

    def at(key: str) -> Where | str:
        return f"--{key}" if key in options or file is None else Where(file, key=key)

    given: dict[str, str | Sequence[str]] = {**(DEFAULTS if file is None else {}), **written, **options}
    asked = question(given, at)
    if (tariff := given.get("tariff")) is None:
        return asked
    path = Path(str(tariff)) if "tariff" in options or file is None else Path(file).parent / str(tariff)
    table = _table(path, TARIFF)
    return replace(asked, tariff=of_table(table, _places(path)))


def _place(where: Where | str | None, file: str | None, options: Mapping[str, str | None]) -> Where | str | None:
    """Where something wrong stands: an option, or the key of the file that says the same."""
    name = where.source if isinstance(where, Where) else where
    if file is None or name is None or not name.startswith("--"):
        return where
    key = name.removeprefix("--")
    return where if options.get(key.replace("-", "_")) is not None else Where(file, key=key)


def _places(path: Path) -> Place:
    return lambda key: Where(str(path), key=key)


def _file(path: Path) -> dict[str, str | list[str]]:
    """A question's file. Raises `WirelabError` for a key that is none, and for a value that is no text."""
    from wirelab.answer.choose.question import KEYS, LISTS

    found: dict[str, str | list[str]] = {}
    for key, value in _table(path, _no_file(str(path))).items():
        where = Where(str(path), key=key)
        if key not in KEYS:
            raise WirelabError(f"unknown key '{key}'", where, did_you_mean(key, KEYS))
        if isinstance(value, list) and key in LISTS:
            found[key] = [str(each) for each in value]
        elif isinstance(value, str):
            found[key] = value
        else:
            raise WirelabError("should be a text in quotation marks", where, _as_text(key, value))
    return found


def _as_text(key: str, value: object) -> str:
    """How a value of another kind is written."""
    from wirelab.answer.choose.question import LISTS, NEEDED

    if key == "link" and isinstance(value, dict):
        return 'a link of your own is a file of its own: link = "./mine.toml"'
    if isinstance(value, dict | list):
        return f'such as {key} = "{ {**NEEDED, **LISTS}.get(key, "...") }"'
    return f'such as {key} = "{value}"'


def _no_file(name: str) -> str:
    """What can be asked instead of a file that is none."""
    from wirelab.experiment.library import profiles

    if name in profiles():
        return f"{name} is a link: --link {name}"
    return 'a question\'s file has options as keys, such as send = "64 B"; without one: --link nb-iot-psm'


def _table(path: Path, hint: str) -> dict[str, object]:
    """A file of TOML; `hint` says what it should have."""
    from wirelab.opened import NO_FILE, nearest_file
    from wirelab.toml import parse_toml, read_text

    where = Where(str(path))
    try:
        return parse_toml(read_text(path, where), where)
    except WirelabError as error:
        near = nearest_file(path, ".toml") if error.what == NO_FILE else None
        error.hint = error.hint or (hint if near is None else f"did you mean '{path.parent / near}'?")
        raise


def _lines(record: Chosen) -> Iterable[str]:
    from wirelab.cli.text import columns
    from wirelab.report.choose import levers, ranking, words

    rows = ranking.rows(record)
    shown, more = rows[: ranking.HEADS + MOST_ROWS], len(rows) - ranking.HEADS - MOST_ROWS
    yield words.lead(record)
    yield from (
        *words.left_out(record), *words.how_counted(record), *words.least_data(record), *words.safest(record)
    )  # fmt: skip
    yield columns(shown, right=range(ranking.NAMED, len(rows[0])))
    if more > 0:
        yield f"{more} more choices are on the page"
    yield from (f"Not compared: {names}: {why}" for names, why in ranking.apart(record))
    lines = (
        *ranking.notes(record), *words.gap(record), *words.late(record),
        *levers.matters(record), *levers.battery(record), *words.crossings(record), *words.assumptions(record),
        words.not_considered(record), words.quality(record), *words.warnings(record),
    )  # fmt: skip
    yield from filter(None, lines)
