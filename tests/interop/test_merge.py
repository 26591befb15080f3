"""Parts of one campaign, run apart, are the campaign that one run makes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest
from tests.interop.test_engine import digest_of
from tests.interop.test_faults import with_small_disk

if TYPE_CHECKING:
    from conftest import Bench

pytestmark = pytest.mark.guest

EXPERIMENT = """\
title = "A small experiment"
metric = "end-to-end-delay"
clock = "virtual"

[factors]
protocol = ["http1", "coap"]
link = ["clean", "lossy"]

[links]
clean = { rtt = "20 ms" }
lossy = { rtt = "20 ms", loss = "10 %" }

[workload]
kind = "telemetry"
message = "30 B"
exchanges = 5

[stop]
replicates = 3
"""
SMALL = "300k"
"""Of a disk on which no campaign has room."""
LANES = "link_lateness"
"""The timing error by the lane that a trial happened to get, which two runs do not share."""


def test_merged_shards_equal_one_run(bench: Bench) -> None:
    file = str(bench.experiment(EXPERIMENT))
    whole, parts = bench.folder / "whole", [bench.folder / f"part-{number}" for number in (1, 2, 3)]
    assert bench.run("run", file, "--out", str(whole))[0] == 0
    for number, part in enumerate(parts, start=1):
        code, out, words = bench.run("run", file, "--shard", f"{number}/3", "--out", str(part))
        assert code == 0, words
        assert "merge DIR... --out" in out
    merged = bench.folder / "merged"
    # Of a merge that was killed.
    (bench.folder / ".merged.merging" / "trials" / "stale").mkdir(parents=True)
    code, out, words = bench.run("merge", *map(str, parts), "--out", str(merged))
    assert code == 0, words
    assert "coap" in out
    assert digest_of(merged) == digest_of(whole) is not None
    assert (merged / "plan.json").read_bytes() == (whole / "plan.json").read_bytes()
    for name in ("exchanges.parquet", "trials.parquet", "estimates.parquet"):
        ours, theirs = (pl.read_parquet(folder / name).drop("lane", strict=False) for folder in (merged, whole))
        assert ours.equals(theirs), name
    ours, theirs = (json.loads((folder / "estimates.json").read_text()) for folder in (merged, whole))
    assert ours.pop(LANES) and theirs.pop(LANES)
    assert ours == theirs
    kept = sorted(path.name for path in (merged / "parts").iterdir())
    assert kept == ["0001.json", "0002.json", "0003.json"]
    assert not (merged / "trials" / "stale").exists()
    assert not [*bench.folder.glob(".merged.*")]
    # The merged campaign is one that a run goes on with: it has nothing left to do.
    code, _, words = bench.run("run", file, "--out", str(merged), "--set", "stop.replicates=3")
    assert code == 0, words
    assert digest_of(merged) == digest_of(whole)
    # Counted once, however often it is named.
    again = bench.folder / "again"
    assert bench.run("merge", *map(str, [*parts, parts[0]]), "--out", str(again))[0] == 0
    assert digest_of(again) == digest_of(whole)
    bench.assert_nothing_left()


def test_machines_of_a_campaign_in_real_time_stay_apart(bench: Bench) -> None:
    live = EXPERIMENT.replace('clock = "virtual"\n', "").replace('["clean", "lossy"]', '["clean"]')
    file = str(bench.experiment(live.replace('lossy = { rtt = "20 ms", loss = "10 %" }\n', "")))
    parts = [bench.folder / f"part-{number}" for number in (1, 2)]
    for number, part in enumerate(parts, start=1):
        code, _, words = bench.run(
            "run", file, "--shard", f"{number}/2", "--set", "stop.replicates=4", "--out", str(part)
        )
        assert code == 0, words
    merged = bench.folder / "merged"
    code, _, words = bench.run("merge", *map(str, parts), "--out", str(merged))
    assert code == 0, words
    ran_by = pl.read_parquet(merged / "trials.parquet").group_by("block").agg(pl.col("part").unique())
    assert sorted(each for [each] in ran_by["part"].to_list()) == [1, 1, 2, 2]
    assert pl.read_parquet(merged / "exchanges.parquet")["part"].null_count() == 0
    records = json.loads((merged / "estimates.json").read_text())["parts"]
    assert [(each["part"], each["trials"], each["ratio"]["n"]) for each in records] == [(1, 4, 2), (2, 4, 2)]
    assert "Parts of the merged campaign" in (merged / "report.html").read_text()
    bench.assert_nothing_left()


def test_a_full_disk_on_one_machine_loses_nothing_and_merges_nothing_by_halves(bench: Bench) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can mount a small file system")
    file = str(bench.experiment(EXPERIMENT))
    parts = [bench.folder / "part-1", bench.folder / "small" / "part-2"]
    assert bench.run("run", file, "--shard", "1/2", "--out", str(parts[0]))[0] == 0

    def shard() -> None:
        command = ("run", file, "--shard", "2/2", "--out", str(parts[1]))
        code, _, words = bench.run(*command)
        assert code == 1, words
        assert "no space left on the device" in words
        assert "Traceback" not in words
        merged = bench.folder / "merged"
        code, _, words = bench.run("merge", *map(str, parts), "--out", str(merged))
        assert code == 2, words
        assert str(parts[1]) in words
        assert not merged.exists()
        # The same of the machine that merges.
        subprocess.run(["mount", "-o", "remount,size=400m", str(parts[1].parent)], check=True)
        code, _, words = bench.run(*command)
        assert code == 0, words
        shutil.copytree(parts[1], bench.folder / "part-2")

    with_small_disk(parts[1].parent, SMALL, shard)
    parts[1] = bench.folder / "part-2"

    def merge() -> None:
        code, _, words = bench.run("merge", *map(str, parts), "--out", str(bench.folder / "full" / "merged"))
        assert code == 1, words
        assert "no space left on the device" in words
        assert "Traceback" not in words
        assert not [*(bench.folder / "full").iterdir()]

    with_small_disk(bench.folder / "full", SMALL, merge)
    code, _, words = bench.run("merge", *map(str, parts), "--out", str(bench.folder / "merged"))
    assert code == 0, words
    bench.assert_nothing_left()


def test_what_is_no_whole_campaign_is_refused_and_nothing_is_written(bench: Bench) -> None:
    file = str(bench.experiment(EXPERIMENT))
    one, two, other = (bench.folder / name for name in ("one", "two", "other"))
    for folder, options in (
        (one, ("--shard", "1/2")), (two, ("--shard", "2/2")), (other, ("--shard", "2/2", "--seed", "9")),
    ):  # fmt: skip
        assert bench.run("run", file, "--out", str(folder), *options)[0] == 0

    def refused(*folders: Path) -> str:
        code, _, words = bench.run("merge", *map(str, folders), "--out", str(bench.folder / "out"))
        assert code == 2, words
        assert not (bench.folder / "out").exists()
        assert not [*bench.folder.glob(".out.*")]
        return words

    words = refused(one)
    assert "6 of 12 trials are in no part: shard 2/2 did not run to its end" in words
    assert "--shard 2/2" in words
    assert "different seeds: 1 and 9" in refused(one, other)
    assert "no campaign" in refused(one, bench.folder)
    # A record that was changed on the way is found, by its digest.
    client = next((two / "trials").glob("*/client/exchanges.arrow"))
    client.write_bytes(client.read_bytes()[:-1])
    assert "is damaged" in refused(one, two)
    shutil.rmtree(two)
    bench.assert_nothing_left()
