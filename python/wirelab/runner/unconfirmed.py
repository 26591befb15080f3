"""Exchanges that the link did not confirm, in words: how many, the first with its reason, and what the program printed.

Nothing here starts a process or writes a file.
"""

from __future__ import annotations

from pathlib import Path

from wirelab.runner.unready import printed
from wirelab.schema import Role, TrialResult
from wirelab.schema.plan import Scenario


def unconfirmed(scenario: Scenario, result: TrialResult, folder: Path) -> str | None:
    """Why a trial failed whose client calls exchanges completed that the packets do not confirm; none without any."""
    confirmation = result.confirmation
    if confirmation is None or not confirmation.not_confirmed:
        return None
    first, number = confirmation.not_confirmed[0], len(confirmation.not_confirmed)
    client = scenario.implementation.client
    which = f"exchange {first.index}" + (f" of client {first.client}" if first.client else "")
    summary = (
        f"not confirmed by the link: {number} of {confirmation.checked} exchanges that client {client} "
        f"calls completed; {which}: {first.reason}"
    )
    return "\n".join([summary, *printed(folder / Role.CLIENT.value)])
