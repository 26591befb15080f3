"""Certificates of a campaign's links, from the probes before its first block, and what they mean for its tables."""

from __future__ import annotations

from collections.abc import Iterable

from wirelab.schema import backend_of, link_key
from wirelab.schema.campaign import PROBES
from wirelab.schema.estimates import CertificateLine, CertificateRecord, Grade, LinkRecord
from wirelab.stats.dataset import Dataset
from wirelab.stats.link.certificate import certify
from wirelab.stats.link.grade import GRADES
from wirelab.stats.link.probes.checks import checks
from wirelab.stats.link.probes.delay import INTO_NETEM

OF_THE_MOMENT = {"timing error p99", "end to end", INTO_NETEM}
"""Lines that say how busy the machine was with the probes; each trial has its own timing error."""


def link_certificates(dataset: Dataset) -> list[CertificateRecord]:
    """One for each link that was probed; all their lines are one family.

    `link_names` are those that it has as the client's link, `topology_links` those that it has elsewhere in a topology.
    Of the latter there are no rows to flag, so what probes found out of tolerance there is said here.
    """
    from wirelab.metrics.probes import probed_folders, read_probes

    names: dict[str, set[str]] = {}
    elsewhere: dict[str, set[str]] = {}
    for scenario in dataset.scenarios:
        names.setdefault(link_key(scenario.link), set()).add(scenario.link_name)
        for each in scenario.topology:
            if each.link is not None:
                elsewhere.setdefault(link_key(each.link), set()).add(each.name)
    probed = [(path, read_probes(path)) for path in probed_folders(dataset.folder)]
    # A link that the experiment no longer has was probed for an earlier run.
    probed = [(path, probes) for path, probes in probed if link_key(probes.link) in {*names, *elsewhere}]
    judged = certify([checks(probes, dataset.link_facts(probes.link)) for _, probes in probed])
    found: list[CertificateRecord] = []
    for (path, probes), certificate in zip(probed, judged, strict=True):
        key, lines = link_key(probes.link), certificate.records()
        flag, why = _out(lines)
        found.append(
            {
                "link_names": sorted(names.get(key, ())),
                "topology_links": sorted(elsewhere.get(key, ())),
                "flag": flag,
                "why": why,
                "probes": f"{PROBES}/{path.name}",
                "backend": backend_of(probes.link),
                "grade": certificate.grade,
                "lines": lines,
            }
        )
    return found


def with_certificates(rows: Iterable[LinkRecord], certificates: Iterable[CertificateRecord]) -> list[LinkRecord]:
    """Rows of links, each flagged as its probes say if that is worse."""
    found = list(certificates)
    return [_flagged(row, [each for each in found if row["link_name"] in each["link_names"]]) for row in rows]


def _flagged(row: LinkRecord, certificates: Iterable[CertificateRecord]) -> LinkRecord:
    lines = [line for each in certificates for line in each["lines"] if line["direction"] in {row["direction"], "both"}]
    worst, said = _out(lines)
    own = row["flag"]
    if worst == GRADES[0] or (own != "not measured" and GRADES.index(worst) < GRADES.index(own)):
        return row
    why = f"{row['why']}; {said}" if own == worst else said
    return {**row, "flag": worst, "why": why}


def _out(lines: Iterable[CertificateLine]) -> tuple[Grade, str]:
    """A link's quality by its calibration record, and the lines that lower it; None if it is the best."""
    out = [line for line in lines if line["verdict"] == "out" and line["name"] not in OF_THE_MOMENT]
    worst = max((line["grade"] for line in out), key=GRADES.index, default=GRADES[0])
    named = ", ".join(line["name"] for line in out if line["grade"] == worst != GRADES[0])
    return worst, f"probes found out of tolerance: {named}" if named else ""
