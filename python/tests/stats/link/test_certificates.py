"""What a certificate means for the tables of its link."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from wirelab.schema import LinkSpec
from wirelab.stats.link import certificates as link_certificates
from wirelab.stats.link.certificates import with_certificates

ROW = {"link_name": "mine", "direction": "uplink", "flag": "good", "why": "as configured"}


def certificate(**line: Any) -> dict[str, Any]:
    given = {"name": "rate", "direction": "uplink", "verdict": "out", "grade": "limited", **line}
    return {"link_names": ["mine"], "grade": given["grade"], "lines": [given]}


def flag(row: dict[str, Any], found: dict[str, Any]) -> tuple[str, str]:
    [flagged] = with_certificates([row], [found])
    return flagged["flag"], flagged["why"]


def test_a_line_that_is_out_flags_its_direction() -> None:
    assert flag(ROW, certificate()) == ("limited", "probes found out of tolerance: rate")
    assert flag(ROW, certificate(grade="unusable", direction="both"))[0] == "unusable"
    assert flag(ROW, certificate(direction="downlink"))[0] == "good"
    assert flag({**ROW, "link_name": "other"}, certificate())[0] == "good"


def test_a_worse_flag_stays_and_an_equal_one_gets_both_reasons() -> None:
    assert flag({**ROW, "flag": "unusable", "why": "lost"}, certificate()) == ("unusable", "lost")
    both = flag({**ROW, "flag": "limited", "why": "late"}, certificate())
    assert both == ("limited", "late; probes found out of tolerance: rate")


def test_a_link_behind_a_proxy_is_certified_under_its_name_in_the_topology(tmp_path: Path, monkeypatch: Any) -> None:
    loss = {"kind": "loss", "probability": 0.5}
    link, wire = (LinkSpec.model_validate({"uplink": up, "downlink": []}) for up in ([], [loss]))
    others = [SimpleNamespace(name="first", link=None), SimpleNamespace(name="wire", link=wire)]
    scenario = SimpleNamespace(link=link, link_name="air", topology=others)
    probed = {tmp_path / "a": SimpleNamespace(link=link), tmp_path / "b": SimpleNamespace(link=wire)}
    line = {"name": "rate", "direction": "both", "verdict": "out", "grade": "limited"}
    judged = SimpleNamespace(grade="limited", records=lambda: [line])
    monkeypatch.setattr("wirelab.metrics.probes.probed_folders", lambda _: list(probed))
    monkeypatch.setattr("wirelab.metrics.probes.read_probes", probed.get)
    monkeypatch.setattr(link_certificates, "checks", lambda *_: [])
    monkeypatch.setattr(link_certificates, "certify", lambda found: [judged for _ in found])
    dataset: Any = SimpleNamespace(scenarios=[scenario], folder=tmp_path, link_facts=lambda _: None)
    first, second = link_certificates.link_certificates(dataset)
    assert (first["link_names"], first["topology_links"]) == (["air"], [])
    assert (second["link_names"], second["topology_links"]) == ([], ["wire"])
    assert (second["flag"], second["why"]) == ("limited", "probes found out of tolerance: rate")


def test_cpu_contention_during_probes_does_not_lower_the_quality_of_trials() -> None:
    assert flag(ROW, certificate(name="timing error p99"))[0] == "good"
