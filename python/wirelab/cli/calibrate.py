"""`wirelab calibrate`: a link's calibration record, from its own probes."""

from __future__ import annotations

import json
import math
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from wirelab.cli.arguments import backend_option, named_as_typed, with_backend
from wirelab.errors import WirelabError
from wirelab.units import UnitError, duration_ns, format_duration

if TYPE_CHECKING:
    from collections.abc import Callable

    from wirelab.schema import HostFacts, LinkFacts, LinkSpec
    from wirelab.schema.probe import ProbePlan
    from wirelab.stats.link.certificate import Certificate

DEFAULT = "60s"
LEAST_NS = 10**9


def _duration(_ctx: click.Context, _param: click.Parameter, text: str) -> int:
    try:
        value = duration_ns(text, example="s")
    except UnitError as error:
        raise click.BadParameter(f"{text} {error}" + (f" ({error.hint})" if error.hint else "")) from None
    if value < LEAST_NS:
        raise click.BadParameter(f"{text} is less than 1 s")
    return value


@click.command("calibrate", short_help="Send probes over a link and compare it with its configuration.")
@click.argument("link")
@click.option("--set", "sets", multiple=True, metavar="KEY=VALUE", help="Change a value of the link. May be repeated.")
@click.option(
    "--time", "time_ns", callback=_duration, default=DEFAULT, show_default=True, metavar="DURATION",
    help="How long to send probes.",
)  # fmt: skip
@backend_option
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), help="Seed of everything random.  [another each time]")
@click.option(
    "--keep", type=click.Path(path_type=Path, file_okay=False), metavar="DIR", help="Keep the probes' records there."
)
@click.option("--json", "as_json", is_flag=True, help="Print the calibration record as JSON.")
def command(  # noqa: PLR0913, PLR0917 (one parameter for each option)
    link: str,
    sets: tuple[str, ...],
    time_ns: int,
    backend: str | None,
    seed: int | None,
    keep: Path | None,
    *,
    as_json: bool,
) -> int:
    """Measure a link with probes and compare it with its configuration, for each property and direction.

    LINK is a name of `wirelab list links`, the file of your own profile, a table such as '{ rtt = "50 ms" }', or clean.
    Every line is in tolerance, out of it, or says why the probes cannot decide. The exit code is 1 if the link is
    unusable, so that results measured over it would be wrong.
    """
    from wirelab.experiment.link.single import single_link
    from wirelab.link_facts import asking

    given = with_backend(sets, backend)
    with asking() as ask, named_as_typed(given):
        spec = single_link(link, given, ask, say=partial(click.echo, err=True))
        known = ask(spec)
    if keep is not None:
        if keep.exists() and any(keep.iterdir()):
            raise WirelabError("is not empty", str(keep), hint="choose another folder")
        keep.mkdir(parents=True, exist_ok=True)
    from wirelab.cli.terminate import terminated_as_interrupted

    with terminated_as_interrupted() as check:
        certificate, facts = _certified((spec, known), keep, seed, time_ns, check)
    if as_json:
        machine = facts.model_dump(mode="json")
        click.echo(
            json.dumps(
                {"link": link, "grade": certificate.grade, "lines": certificate.records(), "machine": machine},
                ensure_ascii=False,
            )
        )
    else:
        click.echo(_words(link, certificate, facts))
    return 1 if certificate.grade == "unusable" else 0


def _certified(
    known: tuple[LinkSpec, LinkFacts], keep: Path | None, seed: int | None, time_ns: int, check: Callable[[], None]
) -> tuple[Certificate, HostFacts]:
    from rich.console import Console

    from wirelab.agent import find_agent
    from wirelab.cli.progress import LiveLine
    from wirelab.metrics.probes import measure_probes, read_probes
    from wirelab.runner.probe_plan import doing
    from wirelab.runner.probes import probed_alone
    from wirelab.stats.link.certificate import certify
    from wirelab.stats.link.probes.checks import checks

    console = Console(stderr=True, highlight=False)

    def tell(plan: ProbePlan, at_ns: int) -> None:
        check()
        at_ns = min(max(at_ns, 0), plan.duration_ns)
        left_s = math.ceil((plan.duration_ns - at_ns) / 1e9)
        words = f"probing: {doing(plan, at_ns)}  about {format_duration(left_s * 1e9)} left"
        line.show(at_ns / plan.duration_ns, words, at_ns / 1e9)

    with LiveLine(console) as line, probed_alone(find_agent(), keep, *known, seed, time_ns, tell) as (folder, facts):
        line.show(1.0, "judging", float("inf"))
        measure_probes(folder)
        [certificate] = certify([checks(read_probes(folder), known[1])])
        return certificate, facts


def _words(link: str, certificate: Certificate, facts: HostFacts) -> str:
    from wirelab.cli.text import columns
    from wirelab.report.certificate import rows, summary

    machine = f"{facts.cpu}, {facts.cpus} CPUs, Linux {facts.kernel}, link scheduling {facts.link_scheduling}"
    head = f"{link}  {certificate.grade}: {summary(certificate.records())}"
    return f"{head}\n{machine}{', unprivileged' * facts.rootless}\n\n{columns(rows(certificate.records()))}"
