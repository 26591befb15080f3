"""The runs by which the claims of a file are judged, as data: experiments, the clock, and what is set in each.

They decide no verdict and stand outside the frozen digest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from wirelab.claims.part import Table, as_compared
from wirelab.errors import did_you_mean
from wirelab.experiment.file.positions import Path as KeyPath
from wirelab.experiment.file.problems import shown
from wirelab.experiment.file.sets import read_value, split_values
from wirelab.experiment.library import experiment_names
from wirelab.launcher import launched

if TYPE_CHECKING:
    from wirelab.claims.model import ClaimsFile

CLOCK = "clock"
Mistakes = Iterator[tuple[KeyPath, str, str | None]]
"""The key, a sentence that says what is wrong, and a hint."""


class CampaignTable(Table):
    """A run that the claims are judged by: an experiment that ships or that stands next to the file of claims, the
    clock, and what is set in it, as `--set` writes it (`"2 ms, 4 ms"` are two levels). `why` says what it is for.
    """

    experiment: str
    clock: Literal["live", "virtual"] = "live"
    sets: dict[str, str] = Field(default_factory=dict, alias="set")
    why: str | None = None

    @property
    def assignments(self) -> tuple[str, ...]:
        """What `--set` takes, the clock included."""
        return *(f"{path}={level}" for path, level in self.sets.items()), f"{CLOCK}={self.clock}"


def mistakes(file: ClaimsFile) -> Mistakes:
    """What is wrong without a look at experiments."""
    known = {**file.grid, **{choice.path: choice.levels for choice in file.choice}}
    for index, campaign in enumerate(file.campaign):
        at: KeyPath = ("campaign", index)
        if campaign in file.campaign[:index]:
            yield at, f"is a campaign already ({shown(campaign.experiment)})", None
        for path, text in campaign.sets.items():
            yield from _set(path, text, known, (*at, "set", path))


def _set(path: str, text: str, known: Mapping[str, list[str]], at: KeyPath) -> Mistakes:
    if path == CLOCK:
        yield at, "is a key of the campaign", f'write: clock = "{text}"'
    elif "=" in path or not path.strip() or not all(split_values(text)):
        yield at, f"is not PATH = LEVELS ({shown(text)})", 'such as "link.rtt" = "2 ms, 20 ms"'
    for level in split_values(text) if path in known else ():
        value = read_value(level)
        if isinstance(value, dict | list):
            continue
        if as_compared(value) not in map(as_compared, known[path]):
            yield at, f"unknown level of {path} ({shown(value)})", did_you_mean(level, known[path])


def unknown_experiments(file: ClaimsFile, folder: Path) -> Mistakes:
    """Experiments that neither ship nor stand in the folder of the file of claims."""
    names = experiment_names()
    for index, campaign in enumerate(file.campaign):
        name = campaign.experiment
        if name not in names and not (folder / f"{name}.toml").is_file():
            hint = did_you_mean(name, names, launched("list experiments"))
            yield ("campaign", index, "experiment"), f"no such experiment ({shown(name)})", hint
