"""Arguments and options that several verbs share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wirelab.errors import Where, WirelabError, did_you_mean
from wirelab.launcher import launched
from wirelab.toml import inline
from wirelab.units import UnitError, duration_ns

if TYPE_CHECKING:
    from wirelab.experiment.experiment import Experiment
    from wirelab.experiment.file.model import ExperimentFile
    from wirelab.experiment.file.source import Source


PAGE = "workload.page"


class QuantityType(click.ParamType[Any]):
    """A quantity with its unit, in the unit of `read`."""

    def __init__(self, name: str, read: Callable[[object], float], *, may_be_0: bool = False) -> None:
        self.name = name
        self._read = read
        self._may_be_0 = may_be_0

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read `3.7 V`."""
        if not isinstance(value, str):
            return value
        try:
            read = self._read(value)
        except UnitError as error:
            self.fail(f"{value} {error}" + (f" ({error.hint})" if error.hint else ""), param, ctx)
        if read == 0 and not self._may_be_0:
            self.fail("must be more than 0", param, ctx)
        return read


class DurationType(QuantityType):
    """A duration with its unit, as nanoseconds; `example` is the unit that a hint writes."""

    def __init__(self, example: str = "ms") -> None:
        super().__init__("duration", partial(duration_ns, example=example))


experiment_argument = click.argument("experiment", metavar="FILE")
set_option = click.option(
    "--set",
    "sets",
    multiple=True,
    metavar="PATH=VALUE[,VALUE...]",
    help="Change a value; several values make a factor. May be repeated.",
)
site_option = click.option(
    "--site",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    metavar="DIR",
    help="Load the page of this folder: short for --set of workload.page.",
)
link_option = click.option("--link", metavar="NAME", help="Run over this link alone: short for --set link=NAME.")
budget_option = click.option(
    "--budget",
    type=DurationType("min"),
    metavar="DURATION",
    help="Stop after about this long, such as 2min. If the full experiment does not fit, run a smaller one, marked as "
    "a quick run.",
)


backend_option = click.option(
    "--backend",
    type=click.Choice(["wirelab", "netem"]),
    help="What runs the link: Wirelab's own emulator, or the kernel's netem.  [as the link says, or wirelab]",
)


def with_page(sets: Sequence[str], site: Path | None, link: str | None) -> tuple[str, ...]:
    """What is set, with the page of a folder and a link by their own options; refuses what is said twice."""
    paths = [text.partition("=")[0].strip() for text in sets]
    options = {"--site": (site, (PAGE, f"{PAGE}.site")), "--link": (link, ("link",))}
    for option, (given, means) in options.items():
        if given is not None and (twice := next((path for path in paths if path in means), None)):
            raise WirelabError(f"{option} and --set {twice} exclude each other", hint="leave one of them out")
    page = [] if site is None else [f"{PAGE}={site_table(site)}"]
    return (*sets, *page, *([] if link is None else [f"link={link}"]))


def site_table(site: Path) -> str:
    """A folder as the page of an experiment, with the home folder as a plan may tell others."""
    path, home = site.resolve(), Path.home()
    written = f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)
    return inline({"site": written})


def with_backend(sets: Sequence[str], backend: str | None) -> tuple[str, ...]:
    """What is set of a link, its backend last."""
    return (*sets, *([] if backend is None else [f"backend={backend}"]))


def load(file: str, sets: Sequence[str]) -> Experiment:
    """The experiment of a file or shipped name, with its metric and its claims checked."""
    from wirelab.experiment.experiment import load_experiment
    from wirelab.link_facts import asking

    with asking() as ask:
        return load_experiment(file, sets, ask, check=_metric_and_claims)


def _metric_and_claims(source: Source, file: ExperimentFile) -> Iterator[WirelabError]:
    from wirelab.metrics.described import exchange_metrics

    names = exchange_metrics()
    if file.metric not in names:
        what = f'unknown metric ("{file.metric}")'
        yield WirelabError(what, source.where(("metric",)), did_you_mean(file.metric, names))
    yield from _energy(source, file)
    if file.claims is not None and (claims := source.folder / file.claims).is_file():
        from wirelab.claims.load import load as load_claims

        try:
            known = load_claims(claims)
        except WirelabError as error:
            yield error
            return
        for path in source.sets:
            if (path == PAGE or path.startswith(f"{PAGE}.")) and path not in known.file.grid:
                what = f"the claims of {known.file.paper} are about its own pages, and are not judged on another"
                other = launched("run page --site DIR")
                yield WirelabError(what, Where("--set", key=path), f"another page, without claims: {other}")


def _energy(source: Source, file: ExperimentFile) -> Iterator[WirelabError]:
    """Whether there is such a radio with such inputs, and such a device; and a radio for a metric that needs one."""
    from wirelab.metrics.described import energies
    from wirelab.metrics.energy_names import BOUNDS, MESSAGE

    if file.energy is None:
        if file.metric in energies():
            what = f'no radio for the metric ("{file.metric}")'
            yield WirelabError(
                what, source.where(("metric",)), f'add: [energy] radio = "NAME" ({launched("list radios")})'
            )
        return
    from wirelab.metrics.energy_settings import Settings

    if file.metric in {f"{MESSAGE}{ending}" for ending in BOUNDS.values()} and not file.energy.measured_on_device:
        what = f'no CPU time of a device for the metric ("{file.metric}")'
        yield WirelabError(what, source.where(("metric",)), "on the device itself: [energy] measured-on-device = true")
    record, files = file.energy.record(), file.energy.files(source.folder)
    for key, later in (("radio", {"inputs": {}, "device": None}), ("inputs", {"device": None}), ("device", {})):
        try:
            Settings.of(record.model_copy(update=later), files)
        except WirelabError as error:
            yield WirelabError(error.what, _place_of_energy(source, key, error.where), error.hint)
            return


def _place_of_energy(source: Source, key: str, where: Where | str | None) -> Where | str:
    """Where a key of the energy's table was written, unless what is wrong stands in another file."""
    if isinstance(where, Where) and where.source != "--set":
        return where
    name = where.key if isinstance(where, Where) else None
    return source.where(("energy", key) if name is None else ("energy", key, name))
