"""Changes of programs since a campaign's earlier trials."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from wirelab.schema.campaign import JOURNAL, PLAN, read_plan, scan_journal
from wirelab.schema.plan import Plan
from wirelab.schema.record import CampaignRecord


def changed_programs(folder: Path, plan: Plan) -> list[str]:
    """A sentence for each program whose contents are not those of the campaign's last run, with how many trials that
    leaves behind: their scenarios have other keys now.
    """
    if not (folder / PLAN).is_file():
        return []
    earlier = read_plan(folder)
    return list(_changed(folder, earlier, plan))


def changed_versions(earlier: CampaignRecord | None, now: CampaignRecord) -> list[str]:
    """A sentence for each program that said another version when the campaign ran last."""
    if earlier is None:
        return []
    pairs = (
        (name, earlier.implementations.get(name), program.version) for name, program in now.implementations.items()
    )
    return [
        f"{name} is now {new}; earlier trials of this campaign are of {old.version}"
        for name, old, new in pairs
        if old is not None and None not in {old.version, new} and old.version != new
    ]


def _changed(folder: Path, earlier: Plan, plan: Plan) -> Iterator[str]:
    digests = earlier.programs
    keys = {scenario.key for scenario in plan.scenarios}
    over = {entry.trial: entry for entry in scan_journal(folder / JOURNAL).entries}
    for name, digest in plan.programs.items():
        if digests.get(name, digest) == digest:
            continue
        left = {s.key for s in earlier.scenarios if name in (s.implementation.client, s.implementation.server)} - keys
        trials = sum(entry.status.final and entry.scenario in left for entry in over.values())
        yield (
            f"{name} has changed since the last run (its entry, or a file that this names): "
            f"{trials} earlier trials of it do not count"
        )
