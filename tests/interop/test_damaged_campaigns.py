"""Each verb that reads a campaign, on a real one that is damaged: one error that names the file, and no traceback."""

from __future__ import annotations

import os
import random
import shutil
import traceback
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner, Result
from tests.interop.covering import nightly

from tests.damaging import damage, forget_digests
from wirelab.cli import main
from wirelab.schema.campaign import read_result

if TYPE_CHECKING:
    from conftest import Bench

pytestmark = [pytest.mark.namespaces, pytest.mark.xdist_group("damaged")]

EXPERIMENT = """
title = "damaged"
[factors]
protocol = ["http1", "h2"]
[link]
rtt = "2 ms"
[workload]
kind = "request-response"
upload = "30 B"
connection = "new"
exchanges = 3
timeout = "5 s"
[stop]
replicates = 2
[energy]
radio = "nrf9160-nbiot"
"""
TRACE = "time (s),current (A)\n" + "".join(f"{second / 10},0.01\n" for second in range(400))
READ = {".json", ".jsonl", ".parquet", ".arrow", ".wlpl", ".pcapng"}
"""Files that a verb reads."""
SEED = int(os.environ.get("WIRELAB_SEED") or 1)


def verbs(folder: Path, trial: str, experiment: Path, trace: Path, began: str) -> list[list[str]]:
    """Command lines that read a campaign, those that take long less often."""
    campaign = str(folder)
    quick = [
        ["show", campaign], ["show", campaign, "--protocol", "h2", "--slowest"], ["show", campaign, trial],
        ["show", str(folder / "trials" / trial / "packets.wlpl")],
        ["analyze", campaign, "--json"], ["measure", campaign],
        ["energy", "--trace", str(trace), "--campaign", campaign, "--begins-at", began, "--voltage", "3.7 V"],
    ]  # fmt: skip
    slow = [
        ["analyze", campaign], ["analyze", campaign, "--radio", "nrf9160-nbiot"], ["report", campaign],
        ["run", str(experiment), "--out", campaign, "--capture", "--no-probes", "--json"],
    ]  # fmt: skip
    return [*quick, *quick, *slow]


@pytest.fixture(scope="module")
def whole(shared_bench: Bench) -> Path:
    """A captured campaign with probes, energy and a report."""
    shared_bench.run_experiment(EXPERIMENT, "--capture")
    return shared_bench.campaign


def complaint(done: Result, folder: Path) -> str | None:
    """What is wrong with how a verb ended; None if it said one thing, or succeeded."""
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        assert done.exc_info is not None
        return "".join(traceback.format_exception(*done.exc_info)[-4:])
    if "Traceback" in done.stderr or "panicked" in done.stderr:
        return done.stderr
    if done.exit_code not in {0, 1, 2}:
        return f"exit code {done.exit_code}: {done.stderr}"
    if done.exit_code and str(folder.name) not in done.stderr:
        return f"no file named: {done.stderr}"
    return None


@pytest.mark.parametrize("times", [12, nightly(500)])
def test_no_verb_on_a_damaged_campaign_ends_in_a_traceback(
    whole: Path, shared_bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    print(f"seed {SEED}, {times} verbs")
    monkeypatch.setenv("WIRELAB_AGENT", str(shared_bench.agent))
    chance = random.Random(SEED)
    trace = tmp_path / "trace.csv"
    trace.write_text(TRACE)
    results = [read_result(path).start_realtime_ns for path in whole.glob("trials/*/result.json")]
    began = datetime.fromtimestamp(min(results) / 1e9 - 1, UTC).isoformat().replace("+00:00", "Z")
    complaints, codes = [], [0, 0, 0]
    for number in range(times):
        folder = tmp_path / f"campaign-{number}"
        shutil.copytree(whole, folder, symlinks=True)
        if chance.random() < 0.5:
            forget_digests(folder)
        trial = min(each.name for each in (folder / "trials").iterdir())
        files = sorted(path for path in folder.rglob("*") if path.suffix in READ or path.parent.parent.name == "probes")
        # Those of the campaign itself are few and many verbs read them.
        path = chance.choice([*files, *(path for path in files if path.parent == folder or trial in path.parts)])
        how = damage(path, chance)
        verb = chance.choice(verbs(folder, trial, shared_bench.folder / "experiment.toml", trace, began))
        done = CliRunner().invoke(main, verb, prog_name="wirelab")
        if (wrong := complaint(done, folder)) is not None:
            complaints.append(f"{number}: {' '.join(verb)}: {path.relative_to(folder)}: {how}\n{wrong}")
        else:
            codes[done.exit_code] += 1
        if done.exit_code == 1:
            print(f"{number}: {' '.join(verb)}: {path.relative_to(folder)}: {how}\n{done.stderr}")
        shutil.rmtree(folder)
    print(f"exit codes 0, 1 and 2: {codes}")
    assert not complaints, f"{len(complaints)}\n" + "\n".join(complaints)
