"""Bounds of a campaign as JUnit XML, which CI systems show as tests."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from wirelab.report.campaign import Campaign
from wirelab.report.numbers import Estimate, with_unit
from wirelab.report.sections.expectations import unit_of
from wirelab.schema.estimates import ExpectationRecord

_TAGS = {"missed": "failure", "inconclusive": "skipped"}


def of_campaign(campaign: Campaign) -> str:
    """A test for each bound and scenario: one that is missed fails, and one that is inconclusive is skipped."""
    records = campaign.estimates.get("expectations", [])
    counts = {tag: sum(each["verdict"] == verdict for each in records) for verdict, tag in _TAGS.items()}
    suite = ET.Element(
        "testsuite", name=campaign.experiment.name, tests=str(len(records)), failures=str(counts["failure"]),
        skipped=str(counts["skipped"]), errors="0",
    )  # fmt: skip
    for each in records:
        case = ET.SubElement(suite, "testcase", classname=each["name"], name=f"{each['subject']} {each['bound']}")
        if (tag := _TAGS.get(each["verdict"])) is not None:
            ET.SubElement(case, tag, message=_message(each))
    ET.indent(suite)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(suite, encoding="unicode")}\n'


def _message(record: ExpectationRecord) -> str:
    found = Estimate.of(record["estimate"])
    measured = None if found is None else f"{with_unit(found, unit_of(record))}, n = {found.n:,}"
    return ": ".join(filter(None, [measured, record["why"]])) or record["verdict"]
