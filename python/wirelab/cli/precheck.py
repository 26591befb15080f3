"""Warnings before a run: scenarios that cannot run, page references that are not loaded, time-outs to expect."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

import click

from wirelab.errors import WirelabError
from wirelab.units import format_duration

if TYPE_CHECKING:
    from wirelab.experiment.experiment import Experiment
    from wirelab.schema import WorkloadSpec
    from wirelab.schema.plan import Plan

NAMED = 3
"""Scenarios named in one line."""
HOUR_NS = 3600 * 10**9
FAR_OVER = 10
"""A quick run in real time that takes so many times its budget, and `LONG_NS`, is refused: nobody waits for it."""
LONG_NS = 10 * 60 * 10**9


class Beforehand(NamedTuple):
    """A plan without what would be unsupported, which takes no time, and whether some of the rest would fail here."""

    plan: Plan
    fails: bool


def precheck(plan: Plan, experiment: Experiment, jobs: int, *, closed_loop: bool = True) -> Beforehand:
    """Say on stderr what was dropped or chosen without being asked, what keeps scenarios from being run here, what
    pages leave out, which exchanges would time out, which clients a NAT would forget for good, what an idle start and a
    closed loop leave out, which first retransmissions come too early, and that a run with so many trials at a time
    takes hours. Without `closed_loop` nothing is said of what such a loop leaves out.

    Refuses entries of implementations.toml that are wrong, and a plan of which no program does anything.
    """
    from wirelab.runner.entries import forecast_failures
    from wirelab.schema.connections import loss_lines
    from wirelab.schema.short_timer import short_timer_lines

    forecast = forecast_failures(plan, experiment.source.folder)
    left = plan.without(forecast.unsupported)
    for words in (
        *experiment.source.notes,
        *forecast.words,
        *_left_out(experiment),
        *_uncounted(experiment),
        *_too_late(experiment),
        *_forgotten(experiment),
        *_not_covered(experiment),
        *(_back_to_back(left) if closed_loop else ()),
        *short_timer_lines((each.protocol, each.link_name, each.short_timer) for each in left.scenarios),
        *_hours(left, jobs),
        *_too_few_values(plan),
        *loss_lines((each.protocol, each.link_name, each.connections) for each in plan.scenarios),
    ):
        click.echo(words, err=True)
    if plan.scenarios and not left.scenarios:
        raise WirelabError("nothing to run: every scenario is unsupported", hint="; ".join(forecast.hints) or None)
    return Beforehand(left, not forecast.failing.isdisjoint(scenario.key for scenario in left.scenarios))


def budget_jobs(plan: Plan, jobs: int) -> int:
    """How many trials share a budget. The virtual clock counts what each takes of it, however many run at a time."""
    from wirelab.schema import Clock

    return 1 if plan.clock is Clock.VIRTUAL else jobs


def within_budget(plan: Plan, experiment: Experiment, budget_ns: int, jobs: int) -> Plan:
    """The experiment's plan, or a quick run that fits the budget with so many parallel trials. Unsupported scenarios
    use none of the budget. Refuses a budget that is far too short.
    """
    from wirelab.plan import expected_ns, make_plan
    from wirelab.runner.entries import forecast_failures
    from wirelab.runner.minutes import in_days, run_ns
    from wirelab.schema import Clock

    own_ns = plan.experiment.stop.budget_ns
    if own_ns is not None and own_ns < budget_ns:
        longer = f"--budget {format_duration(budget_ns)} is longer than stop.budget"
        click.echo(f"{longer}: no block starts after {format_duration(own_ns)}", err=True)
    unsupported = forecast_failures(plan, experiment.source.folder).unsupported
    quick = make_plan(experiment, budget_ns=budget_ns, jobs=jobs, unsupported=unsupported)
    # By their places: another number of exchanges makes another key.
    places = zip(plan.scenarios, quick.scenarios, strict=True)
    left = quick.without({small.key for whole, small in places if whole.key in unsupported})
    if quick.experiment.preview is not None and expected_ns(left, jobs) > budget_ns:
        takes_ns = run_ns(left, jobs)
        takes = in_days(takes_ns)
        what = f"even the smallest quick run of {experiment.name} takes {takes}, over {format_duration(budget_ns)}"
        if left.clock is Clock.LIVE and takes_ns > max(FAR_OVER * budget_ns, LONG_NS):
            virtual = _virtual_takes(plan.without(unsupported)) if _may_be_virtual(left) else None
            hint = f"a budget of {takes}" if virtual is None else f"--clock virtual without --budget takes {virtual}"
            raise WirelabError(what, hint=hint)
        click.echo(f"{what}; it runs all the same, as small as it can be", err=True)
    return quick


def _may_be_virtual(plan: Plan) -> bool:
    """The virtual clock has neither limits of CPU time nor idle starts."""
    from wirelab.schema import IdleStart

    return not any(
        each.cpu or isinstance(getattr(each.workload, "arrival", None), IdleStart) for each in plan.scenarios
    )


def _virtual_takes(plan: Plan) -> str:
    from wirelab.runner.minutes import in_days, virtual_run_ns
    from wirelab.runner.start import virtual_jobs

    return f"about {in_days(virtual_run_ns(plan, virtual_jobs(plan).number))}"


def _left_out(experiment: Experiment) -> Iterator[str]:
    from wirelab.schema import PageLoads
    from wirelab.site import left_out_words

    sites = experiment.sites()
    loads = (each.workload for each in experiment.scenarios)
    names = {workload.page.sha256: workload.page.name for workload in loads if isinstance(workload, PageLoads)}
    for digest, name in names.items():
        if words := left_out_words(sites[digest]):
            yield f"page {name} has references that are not loaded: {words}"


def _too_few_values(plan: Plan) -> Iterator[str]:
    """A quick run may have too few values for the percentile that ranks; the whole experiment has enough."""
    from wirelab.statistic import too_few

    most = plan.experiment.stop.replicates[1]
    if what := too_few(plan.experiment.statistic, (most * each.workload.rows for each in plan.scenarios)):
        yield f"nothing will be ranked: {what}; give a longer --budget"


def _uncounted(experiment: Experiment) -> Iterator[str]:
    """Levels that the grid of its claims does not have."""
    from wirelab.claims.load import load
    from wirelab.claims.settable import outside
    from wirelab.experiment.grid.scenario import shorten

    if experiment.claims is None:
        return
    factors, choices = experiment.factors, experiment.choices
    varied = {path: [*factors.get(path, ()), *choices.get(path, ())] for path in (*factors, *choices)}
    as_written = [(path, [str(shorten(level)) for level in levels]) for path, levels in varied.items()]
    for path, levels in outside(load(experiment.claims).file, as_written).items():
        words = f"{path} {', '.join(levels)}: outside the grid of {experiment.claims.name}"
        yield f"{words}, so verdicts there are shown and not counted"


def _too_late(experiment: Experiment) -> Iterator[str]:
    """A line for each timeout that is shorter than the expected time of a load or another exchange."""
    from wirelab.experiment.duration.late import late_exchanges

    for timeout_ns, late in late_exchanges(experiment).items():
        what = "a load" if experiment.sites() else "an exchange"
        up_to = "up to " * (len(late) > 1)
        yield (
            f"{len(late)} of {len(experiment.scenarios)} scenarios may time out ({_named(late)}): {what} is expected "
            f"to take {up_to}{format_duration(max(late.values()))}, and workload.timeout is "
            f"{format_duration(timeout_ns)}"
        )


def _forgotten(experiment: Experiment) -> Iterator[str]:
    """A line for clients that their NAT forgets between messages, and that never learn it."""
    from wirelab.experiment.duration.forgotten import forgotten_for_good

    if found := forgotten_for_good(experiment):
        timeout_ns, gap_ns = max(found.values(), key=lambda pair: pair[1] - pair[0])
        yield (
            f"{len(found)} of {len(experiment.scenarios)} scenarios may lose their server until the trial ends "
            f"({_named(found)}): the NAT forgets a client after {format_duration(timeout_ns)}, messages come up to "
            f"{format_duration(gap_ns)} apart, and nothing keeps the mapping or opens another connection; a keep-alive "
            f'below {format_duration(timeout_ns)} or after-timeout = "reconnect" does'
        )


def _not_covered(experiment: Experiment) -> Iterator[str]:
    """A line for what the endpoints would do in the gaps of an idle start, and does not happen."""
    from wirelab.experiment.duration.idle_start import not_covered, unknown_servers

    for gap_ns, silences in not_covered(experiment):
        named = [
            f"{each.name} of {protocol} ({format_duration(each.length_ns)})" for protocol, each in silences[:NAMED]
        ]
        named += ["…"] * (len(silences) > NAMED)
        run_out = "they run" if len(silences) > 1 else "it runs"
        yield (
            f"not covered by an idle start: {', '.join(named)}: {run_out} out during the gap of "
            f'{format_duration(gap_ns)}. Use --clock virtual with arrival = "periodic"'
        )
    for server in unknown_servers(experiment):
        yield (
            f"{server}: its own time-outs are not known, so that a connection or a session that lasts over a gap is "
            "not covered by an idle start"
        )


def _back_to_back(plan: Plan) -> Iterator[str]:
    """A line for what a closed loop does not meet."""
    from wirelab.schema.back_to_back import back_to_back

    if (missed := back_to_back(plan)) is not None:
        yield f"{missed.what}. For messages minutes apart: {missed.hint}"


def _hours(plan: Plan, jobs: int) -> Iterator[str]:
    """A line for real time that the virtual clock would not take."""
    from wirelab.runner.minutes import in_days, run_ns
    from wirelab.schema import Clock

    if plan.clock is Clock.LIVE and any(_real_ns(each.workload) > HOUR_NS for each in plan.scenarios):
        can = (
            f"takes {_virtual_takes(plan)}"
            if _may_be_virtual(plan)
            else "has neither limits of CPU time nor idle starts"
        )
        yield f"this takes {in_days(run_ns(plan, jobs))} of real time; --clock virtual {can}"


def _real_ns(workload: WorkloadSpec) -> int:
    """For how long the endpoints send in real time; 0 in a closed loop, and of idle starts, whose gaps take none."""
    from wirelab.schema import IdleStart
    from wirelab.schema.sends_for import sends_for_ns

    return 0 if isinstance(getattr(workload, "arrival", None), IdleStart) else sends_for_ns(workload) or 0


def _named(names: Iterable[str]) -> str:
    """The first of them."""
    names = list(names)
    return "; ".join(names[:NAMED]) + "; …" * (len(names) > NAMED)
