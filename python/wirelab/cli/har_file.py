"""`wirelab show … --har FILE`: what an archive needs of a campaign, and its file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from wirelab.errors import RunError, Where
from wirelab.launcher import launched
from wirelab.schema.campaign import RESULT, TRIALS, read_result

if TYPE_CHECKING:
    import polars as pl

    from wirelab.schema.plan import Plan


def write_archive(campaign: Path, plan: Plan, trial: str, loads: pl.DataFrame, file: Path) -> None:
    """Write these loads of a trial; `-` is stdout."""
    import polars as pl

    from wirelab.cli.har import Server, har
    from wirelab.metrics.resource_timings import RESOURCES
    from wirelab.metrics.tables import read_table
    from wirelab.runner.endpoints import SERVER_NAME

    if loads.is_empty():
        raise RunError(f"{campaign} has no load of {trial}", hint=f"its trials are in {campaign / TRIALS}")
    scenario = plan.scenario_of(trial)
    assert scenario is not None, "a trial with exchanges is planned"
    if scenario.workload.kind != "page":
        what = f"{trial} loads no page, and an archive is of pages ({scenario.workload.kind})"
        raise RunError(what, hint="--scenario or --protocol chooses another")
    if not (campaign / RESOURCES).exists():
        raise RunError(f"{campaign} has no {RESOURCES}", hint=launched(f"measure {campaign}"))
    protocol = plan.known.protocol(scenario.protocol)
    assert protocol is not None, "the plan describes what is not built in"
    result = read_result(campaign / TRIALS / trial / RESULT)
    shift_ns = result.start_realtime_ns - result.start_ns
    resources = read_table(campaign / RESOURCES).filter(pl.col("trial") == trial)
    archive = har(scenario, Server.of(protocol, SERVER_NAME), loads.to_dicts(), resources.to_dicts(), shift_ns)
    text = json.dumps(archive, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    if str(file) == "-":
        click.echo(text, nl=False)
        return
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise RunError(f"cannot be written: {error.strerror}", Where(str(file))) from None
    pages, entries = (len(archive["log"][what]) for what in ("pages", "entries"))
    click.echo(f"{pages} load{'s' * (pages != 1)}, {entries} resource{'s' * (entries != 1)}: {file}", err=True)
