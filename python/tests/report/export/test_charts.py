"""The charts of a report under names."""

from __future__ import annotations

from pathlib import Path

from tests.report import campaigns
from wirelab.report.campaign import load
from wirelab.report.export.charts import basis, named_charts


def test_each_chart_has_a_name_of_its_own_a_legend_and_what_it_rests_on(tmp_path: Path) -> None:
    folder = campaigns.write(tmp_path / "c", choices={"link.rtt": ("20 ms", "50 ms")})
    campaign = load(folder, folder)
    found = named_charts(campaign)
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
    assert f"n = {campaigns.EXCHANGES:,} exchanges in each scenario." in found
    assert found.startswith("Intervals are 95 %.")
    assert "http1: builtin" in found
    assert "Wirelab 0.1.0, Linux 6.1, SHA-256 of estimates " in found
