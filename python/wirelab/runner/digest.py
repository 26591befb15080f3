"""The digest of a campaign's records: under the virtual clock the same wherever, and however often, it is run."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

from wirelab.schema.campaign import TRIALS


def campaign_digest(campaign: Path, trials: Iterable[str]) -> str:
    """SHA-256 over every file of these trials, by name."""
    digest = hashlib.sha256()
    for trial in sorted(trials):
        for name, each in trial_digests(campaign, trial).items():
            digest.update(f"{trial}/{name} {each}\n".encode())
    return digest.hexdigest()


def trial_digests(campaign: Path, trial: str) -> dict[str, str]:
    """SHA-256 of each file of a trial, by its path in the trial's folder."""
    folder = campaign / TRIALS / trial
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
