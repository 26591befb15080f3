"""What the records of estimates are made with, in whichever file they are."""

from __future__ import annotations

from pydantic import ConfigDict, with_config
from typing_extensions import TypedDict

document = with_config(ConfigDict(extra="forbid", use_attribute_docstrings=True, allow_inf_nan=False))
"""Unknown keys are errors, and so are numbers that JSON does not have."""


@document
class Bounds(TypedDict):
    """A figure of an energy model, with its constants typical and at their bounds."""

    low: float
    """With all constants at their least."""
    typical: float
    """With all constants typical."""
    high: float
    """With all constants at their most."""
