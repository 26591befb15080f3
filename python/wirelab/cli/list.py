"""`wirelab list [KIND]`."""

from __future__ import annotations

import re
import textwrap
import tomllib
from collections.abc import Callable
from pathlib import Path

import click

from wirelab.cli.describe import BUILTIN_TITLE
from wirelab.cli.text import columns
from wirelab.errors import WirelabError, did_you_mean

WIDTH = 90
Rows = list[tuple[str, str]]


@click.command(short_help="List experiments, links, protocols, metrics, …")
@click.argument("kind", required=False, metavar="[KIND]")
def command(kind: str | None) -> None:
    """List experiments, links, protocols, metrics, … by name.

    KIND is experiments, links, protocols, workloads, pages, impairments, metrics, radios, devices or implementations;
    without it, all are listed. Protocols and implementations include those of the implementations.toml in this folder.
    """
    if kind is None:
        click.echo("\n\n".join(f"{name}\n{_indented(rows())}" for name, rows in KINDS.items()))
        return
    if kind not in KINDS:
        raise WirelabError(f"unknown kind '{kind}'", hint=did_you_mean(kind, KINDS))
    click.echo(columns(KINDS[kind]()))


def _experiments() -> Rows:
    from wirelab.experiment.library import experiment_file, experiment_names

    titles = {name: tomllib.loads(experiment_file(name).read_text(encoding="utf-8")) for name in experiment_names()}
    return [(name, str(document["title"])) for name, document in titles.items()]


def _links() -> Rows:
    from wirelab.experiment.library import profiles

    return [(name, profile.title) for name, profile in profiles().items()]


def _protocols() -> Rows:
    from wirelab.experiment.programs.own_protocols import own_protocols
    from wirelab.schema import registered

    return [
        (protocol.name, protocol.title) for protocol in registered().with_protocols(own_protocols(Path.cwd())).protocols
    ]


def _workloads() -> Rows:
    from wirelab.experiment.file.workload import ABOUT

    return [(kind, _first(about.partition(":")[0].partition(";")[0])) for kind, about in ABOUT.items()]


def _pages() -> Rows:
    from wirelab.site import BUILTIN

    return [(name, page.about.rstrip(".")) for name, page in BUILTIN.items()]


def _impairments() -> Rows:
    from wirelab.schema import registered

    known = registered()
    return [(each.kind, _first(each.about)) for each in (*known.impairments, *known.shared)]


def _metrics() -> Rows:
    from wirelab.metrics.described import described

    return [(metric.name, _first(metric.about)) for metric in described()]


def _radios() -> Rows:
    from wirelab_energy import load_radio, radio_names

    radios = [load_radio(name) for name in radio_names()]
    return [(radio.name, radio.title + ("" if radio.validated else " (unvalidated)")) for radio in radios]


def _devices() -> Rows:
    from wirelab_energy import device_names, load_device

    devices = [load_device(name) for name in device_names()]
    return [(device.name, device.title + ("" if device.validated else " (unvalidated)")) for device in devices]


def _implementations() -> Rows:
    from wirelab.experiment.library import BUILTIN, implementations

    foreign = [(name, _first(program.about or program.title)) for name, program in implementations(Path.cwd()).items()]
    return [(BUILTIN, BUILTIN_TITLE), *foreign]


KINDS: dict[str, Callable[[], Rows]] = {
    "experiments": _experiments,
    "links": _links,
    "protocols": _protocols,
    "workloads": _workloads,
    "pages": _pages,
    "impairments": _impairments,
    "metrics": _metrics,
    "radios": _radios,
    "devices": _devices,
    "implementations": _implementations,
}


def _first(about: str) -> str:
    """The first sentence of a paragraph, on one line."""
    return textwrap.shorten(re.split(r"\. ", about)[0].rstrip("."), WIDTH, placeholder=" …")


def _indented(rows: Rows) -> str:
    return "\n".join(f"  {line}" for line in columns(rows).splitlines())
