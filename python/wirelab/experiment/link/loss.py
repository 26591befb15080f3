"""Kinds of loss as written."""

from __future__ import annotations

from itertools import chain
from typing import Annotated

from pydantic import Field, PlainValidator, ValidationInfo, model_validator

from wirelab.experiment.file.quantities import PositiveDuration, Share, Table
from wirelab.experiment.link.files import MAX_ENTRIES, Files, losses
from wirelab.schema import FourState, GilbertElliott, GilbertElliottTime, LossPattern, Markov
from wirelab.units import UnitError, format_duration, format_share

MAX_STATES = 64
SUM_TOLERANCE = 1e-9
SHORTEST_SOJOURN_NS = 10_000
"""What the data plane takes as a mean."""


class GilbertElliottTable(Table):
    """Gilbert-Elliott loss per packet: netem's four parameters, by netem's names."""

    p: Share = Field(description="Probability per packet of moving from the good to the bad state.")
    r: Share = Field(description="Probability per packet of moving from the bad to the good state.")
    bad_loss: Share = Field(alias="1-h", description="Loss probability in the bad state.")
    good_loss: Share = Field(alias="1-k", description="Loss probability in the good state.")

    def spec(self) -> GilbertElliott:
        return GilbertElliott(p=self.p, r=self.r, bad_loss=self.bad_loss, good_loss=self.good_loss)


class GilbertElliottTimeTable(Table):
    """Gilbert-Elliott loss whose state changes with time, not with packets."""

    good: PositiveDuration = Field(description="Mean time in the good state.")
    bad: PositiveDuration = Field(description="Mean time in the bad state.")
    bad_loss: Share = Field(description="Loss probability in the bad state.")
    good_loss: Share = Field(default=0.0, description="Loss probability in the good state.")

    @model_validator(mode="after")
    def _lasts(self) -> GilbertElliottTimeTable:
        if min(self.good, self.bad) < SHORTEST_SOJOURN_NS:
            raise UnitError("a state lasts too short a time", hint=f"at least {format_duration(SHORTEST_SOJOURN_NS)}")
        return self

    def spec(self) -> GilbertElliottTime:
        return GilbertElliottTime(good_ns=self.good, bad_ns=self.bad, bad_loss=self.bad_loss, good_loss=self.good_loss)


class FourStateTable(Table):
    """netem's `loss state`: 1 received, 2 received within a burst, 3 lost within a burst, 4 lost alone."""

    p13: Share = Field(description="Probability of moving from received to lost within a burst.")
    p31: Share = Field(description="Probability of moving from lost within a burst to received.")
    p32: Share = Field(description="Probability of moving from lost within a burst to received within a burst.")
    p23: Share = Field(description="Probability of moving from received within a burst to lost within a burst.")
    p14: Share = Field(description="Probability of moving from received to lost alone.")

    @model_validator(mode="after")
    def _sums(self) -> FourStateTable:
        for names in (("p13", "p14"), ("p31", "p32")):
            total = sum(getattr(self, name) for name in names)
            if total > 1 + SUM_TOLERANCE:
                raise UnitError(f"{' and '.join(names)} sum to {format_share(total)}", hint="at most 100 %")
        if self.p13 > 0 and self.p31 + self.p32 == 0:
            raise UnitError("a burst never ends", hint="give p31 or p32 more than 0 %")
        return self

    def spec(self) -> FourState:
        return FourState(p13=self.p13, p31=self.p31, p32=self.p32, p23=self.p23, p14=self.p14)


class MarkovTable(Table):
    """Loss by a Markov chain of any number of states that moves with each packet."""

    transitions: list[list[Share]] = Field(
        min_length=1,
        max_length=MAX_STATES,
        description="A row for each state: the probabilities of moving to each state. A row sums to 100 %.",
        examples=[[["99 %", "1 %"], ["10 %", "90 %"]]],
    )
    loss: list[Share] = Field(description="Loss probability in each state.", examples=[["0 %", "70 %"]])

    @model_validator(mode="after")
    def _is_a_chain(self) -> MarkovTable:
        states = len(self.transitions)
        if len(self.loss) != states:
            raise UnitError(f"{states} rows of transitions and {len(self.loss)} of loss", hint="one of each per state")
        for number, row in enumerate(self.transitions, 1):
            if len(row) != states:
                raise UnitError(f"row {number} of transitions has {len(row)} entries", hint=f"{states}: one per state")
            if abs(sum(row) - 1) > SUM_TOLERANCE:
                raise UnitError(f"row {number} of transitions sums to {100 * sum(row):.6g} %", hint="to 100 %")
        if not any(all(_reaches(self.transitions, state, goal) for state in range(states)) for goal in range(states)):
            raise UnitError(
                "no state is reachable from every other, so the chain has no unique stationary state",
                hint="join the states by a transition",
            )
        return self

    def spec(self) -> Markov:
        return Markov(transitions=tuple(map(tuple, self.transitions)), loss=tuple(self.loss))


def read_losses(value: object, info: ValidationInfo) -> str:
    """A file of recorded losses."""
    return Files.of(info).read(value, losses)


class LossPatternTable(Table):
    """Losses at known positions: one of `every`, `pattern` and `file`."""

    every: Annotated[int, Field(ge=1, le=MAX_ENTRIES)] | None = Field(
        default=None, description="Every n-th packet is lost.", examples=[10]
    )
    pattern: str | None = Field(
        default=None,
        description="A digit for each packet: 0 passes, 1 is lost.",
        examples=["0001"],
        json_schema_extra={"pattern": "^[01]+$"},
    )
    file: Annotated[str, PlainValidator(read_losses, json_schema_input_type=str)] | None = Field(
        default=None, description="File of such digits; white space is skipped.", examples=["losses.txt"]
    )
    repeat: bool = Field(
        default=True, description="The pattern begins again at its end. If false, all later packets pass."
    )

    @model_validator(mode="after")
    def _one_source(self) -> LossPatternTable:
        if sum(source is not None for source in (self.every, self.pattern, self.file)) != 1:
            raise UnitError("needs one of every, pattern or file")
        if self.every is not None and not self.repeat:
            raise UnitError("every repeats", hint="remove repeat")
        if self.pattern is not None and (not self.pattern or self.pattern.strip("01")):
            raise UnitError("a pattern is of 0 and 1", hint="0 passes, 1 is lost")
        if self.pattern is not None and len(self.pattern) > MAX_ENTRIES:
            raise UnitError(f"a pattern of {len(self.pattern):,} packets", hint=f"at most {MAX_ENTRIES:,}")
        return self

    def spec(self) -> LossPattern | None:
        """What the data plane gets; None where nothing is lost."""
        pattern = self.pattern or self.file or "0" * ((self.every or 1) - 1) + "1"
        return LossPattern(pattern=pattern, repeat=self.repeat) if "1" in pattern else None


def _reaches(transitions: list[list[float]], start: int, goal: int) -> bool:
    seen, border = {start}, {start}
    while border:
        border = set(chain.from_iterable(_successors(transitions[state]) for state in border)) - seen
        seen |= border
    return goal in seen


def _successors(row: list[float]) -> list[int]:
    return [state for state, probability in enumerate(row) if probability > 0]
