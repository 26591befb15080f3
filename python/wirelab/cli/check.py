"""`wirelab check FILE`."""

from __future__ import annotations

import click

from wirelab.cli.arguments import experiment_argument, load, set_option, tell_of_programs


@click.command(short_help="Say whether an experiment file is right.")
@experiment_argument
@set_option
def command(experiment: str, sets: tuple[str, ...]) -> None:
    """Say whether an experiment file is right.

    FILE is a path, or the name of a shipped experiment. Everything wrong is printed with its place, and which scenarios
    would not run here, and why; nothing is started.
    """
    from wirelab.plan import make_plan

    checked = load(experiment, sets)
    plan = make_plan(checked)
    tell_of_programs(plan, checked)
    click.echo(f"{checked.file}: ok, {len(plan.scenarios)} scenarios, up to {plan.trials} trials")
