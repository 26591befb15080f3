"""`wirelab check FILE`."""

from __future__ import annotations

from pathlib import Path

import click

from wirelab.cli.arguments import (
    experiment_argument,
    experiment_clock_option,
    link_option,
    load,
    set_option,
    site_option,
    with_clock,
    with_page,
)
from wirelab.cli.precheck import precheck


@click.command(short_help="Check an experiment file; start nothing.")
@experiment_argument
@set_option
@site_option
@link_option
@experiment_clock_option
def command(experiment: str, sets: tuple[str, ...], site: Path | None, link: str | None, clock: str | None) -> None:
    """Check an experiment file; start nothing.

    FILE is a path, or the name of a shipped experiment. Prints every error with its place, and which scenarios cannot
    run on this machine and why. Exits with 2 if there are any.
    """
    from wirelab.plan import make_plan
    from wirelab.runner.start import planned_jobs
    from wirelab.site import count

    checked = load(experiment, (*with_page(sets, site, link), *with_clock(clock)))
    whole = make_plan(checked)
    plan, fails = precheck(whole, checked, planned_jobs(whole).number)
    scenarios, trials = count(len(plan.scenarios), "scenario"), count(plan.trials, "trial")
    click.echo(f"{checked.file}: {'cannot all be run here' if fails else 'ok'}, {scenarios}, up to {trials}")
    if fails:
        click.get_current_context().exit(2)
