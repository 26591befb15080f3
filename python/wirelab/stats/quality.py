"""The quality of a scenario: the worst of what it shares a link or a machine with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from wirelab.schema.estimates import AnalysedScenario, CertificateRecord, Grade, LinkRecord
from wirelab.stats.link.grade import GRADES, NOT_MEASURED


def of_scenario(
    scenario: AnalysedScenario, link_name: str, links: Iterable[LinkRecord], certificates: Iterable[CertificateRecord]
) -> tuple[Grade, str] | None:
    """The worst of its links, of links that all share, of its endpoints' CPU waiting and of an overload, with the
    reason; None without any.
    """
    found = [*_of_links(link_name, links), *((each["flag"], each["why"]) for each in shared(certificates))]
    if (waits := scenario["endpoints"]) is not None:
        found.append((waits["flag"], waits["why"]))
    if (offered := scenario.get("offered")) is not None and not offered["keeps_up"]:
        found.append((offered["flag"], offered["why"]))
    return max(found, key=lambda each: GRADES.index(each[0]), default=None)


def shared(certificates: Iterable[CertificateRecord]) -> Iterator[CertificateRecord]:
    """Those of links of a topology that belong to no scenario alone."""
    return (each for each in certificates if each["topology_links"] and not each["link_names"])


def _of_links(link_name: str, links: Iterable[LinkRecord]) -> Iterator[tuple[Grade, str]]:
    for row in links:
        if row["link_name"] == link_name and row["flag"] != NOT_MEASURED:
            yield row["flag"], row["why"]
