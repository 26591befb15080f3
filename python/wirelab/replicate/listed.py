"""The campaigns that a file of claims lists, compared with those that were given."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from wirelab.claims.campaigns import CLOCK, CampaignTable
from wirelab.claims.load import Claims
from wirelab.claims.samples import same_level
from wirelab.experiment.file.sets import read_value, split_values
from wirelab.replicate.source import Source
from wirelab.schema.replication import CampaignSummary

NOT_NAMED = "not named with --from"


def not_given(claims: Claims, sources: Sequence[Source]) -> list[str]:
    """Each campaign of the list that is not among the sources, in words."""
    pairs = _found(claims, sources)
    return [f"{words(campaign)}: {NOT_NAMED}" for campaign, source in pairs if source is None]


def in_order(claims: Claims, sources: Sequence[Source]) -> list[Source]:
    """The sources in the order of the list, those that are not in it behind: in whatever order they were named, the
    result is the same.
    """
    listed = [source for _, source in _found(claims, sources) if source is not None]
    return [*listed, *(source for source in sources if all(source is not each for each in listed))]


def _found(claims: Claims, sources: Sequence[Source]) -> list[tuple[CampaignTable, Source | None]]:
    """The source of each campaign of the list. A source stands for one of the list."""
    rest, found = [*sources], list[tuple[CampaignTable, Source | None]]()
    for campaign in claims.file.campaign:
        index = next((index for index, each in enumerate(rest) if _is(each.summary, campaign)), None)
        found.append((campaign, None if index is None else rest.pop(index)))
    return found


def words(campaign: CampaignTable) -> str:
    """`milosevic2021, virtual clock, link.rtt=2 ms (the primary interpretation)`."""
    sets = (f"{path}={levels}" for path, levels in campaign.sets.items())
    return ", ".join([campaign.experiment, f"{campaign.clock} clock", *sets]) + f" ({campaign.why})" * bool(
        campaign.why
    )


def _is(given: CampaignSummary, campaign: CampaignTable) -> bool:
    sets = {path: levels for path, levels in given["sets"].items() if path != CLOCK}
    return (
        (given["experiment"], given["clock"]) == (campaign.experiment, campaign.clock)
        and sets.keys() == campaign.sets.keys()
        and all(_same(sets[path], text) for path, text in campaign.sets.items())
    )


def _same(levels: Sequence[str], text: str) -> bool:
    pairs = zip_longest(levels, (read_value(part) for part in split_values(text)))
    return all(same_level(one, other) for one, other in pairs)
