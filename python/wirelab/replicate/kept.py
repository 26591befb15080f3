"""Records of replications, and what they need of campaigns, as files: those that ship with Wirelab, and new ones."""

from __future__ import annotations

import json
from collections.abc import Collection
from importlib import resources
from pathlib import Path

from wirelab.errors import WirelabError, did_you_mean
from wirelab.launcher import launched
from wirelab.schema.archive import SUFFIX, pack
from wirelab.schema.campaign import JOURNAL, PLAN, read_plan
from wirelab.schema.estimates import ESTIMATES
from wirelab.schema.record import FACTS
from wirelab.schema.replaced import replace_file
from wirelab.schema.replication import Replication, read_replication
from wirelab.schema.verdicts import VERDICTS

SHIPPED = Path(str(resources.files("wirelab.data"))) / "replications"


def kept(papers: Collection[str] = (), folder: Path = SHIPPED) -> list[Replication]:
    """The kept records of these papers, or of all. Raises `WirelabError` without any, or for a paper without one."""
    files = {path.stem: path for path in sorted(folder.glob("*.json"))}
    hint = f"{launched('replicate PAPER --keep FOLDER')} writes one"
    if not files:
        raise WirelabError(f"no replication is kept in {folder}", hint=hint)
    for paper in papers:
        if paper not in files:
            raise WirelabError(f"no replication of '{paper}' is kept", hint=did_you_mean(paper, files))
    return [read_replication(path) for name, path in files.items() if not papers or name in papers]


def write_record(record: Replication, path: Path) -> Path:
    """Write a record in one step, with its folder. Raises `WirelabError` where that is not possible."""
    text = json.dumps(record, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, f"{text}\n")
    except OSError as error:
        raise WirelabError(f"cannot write {path}: {error.strerror}") from error
    return path


def keep_campaign(campaign: Path, folder: Path) -> Path:
    """Write what a later replication reads of it to a folder, under the campaign's name. Its trials are left out."""
    names = [PLAN, FACTS, JOURNAL, ESTIMATES, VERDICTS, read_plan(campaign).experiment.claims]
    path = folder / f"{campaign.resolve().name}{SUFFIX}"
    return pack(campaign, (name for name in names if name is not None), path)
