"""The campaign that an earlier run of the same experiment left in a folder."""

from __future__ import annotations

import shutil
from pathlib import Path

from wirelab.errors import WirelabError
from wirelab.runner.lock import locked
from wirelab.schema.campaign import PLAN, read_plan
from wirelab.schema.plan import Plan


def remove_last(folder: Path, plan: Plan) -> None:
    """Remove the campaign of the same experiment in this folder: its trials say nothing of those to come."""
    try:
        name = read_plan(folder).experiment.name if (folder / PLAN).is_file() else None
    except WirelabError:  # of another build: it is set aside
        return
    if name == plan.experiment.name:
        with locked(folder):
            shutil.rmtree(folder)
