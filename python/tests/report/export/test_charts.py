"""The charts of a report under names."""

from __future__ import annotations

from pathlib import Path

from tests.report import campaigns
from wirelab.report.campaign import load
from wirelab.report.export.charts import basis, exported


def test_each_chart_has_a_name_of_its_own_a_legend_and_what_it_rests_on(tmp_path: Path) -> None:
    folder = campaigns.write(tmp_path / "c", choices={"link.rtt": ("20 ms", "50 ms")})
    campaign = load(folder, folder)
    found, _ = exported(campaign)
    names = [each.name for each in found]
    assert len(set(names)) == len(names)
    assert {"delays-link-rtt-50-ms-clean", "delays-link-rtt-50-ms-lossy"} <= {*names}
    for each in found:
        assert each.caption.endswith(basis(campaign))
        assert each.drawn.count("<svg") in {1, 2}
        assert any(entry.color in each.drawn for entry in each.entries)


def test_what_it_rests_on_names_n_level_programs_kernel_and_digest(tmp_path: Path) -> None:
    folder = campaigns.write(tmp_path / "c")
    found = basis(load(folder, folder))
    assert found.startswith("Intervals are 95 %. ")
    completed = {each["denominators"]["completed"] for each in campaigns.read(folder, "estimates.json")["scenarios"]}
    assert len(completed) > 1
    assert (
        f"of {4 * campaigns.EXCHANGES} exchanges completed, {campaigns.EXCHANGES} in each scenario, in 8 trials."
        in found
    )
    assert "Quality" not in found
    assert "http1: builtin" in found
    assert "Wirelab 0.1.0, Linux 6.1, SHA-256 of estimates " in found


def test_the_digest_is_that_of_the_last_run_alone(tmp_path: Path) -> None:
    folder = campaigns.write(tmp_path / "c")
    record = campaigns.read(folder, "campaign.json")
    run = {"began": "2026-11-21T10:00:00Z", "ended": "2026-11-21T10:01:00Z", "claims_sha256": None}
    for last, words in (({**run, "digest": "ab" * 32}, "records abababababab"), ({**run, "ended": None}, "estimates ")):
        campaigns.store(folder, "campaign.json", {**record, "runs": [{**run, "digest": "cd" * 32}, last]})
        assert f"SHA-256 of {words}" in basis(load(folder, folder))


def test_two_programs_of_one_protocol_are_both_named(tmp_path: Path) -> None:
    folder = campaigns.write(tmp_path / "c", factors={"server.implementation": ("builtin", "nginx")})
    plan = campaigns.read(folder, "plan.json")
    for scenario in plan["scenarios"]:
        scenario["implementation"]["server"] = scenario["levels"]["server.implementation"]
    campaigns.store(folder, "plan.json", plan)
    found = basis(load(folder, folder))
    assert found.count("server nginx") == 2


def test_tables_without_a_chart_have_names_too(tmp_path: Path) -> None:
    folder = campaigns.write(tmp_path / "c")
    _, tables = exported(load(folder, folder))
    assert "outcomes-table" in tables
