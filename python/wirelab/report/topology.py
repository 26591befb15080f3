"""The checks of each link of a topology: the client's link, a link behind a proxy, a medium shared by many hosts."""

from __future__ import annotations

from wirelab.report import certificate
from wirelab.report.blocks import Block, Cell, Column, Prose, Table, dash
from wirelab.report.campaign import Campaign
from wirelab.schema import LinkSpec, is_netem

CLIENT = "client"
COLUMNS = (
    Column("link", numeric=False),
    Column("hosts", numeric=False),
    Column("calibrated by probes", numeric=False),
    Column("compared with its configuration in the trials", numeric=False),
    Column("logs replayed", numeric=False),
)
TONES = {"good": "good", "limited": "unsure", "unusable": "bad"}


def topology(campaign: Campaign) -> list[Block]:
    """A row for each link with its checks; None for a plain client and server."""
    rows: dict[tuple[bool, str, str], list[Cell]] = {}
    for scenario in campaign.scenarios:
        for link in scenario.plan.topology:
            own = link.link is None
            what = scenario.plan.link if link.link is None else link.link
            name = f"{link.name} ({scenario.plan.link_name})" if own else link.name
            hosts = " to ".join(", ".join(side) for side in (link.near, link.far))
            found = _certificate(campaign, scenario.plan.link_name if own else link.name, own=own)
            row = [Cell(name), Cell(hosts), found, _accuracy(own=own), _replayed(campaign, what)]
            rows.setdefault((not own, name, hosts), row)
    if not rows:
        return []
    words = "Probes are sent only between the client and its peer, before the first block"
    if stations := _stations(campaign):
        words += (
            f"; the effect of {', '.join(stations)} on the medium shared with the client is not calibrated (the table "
            "of background traffic has their traffic)"
        )
    return [
        Table("Links of the topology, and the checks of each", COLUMNS, [rows[key] for key in sorted(rows)]),
        Prose(f"{words}."),
    ]


def _certificate(campaign: Campaign, name: str, *, own: bool) -> Cell:
    every = campaign.estimates["certificates"]
    found = [each for each in every if name in (each["link_names"] if own else each["topology_links"])]
    if not found:
        return dash("not probed, so not calibrated")
    worst = max(found, key=lambda each: list(TONES).index(each["grade"]))
    return Cell(f"{worst['grade']}; {certificate.summary(worst['lines'])}", tone=TONES[worst["grade"]])


def _accuracy(*, own: bool) -> Cell:
    if own:
        return Cell("yes, each direction")
    return dash("only the client's link is compared with its configuration in each trial")


def _replayed(campaign: Campaign, link: LinkSpec) -> Cell:
    if is_netem(link):
        return dash("netem keeps no log")
    return dash("no log was replayed") if campaign.estimates["replay"] is None else Cell("yes, every packet")


def _stations(campaign: Campaign) -> list[str]:
    """The other hosts on the client's side of its link."""
    links = [link for scenario in campaign.scenarios for link in scenario.plan.topology[:1]]
    return list(dict.fromkeys(host for link in links for host in link.near if host != CLIENT))
