"""A baseline in one file says what its campaign says."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.test_compare import OPTIONS
from tests.stats.compare.test_clocks import edit_plan, virtually
from tests.synthetic import write_campaign
from wirelab.answer.compare.kept import keep, opened, require_name
from wirelab.answer.compare.pairing import between
from wirelab.answer.compare.record import Campaign, changes
from wirelab.errors import WirelabError
from wirelab.schema.campaign import PACKET_LOG, TRIALS
from wirelab.stats.analyze import analyze


def test_a_comparison_with_a_kept_campaign_is_that_with_its_folder(tmp_path: Path) -> None:
    old, new = (write_campaign(tmp_path / name, seed=seed, **OPTIONS) for seed, name in enumerate(("old", "new")))
    for folder in (old, new):
        analyze(folder)
    kept = keep(old, tmp_path / "old.tar.xz")
    assert kept.stat().st_size < 100_000
    with opened(kept) as folder, opened(old) as whole:
        assert whole == old
        found = [
            changes(
                Campaign.read(each),
                Campaign.read(new),
                between(Campaign.read(each).plan, Campaign.read(new).plan),
                0.05,
            )
            for each in (folder, whole)
        ]
    assert found[0] == found[1]


def test_packet_logs_are_kept_under_the_virtual_clock_alone(tmp_path: Path) -> None:
    campaign = write_campaign(tmp_path / "c", **OPTIONS)
    for trial in (campaign / TRIALS).iterdir():
        (trial / PACKET_LOG).write_bytes(b"log")
    with opened(keep(campaign, tmp_path / "live.tar.xz")) as folder:
        assert not (folder / TRIALS).exists()
    edit_plan(campaign, virtually)
    with opened(keep(campaign, tmp_path / "virtual.tar.xz")) as folder:
        assert len(list(folder.glob(f"{TRIALS}/*/{PACKET_LOG}"))) == len(list((campaign / TRIALS).iterdir()))


def test_a_name_that_nothing_would_take_again_is_refused() -> None:
    require_name(Path("base.tar.xz"))
    with pytest.raises(WirelabError, match=r"--keep: the name does not end in \.tar\.xz \(base\.zip\)"):
        require_name(Path("base.zip"))
