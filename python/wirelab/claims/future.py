"""What a publication leaves for future work, and what is known of it here. Decides no verdict and is not frozen."""

from __future__ import annotations

import re
from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator

from wirelab.claims.part import Table
from wirelab.units import UnitError


def _sha256(digest: str) -> str:
    if re.fullmatch("[0-9a-f]{64}", digest) is None:
        raise UnitError(
            "should be 64 hexadecimal digits", "`wirelab run` prints it after a run under the virtual clock"
        )
    return digest


class FutureTable(Table):
    """A line of future work: `found` says what was measured, with its numbers, and `not-yet` why nothing was. `run` is
    what follows `wirelab run` to measure it again, and `digest` that of the run, if the virtual clock gives one.
    """

    text: str
    found: str | None = None
    run: str | None = None
    digest: Annotated[str, AfterValidator(_sha256)] | None = None
    not_yet: str | None = Field(default=None, alias="not-yet")

    @model_validator(mode="after")
    def _either(self) -> Self:
        if (self.found is None) == (self.not_yet is None):
            raise ValueError("needs either `found` or `not-yet`")
        if (self.run is None and self.digest is not None) or (self.found is None and self.run is not None):
            raise ValueError("`digest` needs `run`, and `run` needs `found`")
        return self
