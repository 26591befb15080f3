"""What was checked of each link of a topology: of the client's, of one behind a proxy, of an air that many share."""

from __future__ import annotations

from wirelab.report import certificate
from wirelab.report.blocks import Block, Cell, Column, Prose, Table, dash
from wirelab.report.campaign import Campaign
from wirelab.schema import LinkSpec, is_netem

CLIENT = "client"
COLUMNS = (
    Column("link", numeric=False),
    Column("hosts", numeric=False),
    Column("certified by probes", numeric=False),
    Column("configured against measured in the trials", numeric=False),
    Column("logs replayed", numeric=False),
)
TONES = {"good": "good", "limited": "unsure", "unusable": "bad"}


def topology(campaign: Campaign) -> list[Block]:
    """A row for each link, with what was checked of it; nothing where a client and a server are alone."""
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
    words = "Probes go between the client and its peer alone, before the first block"
    if stations := _stations(campaign):
        words += (
            f": what {', '.join(stations)} did to the air that they share with the client is not certified, and what "
            "their traffic was is in the table of background traffic"
        )
    return [
        Table("Links of the topology, and what was checked of each", COLUMNS, [rows[key] for key in sorted(rows)]),
        Prose(f"{words}."),
    ]


def _certificate(campaign: Campaign, name: str, *, own: bool) -> Cell:
    every = campaign.estimates["certificates"]
    found = [each for each in every if name in (each["link_names"] if own else each["topology_links"])]
    if not found:
        return dash("not probed, so not certified")
    worst = max(found, key=lambda each: list(TONES).index(each["grade"]))
    return Cell(f"{worst['grade']}; {certificate.summary(worst['lines'])}", tone=TONES[worst["grade"]])


def _accuracy(*, own: bool) -> Cell:
    if own:
        return Cell("yes, each direction")
    return dash("only the client's link is set against what it was configured, trial by trial")


def _replayed(campaign: Campaign, link: LinkSpec) -> Cell:
    if is_netem(link):
        return dash("netem keeps no log")
    return dash("no log was replayed") if campaign.estimates["replay"] is None else Cell("yes, every packet")


def _stations(campaign: Campaign) -> list[str]:
    """Hosts on the client's side of its link beside it."""
    links = [link for scenario in campaign.scenarios for link in scenario.plan.topology[:1]]
    return list(dict.fromkeys(host for link in links for host in link.near if host != CLIENT))
