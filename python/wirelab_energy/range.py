"""A number that is known within bounds."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from wirelab_energy.units import with_bounds


@dataclass(frozen=True, slots=True)
class Range:
    """`low <= typical <= high`. A sum adds bounds to bounds, as if all of its parts were off the same way at once."""

    low: float
    typical: float
    high: float

    def __post_init__(self) -> None:
        if not self.low <= self.typical <= self.high:
            raise ValueError(f"not in order: {self.low}, {self.typical}, {self.high}")

    @classmethod
    def exact(cls, value: float) -> Range:
        """One number, known exactly."""
        return cls(value, value, value)

    @classmethod
    def spanning(cls, typical: float, *others: float) -> Range:
        """This typical value, and all of the others within the bounds."""
        return cls(min(typical, *others), typical, max(typical, *others))

    @classmethod
    def total(cls, ranges: Iterable[Range]) -> Range:
        """The sum; of none, 0."""
        return sum(ranges, cls.exact(0.0))

    def __add__(self, other: Range) -> Range:
        return Range(self.low + other.low, self.typical + other.typical, self.high + other.high)

    def __mul__(self, factor: float) -> Range:
        """Scaled by a number that is not negative."""
        return Range(self.low * factor, self.typical * factor, self.high * factor)

    def divides(self, amount: float) -> Range:
        """`amount / self`: a larger divisor leaves less."""
        return Range(*(amount / each if each else float("inf") for each in (self.high, self.typical, self.low)))

    def said(self, words: Callable[[float], str]) -> str:
        """`2 mJ [1 mJ, 4 mJ]`, each number in these words."""
        return with_bounds(*map(words, (self.typical, self.low, self.high)))
