"""What a comparison needs of a campaign, in one small file: a baseline that a repository keeps."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from wirelab.errors import Where, WirelabError
from wirelab.schema import Clock
from wirelab.schema.archive import SUFFIX, is_archive, pack, unpacked
from wirelab.schema.campaign import JOURNAL, PACKET_LOG, PLAN, TRIALS, read_plan
from wirelab.schema.estimates import ESTIMATES
from wirelab.schema.record import FACTS

TABLES = ("exchanges.parquet", "trials.parquet")


def require_name(path: Path) -> None:
    """Raises `WirelabError` for a file that no comparison would take for a kept campaign."""
    if not is_archive(path):
        raise WirelabError(f"the name does not end in {SUFFIX} ({path})", Where("--keep"), f"such as baseline{SUFFIX}")


def keep(campaign: Path, path: Path) -> Path:
    """Write it. Packet logs are in it under the virtual clock, where they are compared."""
    plan = read_plan(campaign)
    names = [PLAN, FACTS, JOURNAL, ESTIMATES, *TABLES]
    if plan.clock is Clock.VIRTUAL:
        trials = sorted(trial.trial for block in plan.blocks for trial in block.trials)
        names += [f"{TRIALS}/{trial}/{PACKET_LOG}" for trial in trials]
    return pack(campaign, names, path)


@contextmanager
def opened(path: Path) -> Iterator[Path]:
    """The folder of a campaign, or of what is kept of one."""
    if is_archive(path):
        with unpacked(path) as folder:
            yield folder
    else:
        yield path
