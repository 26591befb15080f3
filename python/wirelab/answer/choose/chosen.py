"""The answer: what was measured of each choice, ranked under the network's typical settings and under all others."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

from wirelab import __version__
from wirelab.answer.choose.candidates import DELIVERIES, MESSAGES, Candidate
from wirelab.answer.choose.evidence import FAR, Evidence, mean_of, typical_of
from wirelab.answer.choose.measured import OfChoice, bounds_of
from wirelab.answer.choose.question import Asked
from wirelab.answer.choose.ranking import Parts, Ranking, first_of
from wirelab.answer.choose.tariff import YEAR_S
from wirelab.metrics.battery import battery_days
from wirelab.schema.bounds import Bounds
from wirelab.schema.choose import (
    CHOSEN_VERSION,
    Choice,
    Chosen,
    Goal,
    OperatorAxis,
    OperatorSetting,
    Question,
    RadioError,
    Safest,
)
from wirelab.stats.estimate.model import LEVEL, Estimate
from wirelab.stats.estimate.student import student
from wirelab.units import format_duration
from wirelab_energy.proof import proofs
from wirelab_energy.published import quantity_words
from wirelab_energy.range import Range

DAY_S = 86_400.0
DAYS_A_YEAR = 365.25
COULOMBS_PER_MAH = 3.6
NOT_CONSIDERED = (
    "RAM and flash that an implementation needs",
    "the time that the device computes, for cryptography above all",
    "which clouds and brokers offer a protocol",
    "coverage extension, which repeats each block",
    "joining a network, cell search and moving between cells",
)


def chosen(evidence: Evidence, *, settled: bool) -> Chosen:
    """The whole answer."""
    place = evidence.typical
    ranking = evidence.ranking(place)
    # Of those that are alike the one that sends least comes first; of few trials all may seem alike.
    alike_by = _joules if not settled and evidence.criterion == "energy" else _size
    choices = sorted(
        (_choice(evidence, each, ranking) for each in evidence.candidates), key=lambda each: _in_order(each, alike_by)
    )
    nearest = evidence.nearest(place)
    choices.sort(key=lambda each: nearest is not None and each["name"] != nearest)
    settings = list(_settings(evidence))
    return Chosen(
        schema_version=CHOSEN_VERSION,
        version=__version__,
        kernel=evidence.kernel,
        clock=evidence.clock,
        question=_question(evidence),
        criterion=evidence.criterion,
        settled=settled,
        choices=choices,
        apart=[*evidence.apart],
        first=None if ranking is None else ranking.first,
        nearest=nearest,
        alike=[each["name"] for each in choices if ranking is not None and ranking.first is None and each["rank"] == 1],
        gap=None if ranking is None or ranking.gap is None else ranking.gap.record(),
        spread=None if ranking is None else _spread(evidence, ranking),
        axes=[_axis(evidence, each) for each in evidence.network.axes],
        settings=settings,
        safest=_safest(settings),
        levers=[*evidence.levers],
        levers_worse=[*evidence.worse],
        goal=_goal(evidence, choices, nearest),
        maps=[*evidence.maps],
        radio_errors=list(_radio_errors(evidence)),
        assumptions=list(_assumptions(evidence)),
        not_considered=[*NOT_CONSIDERED],
        warnings=[*evidence.warnings],
    )


def _axis(evidence: Evidence, axis: OperatorAxis) -> OperatorAxis:
    moves = axis["runs"] == "never" and evidence.delays_known
    return {**axis, "runs": "where it moves a packet"} if moves else axis


def _spread(evidence: Evidence, ranking: Ranking) -> float | None:
    """The largest over the smallest, of protocols with their best connections; None of one."""
    lowest: dict[str, float] = {}
    for candidate in evidence.candidates:
        if (value := ranking.means.get(candidate.name)) is not None:
            lowest[candidate.protocol] = min(value, lowest.get(candidate.protocol, value))
    return max(lowest.values()) / min(lowest.values()) if len(lowest) > 1 else None


def _goal(evidence: Evidence, choices: Sequence[Choice], nearest: str | None) -> Goal | None:
    asked = evidence.asked
    if asked.life_years is None or asked.battery is None or evidence.criterion != "energy":
        return None
    capacity_mah, voltage_v = asked.battery
    day_j = capacity_mah * COULOMBS_PER_MAH * voltage_v / (asked.life_years * DAYS_A_YEAR)
    left_j = day_j - (asked.base_current_a or 0.0) * voltage_v * DAY_S
    if left_j <= 0:
        return Goal(years=asked.life_years, most_j=None, reached_by=[])
    most_j = left_j * (asked.contact_ns / 1e9) / DAY_S
    meant = [each for each in choices if each["rank"] is not None or each["name"] == nearest]
    able = [each["name"] for each in meant if _joules(each) <= most_j]
    changed = [each["name"] for each in evidence.levers if each["value"] <= most_j]
    return Goal(years=asked.life_years, most_j=most_j, reached_by=[*able, *changed])


def _joules(choice: Choice) -> float:
    return float("inf") if choice["energy_j"] is None else choice["energy_j"]["typical"]


def _in_order(choice: Choice, alike_by: Callable[[Choice], float]) -> tuple[float, bool, float, str]:
    """By rank, then what may have one."""
    rank = choice["rank"]
    out = rank is None and choice["near_deadline"] is None
    return (float("inf") if rank is None else rank, out, alike_by(choice), choice["name"])


def _size(choice: Choice) -> float:
    size = choice["data_bytes"]["point"]
    return float("inf") if size is None else size


def _choice(evidence: Evidence, candidate: Candidate, ranking: Ranking | None) -> Choice:
    """Under the typical settings."""
    place, asked = evidence.typical, evidence.asked
    found = evidence.of(candidate, place) or OfChoice()
    why = evidence.not_ranked(candidate, place)
    data = student([*found.data_bytes.values()]) if found.data_bytes else _unknown()
    energies = [*found.energies.get(place.radio, {}).values()]
    energy = bounds_of(energies) if energies else None
    year_bytes = None if data.point is None else data.point * YEAR_S / (asked.contact_ns / 1e9)
    return Choice(
        name=candidate.name,
        protocol=candidate.protocol,
        policy=candidate.policy,
        program=evidence.programs.get(candidate.name, ""),
        auth=candidate.auth,
        rank=None if ranking is None or why is not None else ranking.rank(candidate.name),
        not_ranked=why,
        near_deadline=evidence.near_deadline(candidate, place),
        messages=found.messages,
        trials=found.trials,
        lost=found.lost,
        lost_share=found.lost_share.record(),
        energy_j=energy,
        energy_mean=student([typical_of(each) for each in energies]).record() if energies else None,
        energy_states_j=_states(energies),
        data_bytes=data.record(),
        battery_years=None if energy is None else _battery_years(asked, energy),
        data_year_bytes=year_bytes,
        cost_year=None if asked.tariff is None or data.point is None else _cost(asked, data.point),
        p50_s=None if found.p50_s is None else found.p50_s.record(),
        p95_s=None if found.p95_s is None else found.p95_s.record(),
        within_deadline=None if found.within is None else found.within.record(),
        late_exact=evidence.tails.get(candidate.name),
        notes=[*_notes(candidate, found), *_forgotten(evidence, candidate, found)],
    )


def _states(trials: Sequence[Parts]) -> dict[str, float]:
    """The mean over trials of each state of the radio, with typical constants."""
    states = dict.fromkeys(state for trial in trials for state in trial)
    return {
        state: math.fsum(trial[state]["typical"] for trial in trials if state in trial) / len(trials)
        for state in states
    }  # fmt: skip


def _unknown() -> Estimate:
    return Estimate(None, None, None, LEVEL, 0, "no packet is known")


def _battery_years(asked: Asked, message_j: Bounds) -> Bounds | None:
    """The battery's capacity over what messages and the device's base current take."""
    if asked.battery is None:
        return None
    capacity_mah, voltage_v = asked.battery
    base_j = (asked.base_current_a or 0.0) * voltage_v * DAY_S
    messages = DAY_S / (asked.contact_ns / 1e9)
    day_j = {
        "low": message_j["low"] * messages + base_j,
        "typical": message_j["typical"] * messages + base_j,
        "high": message_j["high"] * messages + base_j,
    }
    days = battery_days(day_j, capacity_mah, voltage_v)
    return {
        "low": days["low"] / DAYS_A_YEAR, "typical": days["typical"] / DAYS_A_YEAR, "high": days["high"] / DAYS_A_YEAR
    }  # fmt: skip


def _cost(asked: Asked, message_bytes: float) -> float:
    assert asked.tariff is not None, "asked before"
    return asked.tariff.year(message_bytes, asked.contact_ns / 1e9)


def _notes(candidate: Candidate, found: OfChoice) -> Iterator[str]:
    if found.no_energy is not None:
        yield f"Its energy is not known: {found.no_energy}."
    if candidate.messages < MESSAGES:
        yield f"A trial has {candidate.messages} messages, because of its many keep-alives."
    if found.failed_trials and found.messages:
        yield f"Not counted: {found.failed_trials} of its trials, which failed: {found.failure}."
    if found.unchecked:
        yield f"Nothing answers its messages, and of {found.unchecked:,} it was not checked whether they arrived."


def _forgotten(evidence: Evidence, candidate: Candidate, found: OfChoice) -> Iterator[str]:
    """Why a connection that is kept loses messages, where its NAT explains it."""
    forgets = evidence.network.forgets.of(candidate.transport)
    kept = candidate.connection == "persistent" and candidate.keep_alive_ns is None
    if kept and found.lost and forgets is not None and forgets[0] <= evidence.asked.contact_ns:
        yield f"The NAT forgets it {format_duration(forgets[0])} after a message, before the next one."


def _question(evidence: Evidence) -> Question:
    asked = evidence.asked
    radio = evidence.equipments.get(asked.link)
    capacity, voltage = asked.battery or (None, None)
    return Question(
        send_bytes=asked.send_bytes,
        reply_bytes=asked.reply_bytes,
        every_s=asked.every_ns / 1e9,
        contact_s=asked.contact_ns / 1e9,
        link=asked.link,
        link_words=evidence.link_words,
        radio=None if radio is None else radio.radio.label,
        battery_mah=capacity,
        battery_v=voltage,
        base_current_a=asked.base_current_a,
        life_years=asked.life_years,
        tariff=None if asked.tariff is None else asked.tariff.record(),
        deadline_s=None if asked.deadline_ns is None else asked.deadline_ns / 1e9,
        delivery=asked.delivery,
        auth=asked.auth,
    )


def _settings(evidence: Evidence) -> Iterator[OperatorSetting]:
    """Which choice is first in each combination of the network's settings in which all of them were run."""
    for place in evidence.network.places():
        if any(evidence.of(each, place) is None for each in evidence.candidates):
            continue
        if not any(evidence.values(each, place) for each in evidence.candidates):
            continue
        trials = {
            each.name: evidence.values(each, place) if evidence.not_ranked(each, place) is None else {}
            for each in evidence.candidates
        }
        values = {name: mean_of(each) for name, each in trials.items()}
        able = {name: value for name, value in values.items() if value is not None}
        if able:
            fewest = min(len(trials[name]) for name in able)
            yield OperatorSetting(levels=[*place.levels], first=[*first_of(able)], values=values, trials=fewest)
        elif evidence.nearest(place) is not None:
            known = [len(of) for each in evidence.candidates if (of := evidence.values(each, place))]
            yield OperatorSetting(levels=[*place.levels], first=[], values=values, trials=min(known))


def _safest(settings: Sequence[OperatorSetting]) -> Safest | None:
    """Who does not know the network does least wrong with it."""
    if len(settings) < 2:
        return None
    worst: dict[str, float] = {}
    for setting in settings:
        known = {name: value for name, value in setting["values"].items() if value is not None}
        if not known:
            return None
        lowest = min(known.values())
        ratios = {name: value / lowest for name, value in known.items()}
        of_all = ratios.keys() if setting is settings[0] else ratios.keys() & worst.keys()
        worst = {name: max(ratios[name], worst.get(name, 1.0)) for name in of_all}
    if not worst:
        return None
    name = min(worst, key=lambda each: (worst[each], each))
    return Safest(name=name, ratio=worst[name])


def _radio_errors(evidence: Evidence) -> Iterator[RadioError]:
    radio = evidence.equipments.get(evidence.asked.link)
    for proof in () if radio is None else proofs(radio.radio):
        if proof.published.same_constants:
            continue
        quantity = proof.published.quantity
        yield RadioError(
            what=proof.published.what,
            published=quantity_words(Range.exact(proof.published.value), quantity),
            model=quantity_words(proof.predicted, quantity),
            off_by=proof.ratio - 1,
        )


def _assumptions(evidence: Evidence) -> Iterator[str]:
    asked = evidence.asked
    if asked.auth is None and len({each.auth for each in evidence.candidates}) > 1:
        yield (
            "Security is not equal: some have pre-shared keys, some the server's certificate. --auth makes it equal."
        )
    if asked.contact_ns < asked.every_ns:
        yield "Each contact in which a command can arrive is counted as a message of the same size."
    radio = evidence.equipments.get(asked.link)
    if radio is None:
        yield "No radio is known for this link, so the bytes of a message rank."
    elif asked.radio is None:
        yield f"The device has the radio {radio.radio.name}; --radio names another."
    elif radio.radio.link not in {None, asked.link}:
        yield f"The radio {radio.radio.name} is described for {radio.radio.link}, and not for {asked.link}."
    if len(evidence.network.radios) > 1:
        yield from _radio_settings(evidence)
    yield "A trial's first message, which opens its connection, is left out of every figure."
    yield "A year is the mean of the messages that were measured, repeated."
    if asked.delivery == "at-most-once" and (answering := _answering(evidence.candidates)):
        they = "answers each message, so it gives" if len(answering) == 1 else "answer each message, so they give"
        yield f"{', '.join(answering)} {they} more than at most once."


def _radio_settings(evidence: Evidence) -> Iterator[str]:
    """How other settings of the radio were tried."""
    if evidence.asked.deadline_ns is None:
        yield (
            "Other settings of the radio were applied to packets that flowed, of choices that take at most "
            f"{FAR:g} times the lowest."
        )
    elif not evidence.delays_known:
        yield (
            "Other settings of the radio were applied to packets that flowed. What they change of delays was not "
            "measured: a radio that sleeps sooner wakes more often."
        )
    else:
        yield "Other settings of the radio were run where they move packets, and else applied to packets that flowed."
        if None in evidence.timed.values():
            yield "Some that move packets were not run, and are left out of every count."


def _answering(candidates: Sequence[Candidate]) -> list[str]:
    """Protocols that have no choice of a delivery."""
    choosing = {each.protocol for each in candidates if not each.settings.keys().isdisjoint(DELIVERIES["at-most-once"])}
    return [name for name in dict.fromkeys(each.protocol for each in candidates) if name not in choosing]
