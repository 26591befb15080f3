"""How many instructions does a packet take? Deterministic, so a change of code shows where a change of time drowns."""

from __future__ import annotations

from bench import instructions
from bench.results import Answer, Target
from bench.setup import Setup


def answer(setup: Setup) -> Answer:  # noqa: ARG001 (a tenth of the packets would count the same)
    """Next to the snapshot that is checked in."""
    found = Answer(
        "instructions", "Instructions per packet in the link, both directions alike, by valgrind", instructions.COLUMNS
    )
    if (why := instructions.missing()) is not None:
        found.notes.append(f"not counted: {why}")
        return found
    counted, kept = instructions.count(), instructions.snapshot()
    found.rows = instructions.rows(counted, kept)
    found.notes.append(f"counted with {counted.compiler}; {counted.cpu_features}")
    if not counted.comparable(kept):
        found.notes.append(f"the snapshot belongs to {kept.compiler}; {kept.cpu_features}: differences say nothing")
        return found
    largest = max(abs(change) for change in instructions.changes(counted, kept).values())
    found.targets.append(
        Target("largest change from the snapshot", "%", 100 * largest, "<=", 100 * instructions.TOLERANCE)
    )
    return found
