"""What a publication leaves for future work, and what is known of it here. Decides no verdict and is not frozen."""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from wirelab.claims.part import Table


class FutureTable(Table):
    """A line of future work: `found` says what was measured, with its number and the experiment, and `not-yet` why
    nothing was.
    """

    text: str
    found: str | None = None
    not_yet: str | None = Field(default=None, alias="not-yet")

    @model_validator(mode="after")
    def _either(self) -> Self:
        if (self.found is None) == (self.not_yet is None):
            raise ValueError("needs either `found` or `not-yet`")
        return self
