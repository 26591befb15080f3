"""The limits of a campaign's estimates, in sentences."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from wirelab.metrics.trial_rows import DAMAGED, damage_words
from wirelab.schema import Clock
from wirelab.schema.campaign import EntryStatus
from wirelab.schema.estimates import AnalysedScenario, LinkRecord
from wirelab.stats.dataset import Dataset
from wirelab.stats.estimate.horizon import MOST_OF_A_MEAN, counted_at
from wirelab.stats.link.grade import GRADES
from wirelab.stats.machine.offered import overloads
from wirelab.stats.settings_in_force import not_in_force

FEW_TRIALS = 5
_NAMED_APART = ("done", "unsupported", DAMAGED, EntryStatus.UNUSABLE)


def limits(
    dataset: Dataset, scenarios: list[AnalysedScenario], link_rows: list[LinkRecord], exact: Collection[str] = ()
) -> Iterator[str]:
    """What a reader must know of these estimates. `exact` are the keys of scenarios whose trials were all the same."""
    import polars as pl

    if dataset.plan.experiment.preview:
        yield "This is a quick run, scaled down to a budget: not conclusive, and no verdict to quote."
    trials = [each["denominators"]["trials"] for each in scenarios if each["key"] not in exact]
    if trials and min(trials) < FEW_TRIALS:
        few = min(trials)
        if few <= 1:
            yield "A scenario has at most one trial: its intervals know nothing of the spread between trials."
        else:
            yield f"A scenario has only {few} trials: intervals over trials are wide, and p values cannot be small."
    yield from _ended_without_delay(scenarios)
    yield from _horizons(dataset.plan.experiment.metric, scenarios)
    uncounted = sum(s["endpoints"] is not None and s["endpoints"]["wait_s"] is None for s in scenarios)
    # Under the virtual clock nothing waits for a CPU.
    if uncounted and dataset.plan.clock is Clock.LIVE:
        yield f"What endpoints waited for a CPU was not counted in {uncounted} of {_scenarios(scenarios)}."
    protocol = {scenario["key"]: scenario["protocol"] for scenario in scenarios}
    for words, chosen in (
        ("Attempts that were run again and do not count", dataset.trials.filter(pl.col("excluded"))),
        (
            "Trials not done",
            dataset.trials.filter(~pl.col("excluded") & ~pl.col("status").is_in(_NAMED_APART)),
        ),
        (
            "Trials left out because the link was so late that a timer may have fired",
            dataset.trials.filter(pl.col("status") == EntryStatus.UNUSABLE),
        ),
        ("Trials of what is not supported", dataset.trials.filter(pl.col("status") == "unsupported")),
    ):
        names = sorted(protocol.get(key, key) for key in chosen["scenario"])
        if names:
            by_protocol = ", ".join(f"{name} {names.count(name)}" for name in dict.fromkeys(names))
            yield f"{words}, by protocol: {by_protocol}."
    yield from filter(None, [damage_words(dataset.trials)])
    left_out = int(dataset.trials["left_out_of_captures"].sum())
    if left_out:
        yield f"{left_out:,} packets are missing from captures, for the disk was too slow; the link carried them."
    ignored = [(s["name"], why) for s in scenarios if (why := not_in_force(s.get("settings") or []))]
    if ignored:
        name, why = ignored[0]
        yield (
            f"A setting was not in force in {len(ignored)} of {_scenarios(scenarios)}, which no chart shows and no "
            f"verdict rests on; {name}: {why}."
        )
    yield from _disturbed(dataset)
    yield from _not_checked(dataset)
    if slow := overloads(scenarios):
        yield (
            f"More was offered than was served in {len(slow)} of {_scenarios(scenarios)}: their delays grow as long as "
            "a trial lasts, and are not compared."
        )
    flagged = sum(row["flag"] in GRADES[1:] for row in link_rows)
    if flagged:
        are = "are" if flagged > 1 else "is"
        yield f"{flagged} of {len(link_rows)} link directions {are} not of good quality."
    waits = [(s["name"], waits) for s in scenarios if (waits := s["endpoints"]) is not None]
    starved = [(name, each) for name, each in waits if each["flag"] != GRADES[0]]
    if starved:
        name, worst = max(starved, key=lambda each: (GRADES.index(each[1]["flag"]), each[1]["share"] or 0.0))
        yield (f"{len(starved)} of {_scenarios(scenarios)} ran short of CPU; {name}: {worst['why']}; {worst['cure']}.")


def _disturbed(dataset: Dataset) -> Iterator[str]:
    disturbed, exchanges = dataset.disturbed
    if disturbed:
        among = f"{disturbed:,} of {exchanges:,} exchanges"
        yield f"The link was late during {among}: a difference counts only if it is there without them too."


def _not_checked(dataset: Dataset) -> Iterator[str]:
    import polars as pl

    done = dataset.trials.filter(~pl.col("excluded") & (pl.col("status") == "done")).drop_nulls("not_checked")
    for why, trials in done["not_checked"].value_counts(sort=True).iter_rows():
        yield f"What the client says of {_counted(trials, 'trial')} was not compared with packets: {why}."


def _ended_without_delay(scenarios: list[AnalysedScenario]) -> Iterator[str]:
    timed_out = [s for s in scenarios if s["denominators"]["timed-out"]]
    if timed_out:
        total = sum(s["denominators"]["timed-out"] for s in timed_out)
        yield (
            f"{_counted(total, 'exchange')} timed out in {_scenarios(timed_out)}: quantiles count them as above the "
            "time-out, means of delays count them at the time-out, and all else is over completed exchanges."
        )
    if sent := [s for s in scenarios if s["denominators"]["sent"]]:
        total = sum(s["denominators"]["sent"] for s in sent)
        words = f"{_counted(total, 'message')} of {_scenarios(sent)} were sent and nothing answers: they have no delay"
        yield f"{words}. One that was under way when its trial ended counts as not arrived."


def _horizons(metric: str, scenarios: list[AnalysedScenario]) -> Iterator[str]:
    """Where the horizon decides the mean of the headline metric."""
    shares = [(s["metrics"][metric].get("time_outs_in_mean", 0.0), s) for s in scenarios if metric in s["metrics"]]
    heavy = [(share, s) for share, s in shares if share > MOST_OF_A_MEAN]
    if heavy:
        share, worst = max(heavy, key=lambda each: each[0])
        yield (
            f"Time-outs make more than {MOST_OF_A_MEAN:.0%} of the mean {metric} in {len(heavy)} of "
            f"{_scenarios(scenarios)}: the horizon decides it there, so read P(delay > 1 s) and p95 next to it; "
            f"{worst['name']}: {share:.0%}, "
            f"{counted_at(worst['metrics'][metric]['horizon_s'])}."
        )


def _scenarios(scenarios: list[AnalysedScenario]) -> str:
    return _counted(len(scenarios), "scenario")


def _counted(count: int, word: str) -> str:
    return f"{count} {word}{'s' * (count != 1)}"
