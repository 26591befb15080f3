"""A budget of time that several campaigns share."""

from __future__ import annotations

import time
from dataclasses import dataclass


@dataclass(frozen=True)
class Budget:
    """`ends_s` is an instant of the monotonic clock."""

    ends_s: float

    @classmethod
    def of(cls, nanoseconds: int) -> Budget:
        """It begins now."""
        return cls(time.monotonic() + nanoseconds / 1e9)

    @property
    def left_s(self) -> float:
        """Seconds that are left; negative when it is spent."""
        return self.ends_s - time.monotonic()
