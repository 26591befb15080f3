"""The runs by which the claims of a file are judged, as data: experiments, the clock, and what is set in each.

They decide no verdict and stand outside the frozen digest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from wirelab.claims.part import Table, as_compared
from wirelab.claims.settable import Mistakes, refusals
from wirelab.errors import WirelabError, did_you_mean
from wirelab.experiment.file.positions import Path as KeyPath
from wirelab.experiment.file.problems import shown
from wirelab.experiment.file.sets import read_value, split_values
from wirelab.experiment.library import experiment_names
from wirelab.launcher import launched

if TYPE_CHECKING:
    from wirelab.claims.model import ClaimsFile
    from wirelab.experiment.file.source import Source

CLOCK = "clock"
AMOUNTS = frozenset({"workload.exchanges", "workload.loads", "workload.messages"})
HOW = ("stop", "seed", "capture", "vary-choices")
"""What may be set without being a choice: how much is measured, and how."""


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


def cannot_be_run(file: ClaimsFile, folder: Path) -> Mistakes:
    """Experiments of campaigns and of future work that are not there, and what those of campaigns cannot be set to.
    Other mistakes of an experiment are found when it is checked itself.
    """
    for index, work in enumerate(file.future):
        if work.run is not None and (unknown := _unknown(work.run.partition(" ")[0], folder)) is not None:
            yield ("future", index, "run"), *unknown
    for index, campaign in enumerate(file.campaign):
        name, at = campaign.experiment, ("campaign", index)
        if (unknown := _unknown(name, folder)) is not None:
            yield (*at, "experiment"), *unknown
        elif campaign.sets and (source := _source(name, folder)) is not None:
            yield from _not_settable(campaign, file, source, at)


def _unknown(name: str, folder: Path) -> tuple[str, str | None] | None:
    """What is wrong with the name of an experiment, if it neither ships nor stands in the folder, and a hint."""
    names = experiment_names()
    if name in names or (folder / f"{name}.toml").is_file():
        return None
    return f"no such experiment ({shown(name)})", did_you_mean(name, names, launched("list experiments"))


def sources(file: ClaimsFile, folder: Path) -> Iterator[Source]:
    """The experiments of the campaigns that can be read, each once."""
    for name in dict.fromkeys(campaign.experiment for campaign in file.campaign):
        if (source := _source(name, folder)) is not None:
            yield source


def _source(name: str, folder: Path) -> Source | None:
    """An experiment that ships, or that stands in a folder; None if it cannot be read."""
    from wirelab.experiment.file.source import read_source

    try:
        return read_source(name if name in experiment_names() else str(folder / f"{name}.toml"))
    except WirelabError:
        return None


def _not_settable(campaign: CampaignTable, file: ClaimsFile, source: Source, at: KeyPath) -> Mistakes:
    """Paths and levels that `--set` refuses, and paths that move the set-up and no point of the grid of choices."""
    refused = dict(refusals(source, campaign.sets, campaign.clock))
    own = (table for name in ("factors", "choices") if isinstance(table := source.document.get(name), dict))
    known = {*file.grid, *file.choices, *(choice.path for choice in file.choice), *chain.from_iterable(own)}
    for path in campaign.sets:
        if path in refused:
            yield (*at, "set", path), *refused[path]
        elif path not in known | AMOUNTS and path.split(".")[0] not in {CLOCK, *HOW}:
            what = f"is varied neither by the claims nor by {campaign.experiment} ({shown(campaign.sets[path])})"
            yield (*at, "set", path), what, f'name its levels: [[choice]] path = "{path}"'
