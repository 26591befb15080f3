"""Two enumerations of made exchanges."""

from __future__ import annotations

from copy import deepcopy

import pytest

from tests.report.exact.test_page import _record as enumeration
from wirelab.answer.compare.enumerated import change_of, exact_changes
from wirelab.errors import WirelabError
from wirelab.schema.changes import Change
from wirelab.schema.exact import Exact, ExactBounds
from wirelab.schema.files import FILES

NAMES = ("before", "after")


def bounds(low: float, high: float) -> ExactBounds:
    return {"low": low, "high": high}


@pytest.mark.parametrize(
    ("old", "new", "change"),
    [
        ((0.01, 0.011), (0.012, 0.013), "larger"),
        ((0.01, 0.011), (0.0111, 0.013), "inconclusive"),
        ((0.012, 0.013), (0.01, 0.011), "smaller"),
        ((0.01, 0.01), (0.0104, 0.0104), "unchanged"),
        ((0.01, 0.05), (0.01, 0.05), "unchanged"),
        ((0.01, 0.05), (0.01, 0.04), "inconclusive"),
        ((0.0, 0.0), (0.0, 0.0), "unchanged"),
        ((0.0, 0.0), (0.1, 0.1), "larger"),
    ],
)
def test_a_probability_changes_by_its_bounds(
    old: tuple[float, float], new: tuple[float, float], change: Change
) -> None:
    assert change_of(bounds(*old), bounds(*new), 0.05) == change


def test_the_same_enumeration_is_unchanged() -> None:
    found = exact_changes(enumeration(), enumeration(), NAMES, 0.0)
    assert FILES["exact-changes"].validate_python(found) == found
    assert found["verdict"] == "unchanged"
    assert [each["name"] for each in found["scenarios"]] == ["coap", "h2"]
    assert all(each["first"] is None and not each["prices"] for each in found["scenarios"])
    assert found["asked"] == ["1 %"]


def changed() -> Exact:
    """The second packet of h2 is larger, its loss costs more, and a probability is larger."""
    new = deepcopy(enumeration())
    h2 = new["scenarios"][1]
    h2["packets"][0]["delay_s"] = (h2["packets"][0]["delay_s"] or 0.0) + 1.0
    h2["packets"][1]["size"] += 1184
    for each in h2["beyond"]:
        each["bounds"] = bounds(each["bounds"]["low"] * 2, each["bounds"]["high"] * 2)
    return new


def test_what_differs_is_named() -> None:
    found = exact_changes(enumeration(), changed(), NAMES, 0.05)
    assert found["verdict"] == "slower"
    coap, h2 = found["scenarios"]
    assert coap["first"] is None
    assert h2["first"] is not None
    assert h2["first"].startswith("packet 2: ")
    assert ", becomes " in h2["first"]
    assert [each["packet"] for each in h2["prices"]] == [1]
    assert "larger" in {each["change"] for each in h2["probabilities"]}


def test_other_packets_are_a_change_even_if_no_probability_changes() -> None:
    new = deepcopy(enumeration())
    new["scenarios"][0]["packets"].pop()
    found = exact_changes(enumeration(), new, NAMES, 0.05)
    assert found["verdict"] == "changed"
    assert found["scenarios"][0]["first"] is not None
    assert " is gone: " in found["scenarios"][0]["first"]


def test_other_links_exchanges_or_scenarios_are_refused() -> None:
    old, new = enumeration(), enumeration()
    with pytest.raises(WirelabError, match="before has the links each way 10 ms, and after each way 20 ms"):
        exact_changes(old, {**new, "links": ["each way 20 ms"]}, NAMES, 0.05)
    with pytest.raises(WirelabError, match="exchanges"):
        exact_changes(old, {**new, "workloads": ["1 kB"]}, NAMES, 0.05)
    for each in new["scenarios"]:
        each["name"] += "x"
    with pytest.raises(WirelabError, match="no scenario in common") as raised:
        exact_changes(old, new, NAMES, 0.05)
    assert raised.value.hint == "the first has coap, h2, the second coapx, h2x"


def test_other_kernels_and_open_bounds_are_warnings() -> None:
    found = exact_changes({**enumeration(), "kernel": "7.1", "bounded": False}, enumeration(), NAMES, 0.05)
    assert "The kernels differ: 7.1, then 7.2." in found["warnings"]
    assert any(each.startswith("The old enumeration ended before") for each in found["warnings"])
