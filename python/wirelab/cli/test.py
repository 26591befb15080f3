"""`wirelab test`: a program of the user's own behind links, with an exit code."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from wirelab.cli import compare
from wirelab.cli.arguments import DurationType, clock_option, with_clock
from wirelab.cli.campaigns import RESULTS
from wirelab.cli.compare import margin_option
from wirelab.cli.expectations import (
    MISSED,
    Exports,
    exit_code,
    expectation_lines,
    export_options,
    fail_if_options,
    with_failures,
)
from wirelab.errors import CombinedError, Where, WirelabError
from wirelab.schema.campaign import OF_A_TEST
from wirelab.schema.describe import SuccessStatus

if TYPE_CHECKING:
    from wirelab.answer.compare.pairing import Pairing
    from wirelab.experiment.experiment import Experiment
    from wirelab.experiment.own_program import OwnProgram
    from wirelab.report.campaign import Campaign
    from wirelab.report.compared import Compared
    from wirelab.schema import ProtocolDescription
    from wirelab.schema.changes import Changes
    from wirelab.schema.estimates import AnalysedScenario
    from wirelab.schema.plan import Plan

EXPERIMENT = "test.toml"
HTTP = SuccessStatus(fetched=200, stored=200)
"""What distinguishes HTTP from CoAP (RFC 9110, section 15.3.1)."""
METHODS = ("get", "post", "put", "delete")
OPTIONS = {
    "workload.request.headers": "--header", "workload.request.body": "--body", "workload.publish.body": "--body",
    "workload.publish": "--topic",
    "workload.download": "--reply", "workload.exchanges": "--requests", "workload.connection": "--connection",
    "factors.protocol": "--protocol", "factors.link": "--link", "links": "--link",
}  # fmt: skip
"""Which option gives a key of the experiment."""


@click.command("test", short_help="Test your own server or client over links, with an exit code.")
@click.argument("program", required=False)
@click.option(
    "--against", metavar="PROGRAM|FILE.tar.xz",
    help="Compare with another program for the same role, in turns, or with what --keep wrote.",
)  # fmt: skip
@margin_option
@click.option("--client", metavar="PROGRAM", help="Test a client instead, such as 'curl -s {url}'.")
@click.option("--get", metavar="PATH", help="Ask for this path by GET.  [/ if no other is given]")
@click.option("--post", metavar="PATH", help="Ask for this path by POST.")
@click.option("--put", metavar="PATH", help="Ask for this path by PUT.")
@click.option("--delete", metavar="PATH", help="Ask for this path by DELETE.")
@click.option("--topic", metavar="TOPIC", help="Publish to this topic of MQTT or address of AMQP instead.")
@click.option(
    "--body", type=click.Path(path_type=Path, exists=True, dir_okay=False), metavar="FILE", help="Send this file."
)
@click.option("--header", "headers", multiple=True, metavar="'NAME: VALUE'", help="Send this header. May be repeated.")
@click.option("--protocol", "protocols", metavar="NAME[,NAME...]", help="Protocols.  [http1; mqtt with --topic]")
@click.option("--link", "links", default="clean", metavar="NAME[,NAME...]", help="Links.  [clean]")
@click.option(
    "--connection",
    type=click.Choice(["new", "persistent"]),
    default="new",
    help="A connection for each request, or one for all.  [new]",
)
@click.option("--requests", type=click.IntRange(1, 10_000), default=20, metavar="N", help="Requests of a trial.  [20]")
@click.option("--reply", metavar="SIZE", help="What our server answers a tested client with.  [0 B]")
@fail_if_options
@export_options
@clock_option
@click.option(
    "--budget", type=DurationType("min"), metavar="DURATION", help="Stop after about this long, such as 2min."
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Folder for all results.  [results/test]",
)
def command(  # noqa: PLR0913, PLR0917 (one parameter for each option)
    program: str | None,
    against: str | None,
    margin: float,
    client: str | None,
    get: str | None,
    post: str | None,
    put: str | None,
    delete: str | None,
    topic: str | None,
    body: Path | None,
    headers: tuple[str, ...],
    protocols: str | None,
    links: str,
    connection: str,
    requests: int,
    reply: str | None,
    fail_if: tuple[str, ...],
    markdown: Path | None,
    junit: Path | None,
    keep: Path | None,
    clock: str | None,
    budget: int | None,
    out: Path | None,
    *,
    fail_if_inconclusive: bool,
) -> int:
    """Start PROGRAM as a server, send requests to it over each link by each protocol, and say how long they took.
    With --topic it is a broker, and messages are published to it.

    PROGRAM is a command with {port} where it takes its port, such as 'python3 app.py --port {port}'. It runs in this
    folder, and must listen on every address or on {address}. With --client our server answers, and a client that is
    started for each request gets {url}; its exit code says whether it was answered. With --against what differs from
    another program, or from an earlier test, is printed. Exits with 1 if no request of a scenario completed, with 4 if
    a condition of --fail-if is true or PROGRAM is worse, and with 5 if it differs otherwise. The folder of the results
    has the experiment, from which one of your own can start.
    """
    from wirelab.cli.arguments import load
    from wirelab.cli.precheck import budget_jobs, within_budget
    from wirelab.experiment import own_program
    from wirelab.limits import require_limits
    from wirelab.plan import make_plan
    from wirelab.report.changes import compared as words_of
    from wirelab.runner.start import planned_jobs, require_clock
    from wirelab.schema.archive import is_archive

    require_limits(starts=True)
    exports = Exports(markdown, junit, keep)
    exports.require_names()
    if (program is None) == (client is None):
        what = "no program" if program is None else "a server and a client, and one is tested at a time"
        raise WirelabError(what, hint="wirelab test 'python3 app.py --port {port}' --get /")
    _require_text({"PROGRAM": program, "--client": client, "--against": against, "--topic": topic,
                   "--get": get, "--post": post, "--put": put, "--delete": delete,
                   "--header": "\n".join(headers)})  # fmt: skip
    asked = _asked(get, post, put, delete)
    if topic is not None and (asked or headers or reply is not None):
        other = "--reply" if reply is not None else "--header" if headers else f"--{next(iter(asked)).lower()}"
        raise WirelabError(f"excludes {other}", "--topic", f"leave out {other}, or --topic")
    _refuse_unused(client, reply, connection, (program if client is None else client, against))
    kept = against is not None and is_archive(Path(against))
    if kept and not Path(str(against)).is_file():
        raise WirelabError(f"no such file ({against})", "--against", f"--keep {against} writes it")
    spoken = _protocols(protocols, topics=topic is not None, of_server=client is None)
    tested = own_program.OwnProgram(
        role="server" if client is None else "client",
        program=(program if client is None else client) or "",
        protocols=tuple(each.name for each in spoken),
        over_udp=spoken[0].transport == "udp",
        links=_each(links, "--link"),
        own_links=own_program.links_of(_each(links, "--link"), Path.cwd()),
        asked=_request(asked, body, headers) if topic is None else _message(topic, body),
        connection=connection,
        exchanges=requests,
        download="0 B" if reply is None else reply,
        before=None if kept else against,
        certified=any(each.secure and each.setting("certificate-key") is not None for each in spoken),
        schemes=tuple(each.name for each in spoken if each.success != HTTP),
    )
    words = own_program.words_of(tested, Path.cwd())
    folder = out if out is not None else RESULTS / "test"
    texts = own_program.experiment_text(tested), own_program.implementation_text(tested, words, Path.cwd())
    with ExitStack() as stack:
        with _written(folder, *texts) as file:
            loaded = load(str(file), with_clock(clock))
            require_clock(loaded.clock)
            loaded = with_failures(loaded, fail_if)
            if tested.before is not None:
                loaded = _judging_the_new_one(loaded, tested.role)
            plan = make_plan(loaded)
            if budget is not None:
                plan = within_budget(plan, loaded, budget, budget_jobs(plan, planned_jobs(plan).number))
            pairing_with = stack.enter_context(_other_side(against, tested, plan))
        campaign = _measured(loaded, plan, folder)
        changes = None if pairing_with is None else pairing_with(campaign.folder, margin)
    compared = None if changes is None else words_of(changes)
    exports.write(campaign, compared)
    _tell(campaign, folder, compared)
    if campaign.failed or _without_any(campaign):
        return 1
    code = exit_code(campaign.estimates, inconclusive_fails=fail_if_inconclusive)
    if changes is None or compared is None or code == MISSED:
        return code
    return compare.exit_code(changes, compared, inconclusive_fails=fail_if_inconclusive) or code


def _asked(*paths: str | None) -> dict[str, str]:
    """The path by its method, of which there is one at most."""
    asked = {name.upper(): path for name, path in zip(METHODS, paths, strict=True) if path is not None}
    if len(asked) > 1:
        raise WirelabError(f"{' and '.join(asked)}, and one is tested at a time", hint="leave one of them out")
    return asked


def _require_text(given: Mapping[str, str | None]) -> None:
    """Raises `WirelabError` for what no file can have: bytes that are no text."""
    for option, text in given.items():
        if text is not None and any(0xD800 <= ord(letter) < 0xE000 for letter in text):
            raise WirelabError("is not UTF-8", option, "write it in UTF-8")


def _refuse_unused(
    client: str | None, reply: str | None, connection: str, programs: tuple[str | None, str | None]
) -> None:
    """Options that would change nothing."""
    if reply is not None and client is None:
        raise WirelabError("is what our server answers a tested client with", "--reply", "leave it out, or --client")
    if client is not None and connection != "new":
        raise WirelabError("a tested client is started for each request", "--connection", "leave it out")
    if programs[1] is not None and programs[0] == programs[1]:
        raise WirelabError("is the tested program itself", "--against", "name another one, or what --keep wrote")


def _judging_the_new_one(loaded: Experiment, role: str) -> Experiment:
    """Conditions are for the tested program: it may keep what the other one misses."""
    from wirelab.experiment.own_program import NAME

    mine = {f"{role}.implementation": NAME}
    return replace(
        loaded, expect=tuple(each.model_copy(update={"where": {**each.where, **mine}}) for each in loaded.expect)
    )


@contextmanager
def _other_side(
    against: str | None, tested: OwnProgram, plan: Plan
) -> Iterator[Callable[[Path, float], Changes] | None]:
    """What compares the campaign that is run now: with an earlier one, or its two sides. None if nothing is to be
    compared. Raises `WirelabError` before anything is run if the earlier one is of something else.
    """
    from wirelab.answer.compare.kept import opened
    from wirelab.answer.compare.pairing import within
    from wirelab.answer.compare.record import Campaign as Side
    from wirelab.answer.compare.record import changes

    if against is None:
        yield None
    elif tested.before is not None:
        pairing = within(plan, f"{tested.role}.implementation")

        def sides(folder: Path, margin: float) -> Changes:
            both = Side.read(folder)
            return changes(both, both, pairing, margin)

        yield sides
    else:
        with opened(Path(against)) as kept:
            old = Side.read(kept)
            found = _as_tested(against, old.plan, plan)

            def earlier(folder: Path, margin: float) -> Changes:
                return changes(old, Side.read(folder), found, margin)

            yield earlier


def _as_tested(against: str, old: Plan, plan: Plan) -> Pairing:
    """The scenarios of the earlier test, each with the new one. Raises `WirelabError` if it had another clock or
    headline metric, or asked something else.
    """
    from wirelab.answer.compare.pairing import between
    from wirelab.answer.compare.record import require_alike

    anew = f"or keep it anew: --keep {against}"
    if old.clock is not plan.clock:
        what = f"{against} was tested with --clock {old.clock.value}, and this is --clock {plan.clock.value}"
        raise WirelabError(what, "--against", f"test with --clock {old.clock.value}, {anew}")
    try:
        require_alike(old, plan, (Path(against), Path("this test")))
        return between(old, plan)
    except WirelabError as error:
        raise WirelabError(error.what, "--against", f"test what was tested then, {anew}") from None


def _measured(loaded: Experiment, plan: Plan, folder: Path) -> Campaign:
    """The campaign of a test. The program may have changed: its earlier trials say nothing of it, and would pile up."""
    from rich.console import Console

    from wirelab.cli.run import How, run_campaign
    from wirelab.report.campaign import load
    from wirelab.runner.last import remove_last

    remove_last(folder / OF_A_TEST, plan)
    run_campaign(
        loaded, plan, folder / OF_A_TEST, How(fresh=True, closed_loop=False), Console(stderr=True, highlight=False)
    )
    return load(folder / OF_A_TEST, folder / OF_A_TEST)


def _each(text: str, option: str) -> tuple[str, ...]:
    found = tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
    if not found:
        raise WirelabError("names nothing", option)
    return found


def _protocols(text: str | None, *, topics: bool, of_server: bool) -> list[ProtocolDescription]:
    """Those that have topics, or methods and paths. A tested server listens on one port, over TCP or UDP."""
    from wirelab.errors import did_you_mean
    from wirelab.schema import registered

    known = {each.name: each for each in registered().protocols}
    able = {name: each for name, each in known.items() if (each.topics if topics else each.success) is not None}
    lacks = "has no topics" if topics else "has no methods and paths"
    found = [*able][:1] if text is None else _each(text, "--protocol")
    for name in found:
        if name not in known:
            raise WirelabError(f"unknown protocol ({name})", "--protocol", did_you_mean(name, able))
        if name not in able:
            publishes = not topics and known[name].topics is not None
            hint = "--topic TOPIC publishes to a topic or an address" if publishes else f"one of {', '.join(able)}"
            raise WirelabError(f"{name} {lacks}", "--protocol", hint)
    if of_server and len({able[name].transport for name in found}) > 1:
        raise WirelabError("protocols over TCP and over UDP are tested apart", "--protocol", "call it once for each")
    return [able[name] for name in found]


def _request(asked: dict[str, str], body: Path | None, headers: tuple[str, ...]) -> dict[str, object]:
    """The request as a table of an experiment."""
    from wirelab.experiment.file.request import read_path
    from wirelab.units import UnitError

    [(method, path)] = asked.items() or {"": "/"}.items()
    try:
        found: dict[str, object] = {**({"method": method} if method else {}), "path": read_path(path)}
    except UnitError as error:
        raise WirelabError(f"{error} ({path})", f"--{method.lower()}", error.hint) from None
    fields = {}
    for text in headers:
        name, sign, value = text.partition(":")
        if not sign or not name.strip():
            raise WirelabError(f"not NAME: VALUE ({text})", Where("--header"), "such as --header 'accept: text/plain'")
        fields[name.strip()] = value.strip()
    if fields:
        found["headers"] = fields
    if body is not None:
        found["body"] = str(body.resolve())
    return found


def _message(topic: str, body: Path | None) -> dict[str, object]:
    """The message as a table of an experiment."""
    from wirelab.experiment.file.request import read_topic
    from wirelab.units import UnitError

    try:
        found: dict[str, object] = {"topic": read_topic(topic)}
    except UnitError as error:
        raise WirelabError(f"{error} ({topic})", "--topic", error.hint) from None
    return found if body is None else {**found, "body": str(body.resolve())}


@contextmanager
def _written(folder: Path, experiment: str, implementation: str) -> Iterator[Path]:
    """The experiment's file, with the other next to it, in the folder of the results. What is wrong with a key of it is
    said of the option that gave the key, and a refusal leaves the folder as it was.
    """
    from wirelab.experiment.programs.implementations import CATALOGUE
    from wirelab.report.page import write_text

    texts = {folder / CATALOGUE: implementation, folder / EXPERIMENT: experiment}
    made = [each for each in (folder, *folder.parents) if not each.exists()]
    before = {file: file.read_bytes() for file in texts if file.exists()}
    try:
        for file, text in texts.items():
            write_text(file, text)
        yield folder / EXPERIMENT
    except BaseException as error:
        for file in texts:
            if file in before:
                file.write_bytes(before[file])
            else:
                file.unlink(missing_ok=True)
        for each in made:
            if each.exists():
                each.rmdir()
        if isinstance(error, WirelabError):
            raise _of_options(error, folder) from None
        raise


def _of_options(error: WirelabError, folder: Path) -> WirelabError:
    """The same of the options that gave the keys of the written files."""
    if isinstance(error, CombinedError):
        return CombinedError(_of_options(each, folder) for each in error.errors)
    where = error.where
    if not isinstance(where, Where) or Path(where.source).parent != folder:
        return error
    key = where.key or ""
    option = next((option for start, option in OPTIONS.items() if key.startswith(start)), None)
    return WirelabError(error.what, option or key or "PROGRAM", error.hint)


def _without_any(campaign: Campaign) -> list[AnalysedScenario]:
    """The scenarios of which no request completed."""
    return [each for each in campaign.estimates["scenarios"] if not each["denominators"]["completed"]]


def _reasons(campaign: Campaign, without: Sequence[AnalysedScenario]) -> Iterator[str]:
    """Why no request of a scenario completed. What a program printed stood there while the test ran."""
    from wirelab.report.sections.outcomes import commonest_errors

    errors = commonest_errors(campaign)
    for scenario in without:
        key = scenario["key"]
        why = campaign.unsupported.get(key) or errors.get(key, (None, 0))[0]
        why = why or next((each.error for each in campaign.journal.values() if each.scenario == key), None) or ""
        first, *_ = why.splitlines() or [""]
        yield f"No request completed: {scenario['name']}{f' ({first})' * bool(first)}"
        request = getattr(campaign.plan.scenario(key).workload, "request", None)
        if request is not None and first in {"status 404", "status 4.04"}:
            yield f"hint: this was {request.method} {request.target}; --get and its like name another path"


def _tell(campaign: Campaign, folder: Path, compared: Compared | None) -> None:
    from wirelab.answer.compare.record import NO_CPU
    from wirelab.cli import summary
    from wirelab.experiment.own_program import NAME

    without = _without_any(campaign)
    if len(without) < len(campaign.estimates["scenarios"]):
        click.echo(summary.link_line(campaign))
        for table in summary.tables(campaign):
            click.echo(f"\n{table}")
        click.echo("")
    for line in (*_reasons(campaign, without), *expectation_lines(campaign.estimates)):
        click.echo(line)
    if compared is not None:
        click.echo("\n".join([*compare.lines(compared), ""]))
    if any(each.implementation.client == NAME for each in campaign.plan.scenarios):
        click.echo("Delays include the start of the client's process, which is started for each request.")
    if campaign.plan.clock.value == "virtual" and compared is None and len(without) < len(campaign.plan.scenarios):
        click.echo(NO_CPU)
    click.echo(f"Report  {folder / OF_A_TEST / 'report.html'}")
    click.echo(f"Files   {folder / EXPERIMENT}, from which an experiment of your own can start")
