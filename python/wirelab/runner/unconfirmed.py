"""Exchanges that the link did not confirm, in words: how many, the first with its reason, and what programs printed.

Nothing here starts a process or writes a file.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from wirelab.experiment.library import BUILTIN
from wirelab.runner.unready import printed
from wirelab.schema import Role, TrialResult
from wirelab.schema.plan import Scenario


def unconfirmed(scenario: Scenario, result: TrialResult, folder: Path) -> str | None:
    """Why a trial failed whose client calls exchanges completed that the packets do not confirm; none without any."""
    confirmation = result.confirmation
    if confirmation is None:
        return None
    if confirmation.unread is not None:
        return f"not confirmed by the link: the rows of the client cannot be read: {confirmation.unread}"
    if not confirmation.not_confirmed:
        return None
    first, number = confirmation.not_confirmed[0], len(confirmation.not_confirmed)
    ends = scenario.implementation
    which = f"exchange {first.index}" + (f" of client {first.client}" if first.client else "")
    summary = (
        f"not confirmed by the link: {number} of {confirmation.checked} exchanges that client {ends.client} "
        f"calls completed with server {ends.server}; {which}: {first.reason}"
    )
    return "\n".join([summary, *_printed(scenario, folder)])


def _printed(scenario: Scenario, folder: Path) -> Iterator[str]:
    """The last lines of each third-party program, for either end may be to blame; of the client if there is none."""
    ends = scenario.implementation
    programs = {Role.CLIENT: ends.client, Role.SERVER: ends.server}
    suspects = [role for role, name in programs.items() if name != BUILTIN] or [Role.CLIENT]
    for role in suspects:
        yield f"{role.value} {programs[role]}:"
        yield from (f"  {line}" for line in printed(folder / role.value, events=False))
