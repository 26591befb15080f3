"""Bounds of a campaign, and comparisons of two, as JUnit XML, which CI systems show as tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal
from xml.etree import ElementTree as ET

from wirelab.report.campaign import Campaign
from wirelab.report.compared import Case, Compared
from wirelab.report.model import Scenario
from wirelab.report.numbers import Estimate, with_unit
from wirelab.report.sections.expectations import unit_of
from wirelab.schema.estimates import ExpectationRecord

_TAGS: dict[str, Literal["failure", "skipped"]] = {"missed": "failure", "inconclusive": "skipped"}


def of_campaign(campaign: Campaign, compared: Compared | None = None) -> str:
    """A test for each scenario, which fails if no exchange completed, and one for each bound and scenario: one that is
    missed fails, and one that is inconclusive is skipped. A comparison of the campaign's sides has a suite of its own.
    """
    records = campaign.estimates.get("expectations", [])
    cases = [_completed(each) for each in campaign.scenarios if each.outcomes is not None]
    cases += [
        Case(each["name"], f"{each['subject']} {each['bound']}", _TAGS.get(each["verdict"]), _message(each))
        for each in records
    ]
    bounds = _suite(campaign.experiment.name, cases)
    if compared is None:
        return _text(bounds)
    both = ET.Element("testsuites")
    both.extend([bounds, _suite(compared.name, compared.cases)])
    return _text(both)


def _completed(scenario: Scenario) -> Case:
    ends = scenario.outcomes
    assert ends is not None
    words = f"{ends['completed']:,} of {ends['exchanges']:,} exchanges completed"
    return Case(scenario.name, "exchanges completed", None if ends["completed"] or ends["sent"] else "failure", words)


def of_comparison(compared: Compared) -> str:
    """A test for each comparison: one that is worse fails, and one that is inconclusive is skipped."""
    return _text(_suite(compared.name, compared.cases))


def _suite(name: str, cases: Sequence[Case]) -> ET.Element:
    counts = {tag: str(sum(each.tag == tag for each in cases)) for tag in _TAGS.values()}
    suite = ET.Element(
        "testsuite", name=name, tests=str(len(cases)), failures=counts["failure"], skipped=counts["skipped"],
        errors="0",
    )  # fmt: skip
    for each in cases:
        case = ET.SubElement(suite, "testcase", classname=each.of, name=each.name)
        if each.tag is not None:
            ET.SubElement(case, each.tag, message=each.message)
    return suite


def _text(root: ET.Element) -> str:
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _message(record: ExpectationRecord) -> str:
    found = Estimate.of(record["estimate"])
    measured = None if found is None else f"{with_unit(found, unit_of(record))}, n = {found.n:,}"
    return ": ".join(filter(None, [measured, record["why"]])) or record["verdict"]
