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
from wirelab.errors import Where, WirelabError
from wirelab.launcher import launched


@click.command(short_help="Check an experiment file; start nothing.")
@experiment_argument
@set_option
@site_option
@link_option
@experiment_clock_option
@click.option("--freeze", "frozen", is_flag=True, help="First write the digest of its claims and their choices.")
def command(  # noqa: PLR0913 (one parameter for each option)
    experiment: str, sets: tuple[str, ...], site: Path | None, link: str | None, clock: str | None, *, frozen: bool
) -> None:
    """Check an experiment file; start nothing.

    FILE is a path, or the name of a shipped experiment. Prints every error with its place, and which scenarios cannot
    run on this machine and why. Exits with 2 if there are any.

    With --freeze, the digest and the time are first written into the file of claims that FILE names. From then on a
    change to the claims or the choices is an error, unless it is marked with `after-the-fact` and a later time.
    """
    from wirelab.plan import make_plan
    from wirelab.runner.start import planned_jobs
    from wirelab.site import count

    if experiment.endswith(".claims.toml"):
        hint = f'check the experiment that names it: claims = "{Path(experiment).name}"'
        raise WirelabError("is a file of claims, and not an experiment", Where(experiment), hint)
    if frozen:
        _freeze(experiment)
    checked = load(experiment, (*with_page(sets, site, link), *with_clock(clock)))
    whole = make_plan(checked)
    plan, fails = precheck(whole, checked, planned_jobs(whole).number)
    scenarios, trials = count(len(plan.scenarios), "scenario"), count(plan.trials, "trial")
    click.echo(f"{checked.file}: {'cannot all be run here' if fails else 'ok'}, {scenarios}, up to {trials}")
    if fails:
        click.get_current_context().exit(2)


def _freeze(experiment: str) -> None:
    """Freeze the claims of a user's own experiment; those that ship are frozen already."""
    from wirelab.claims.freeze import claims_of, freeze, frozen_before
    from wirelab.experiment.library import experiment_names
    from wirelab.runner.facts import now

    if experiment in experiment_names():
        raise WirelabError("--freeze needs an experiment file of your own", hint=launched("new FILE --from NAME"))
    claims = claims_of(Path(experiment))
    before = frozen_before(claims)
    digest = freeze(claims, now())
    again = before is not None and before.digest != digest
    more = f"; what was frozen at {before.at:%Y-%m-%dT%H:%M:%SZ} is replaced" if again and before else ""
    click.echo(f"{claims}: frozen, sha256 {digest[:16]}...{more}")
