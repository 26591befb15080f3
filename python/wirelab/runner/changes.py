"""What a campaign's earlier trials were measured with that is not what is there now."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from wirelab.schema.campaign import FACTS, JOURNAL, PLAN, read_journal, read_plan
from wirelab.schema.plan import Plan


def changed_programs(folder: Path, plan: Plan) -> list[str]:
    """A sentence for each program whose contents are not those of the campaign's last run, with how many trials that
    leaves behind: their scenarios have other keys now.
    """
    if not (folder / PLAN).is_file():
        return []
    earlier = read_plan(folder)
    return list(_changed(folder, earlier, plan))


def changed_versions(folder: Path, now: Mapping[str, Any]) -> list[str]:
    """A sentence for each program that said another version when the campaign ran last."""
    path = folder / FACTS
    if not path.is_file():
        return []
    earlier = json.loads(path.read_text(encoding="utf-8")).get("implementations", {})
    versions = {name: (earlier.get(name, {}).get("version"), program["version"]) for name, program in now.items()}
    return [
        f"{name} is now {new}; earlier trials of this campaign are of {old}"
        for name, (old, new) in versions.items()
        if None not in {old, new} and old != new
    ]


def _changed(folder: Path, earlier: Mapping[str, Any], plan: Plan) -> Iterator[str]:
    digests = earlier.get("programs", {})
    keys = {scenario.key for scenario in plan.scenarios}
    over = {entry.trial: entry for entry in read_journal(folder / JOURNAL)[0]}
    for name, digest in plan.programs.items():
        if digests.get(name, digest) == digest:
            continue
        left = {s["key"] for s in earlier["scenarios"] if name in s["implementation"].values()} - keys
        trials = sum(entry.status.final and entry.scenario in left for entry in over.values())
        yield (
            f"{name} has changed since the last run (its entry, or a file that this names): "
            f"{trials} earlier trials of it do not count"
        )
