"""Arguments and options that several verbs share."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from wirelab.claims.check import PAGE
from wirelab.errors import CombinedError, Where, WirelabError
from wirelab.launcher import launched
from wirelab.statistic import read_statistic
from wirelab.toml import inline
from wirelab.units import UnitError, charge_mah, duration_ns, voltage_v

if TYPE_CHECKING:
    from wirelab.experiment.experiment import Experiment
    from wirelab.schema.plan import EnergyRecord

Command = TypeVar("Command", bound=Callable[..., Any])


_NUMBER = re.compile(r"\s*(?:-.*|\+?[\d.]+)\s*")
EXAMPLES = {"--protocols": "coap,http1", "--link": "'20 ms'", "--loss": "'1 %'", "--send": "30B"}
"""Of the options that describe a single message."""


class QuantityType(click.ParamType[Any]):
    """A quantity with its unit, in the unit of `read`. 0 is the same in each unit, where it may be 0."""

    def __init__(self, name: str, read: Callable[[object], float], *, may_be_0: bool = False) -> None:
        self.name = name
        self._read = read
        self._may_be_0 = may_be_0

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read `3.7 V`."""
        if not isinstance(value, str):
            return value
        if self._may_be_0 and value.strip() == "0":
            return 0
        try:
            read = self._read(value)
        except UnitError as error:
            shown = value if value.strip() else f"'{value}'"
            self.fail(f"{shown} {error}" + (f" ({error.hint})" if error.hint else ""), param, ctx)
        if read == 0 and not self._may_be_0:
            self.fail("must be more than 0", param, ctx)
        return read


class DurationType(QuantityType):
    """A duration with its unit, as nanoseconds; `example` is the unit that a hint writes."""

    def __init__(self, example: str = "ms") -> None:
        super().__init__("duration", partial(duration_ns, example=example))


class StatisticType(click.ParamType[Any]):
    """A statistic that ranks protocols."""

    name = "statistic"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read `p95`."""
        try:
            return read_statistic(value)
        except UnitError as error:
            self.fail(f"{value} {error} ({error.hint})", param, ctx)


experiment_argument = click.argument("experiment", metavar="FILE")
set_option = click.option(
    "--set",
    "sets",
    multiple=True,
    metavar="PATH=VALUE[,VALUE...]",
    help="Change a value of the experiment. With several values, each is run. May be repeated.",
)
site_option = click.option(
    "--site",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    metavar="DIR",
    help="Load the web page of this folder. Short for --set workload.page=...",
)
link_option = click.option("--link", metavar="NAME", help="Run over this link only. Short for --set link=NAME.")
budget_option = click.option(
    "--budget",
    type=DurationType("min"),
    metavar="DURATION",
    help="Stop after about this long, such as 2min. If the full experiment does not fit, run a smaller one, marked as "
    "a quick run.",
)


by_option = click.option(
    "--by",
    type=StatisticType(),
    metavar="STATISTIC",
    help="Rank protocols by the median, the mean, or a percentile such as p95, instead of the experiment's statistic.",
)


backend_option = click.option(
    "--backend",
    type=click.Choice(["wirelab", "netem"]),
    help="What runs the link: Wirelab's own emulator, or the kernel's netem.  [as the link says, or wirelab]",
)


def _clock(default: str) -> Callable[[Command], Command]:
    return click.option(
        "--clock",
        type=click.Choice(["live", "virtual"]),
        help=f"What measures time: this machine's clock, or one that jumps over idle time.  [{default}]",
    )


clock_option = _clock("live")
experiment_clock_option = _clock("as the experiment says, or live")
"""Of commands that take an experiment, which may set its clock itself."""


class Short(str):
    """An assignment of --set that another option is short for: errors name that option."""

    __slots__ = ("option",)
    option: str

    def __new__(cls, option: str, path: str, value: str) -> Short:
        """`path` is set to `value` by this option."""
        text = super().__new__(cls, f"{path}={value}")
        text.option = option
        return text


def with_clock(clock: str | None) -> tuple[str, ...]:
    """The assignment that --clock stands for."""
    return () if clock is None else (Short("--clock", "clock", clock),)


def with_page(sets: Sequence[str], site: Path | None, link: str | None) -> tuple[str, ...]:
    """The assignments, including those of --site and --link; refuses a key that is set twice."""
    paths = [_path(text) for text in sets]
    options = {"--site": (site, (PAGE, f"{PAGE}.site")), "--link": (link, ("link",))}
    for option, (given, means) in options.items():
        if given is not None and (twice := next((path for path in paths if path in means), None)):
            raise WirelabError(f"{option} and --set {twice} exclude each other", hint="remove one of them")
    page = [] if site is None else [Short("--site", PAGE, site_table(site))]
    return (*sets, *page, *([] if link is None else [Short("--link", "link", link)]))


def with_statistic(sets: Sequence[str], by: str | None) -> tuple[str, ...]:
    """The assignments, including that of --by; refuses a statistic that is set twice."""
    if by is None:
        return tuple(sets)
    return _with_short(sets, Short("--by", "statistic", by))


def site_table(site: Path) -> str:
    """A folder as the page of an experiment, with the home folder as `~`."""
    path, home = site.resolve(), Path.home()
    written = f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)
    return inline({"site": written})


def with_backend(sets: Sequence[str], backend: str | None) -> tuple[str, ...]:
    """The assignments of a link, its backend last."""
    return (*sets, *([] if backend is None else [Short("--backend", "backend", backend)]))


def message_sets(
    sets: Sequence[str], *, protocols: str | None = None, link: str | None, loss: str | None = None, send: str | None
) -> tuple[str, ...]:
    """The assignments, including those that --protocols, --link, --loss and --send of a single message stand for;
    refuses a key that is set twice.
    """
    options = (
        ("--protocols", "protocol", protocols), ("--link", "link" if link is None else _link_path(link), link),
        ("--loss", "link.loss", loss), ("--send", "workload.message", send),
    )  # fmt: skip
    found = tuple(sets)
    for option, path, value in options:
        if value is not None and not value.strip():
            raise WirelabError(f"names nothing ('{value}')", option, f"such as {option} {EXAMPLES[option]}")
        found = found if value is None else _with_short(found, Short(option, path, value))
    return found


def _link_path(link: str) -> str:
    """What a link's option sets. Raises `WirelabError` for a number that is no round trip and no link's name."""
    try:
        duration_ns(link, example="ms")
    except UnitError as error:
        if _NUMBER.fullmatch(link):
            raise WirelabError(f"'{link}' {error}", "--link", error.hint) from None
        return "link"
    return "link.rtt"


def _with_short(sets: Sequence[str], short: Short) -> tuple[str, ...]:
    """The assignments with one more. Raises `WirelabError` if --set has the same path."""
    if (path := _path(short)) in map(_path, sets):
        raise WirelabError(f"{short.option} and --set {path} exclude each other", hint="remove one of them")
    return (*sets, short)


def _path(text: str) -> str:
    return text.partition("=")[0].strip()


def load(file: str, sets: Sequence[str]) -> Experiment:
    """The experiment of a file or shipped name, with its metric and its claims checked."""
    from wirelab.claims.check import metric_and_claims
    from wirelab.experiment.experiment import load_experiment
    from wirelab.link_facts import asking

    with asking() as ask, named_as_typed(sets):
        return load_experiment(file, sets, ask, check=metric_and_claims)


@contextmanager
def named_as_typed(sets: Sequence[str]) -> Iterator[None]:
    """Errors inside that name --set name the option that was typed, if it is short for the assignment."""
    shorts = {_path(text): text.option for text in sets if isinstance(text, Short)}
    own = {_path(text) for text in sets if not isinstance(text, Short)}
    try:
        yield
    except WirelabError as error:
        for each in error.errors if isinstance(error, CombinedError) else (error,):
            if isinstance(each.where, Where) and each.where.source == "--set":
                each.where = _typed(each.where, shorts, own)
        raise


def _typed(where: Where, shorts: Mapping[str, str], own: Collection[str]) -> Where:
    """The option's place. Of a table that several assignments began, --set is named if it is one of them."""
    key = where.key or ""
    began = not any(path.startswith(f"{key}.") for path in own)
    for path, option in shorts.items():
        if key == path or (began and path.startswith(f"{key}.")):
            return Where(option)
        if key.startswith(f"{path}."):
            return Where(option, key=key.removeprefix(f"{path}."))
    return where


def load_source(source: str, sets: Sequence[str]) -> Experiment:
    """The experiment of a file or shipped name, or that of a campaign's folder with the assignments that it was run
    with, unless they are given anew.
    """
    if not Path(source).is_dir():
        return load(source, sets)
    from wirelab.cli.campaigns import existing
    from wirelab.experiment import library
    from wirelab.schema.campaign import read_plan

    campaign = existing(Path(source))
    plan = read_plan(campaign)
    record = plan.experiment
    kept = {key: f"{key}={', '.join(map(_written, levels))}" for key, levels in record.sets.items()}
    written = next((each for each in (campaign.parent / record.file, Path(record.file)) if each.is_file()), None)
    file = record.name if written is None else str(written)
    if written is None and record.name not in library.experiment_names():
        what = f"{source} was made from {record.file}, which is neither here nor next to the campaign"
        raise WirelabError(what, hint=f"call it from the folder of {record.file}")
    known = {scenario.digest() for scenario in load(file, [*kept.values()]).scenarios}
    if lost := [scenario.name for scenario in plan.scenarios if scenario.identity not in known]:
        what = f"{file} is not the experiment of {campaign}: it has no scenario like '{lost[0]}'"
        raise WirelabError(what, hint=f"name the file of the experiment, which is called {record.file}")
    own = {*map(_path, sets)}
    return load(file, [*(text for key, text in kept.items() if key not in own), *sets])


def _written(level: Any) -> str:
    """A level as --set reads it."""
    return level if isinstance(level, str) else inline(level)


VOLTAGE = QuantityType("voltage", voltage_v)


def radio_options(interval: str, needs: str) -> Callable[[Command], Command]:
    """The options `radio`, `device`, `interval`, `battery` and `voltage`. `interval` says what that option is for, and
    `needs` which options `battery` takes.
    """
    options = (
        click.option("--radio", metavar="NAME", help="A radio that `list radios` names, or a file of your own."),
        click.option("--device", metavar="NAME", help="The device around it, which sleeps between messages."),
        click.option("--interval", type=DurationType("min"), metavar="DURATION", help=interval),
        click.option(
            "--battery",
            type=QuantityType("charge", charge_mah),
            metavar="CHARGE",
            help=f"Say how long a battery of this capacity lasts, such as '2400 mAh'; takes {needs}.",
        ),
        click.option("--voltage", type=VOLTAGE, metavar="VOLTAGE", help="Mean voltage of the battery, or of a trace."),
    )

    def decorated(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorated


def energy_record(  # noqa: PLR0913, PLR0917 (one parameter for each option)
    radio: str,
    sets: Iterable[str],
    device: str | None,
    battery_mah: float | None,
    voltage: float | None,
    measured: str | None = None,
) -> EnergyRecord:
    """What the options say; `measured` is the one, if any, that says that CPU time was measured on the device. Raises
    `WirelabError` for a battery or CPU time without what it needs, or a voltage of none.
    """
    if measured is not None and device is None:
        hint = f"--device raspberry-pi-3 ({launched('list devices')})"
        raise WirelabError("CPU time takes the power of a device, and none is named", measured, hint)
    if voltage is not None and battery_mah is None:
        raise WirelabError("no battery of this voltage", "--voltage", "--battery '2400 mAh'")
    if battery_mah is not None and voltage is None:
        raise WirelabError("a battery's life needs --voltage", "--battery", "--voltage '3.7 V'")
    from wirelab.schema.plan import EnergyRecord

    inputs: dict[str, str | int | float] = {}
    for text in sets:
        name, sign, value = text.partition("=")
        if not sign or not name.strip() or not value.strip():
            raise WirelabError(f"not INPUT=VALUE ({text})", Where("--set"), "such as --set inactivity=5s")
        inputs[name.strip()] = value.strip()
    return EnergyRecord(
        radio=radio, inputs=inputs, device=device, measured_on_device=measured is not None,
        battery_mah=battery_mah, battery_v=voltage,
    )  # fmt: skip
