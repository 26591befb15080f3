"""Our emulator against netem, over the same link files.

netem runs in the kernel of a User-Mode Linux guest, since machines need not have it. Ours runs outside: in the guest
each look at the clock is a system call of 50 us, and one CPU has to serve the link and both ends.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest
from tests.uml import guest
from tests.uml.compare import Difference, compare, read_flows
from tests.uml.links import LINKS, WRONG, plan, spec
from tests.uml.needs import require_guest
from tests.uml.play import Job, Probing, play

from wirelab.cli.text import columns
from wirelab.metrics.probes import measure_probes, read_probes
from wirelab.stats.link.certificate import Certificate, Line, certify

if TYPE_CHECKING:
    from conftest import Bench

ROOT = Path(__file__).parents[2]
TIMEOUT_S = 400
"""Of a machine that is much too busy; an idle one takes 80 s."""
RESOLUTION = {"loss": 0.05, "bursts": 0.09, "order": 0.04, "jitter": 0.0}
"""The most that half of an interval of lost, doubled or overtaken packets may be: losses in bursts say less."""
OURS, NETEM = "ours", "netem"
CAMPAIGN = """
title = "netem"
[factors]
protocol = ["raw-udp", "http1"]
link = ["far", "narrow"]
[link]
backend = "netem"
[links]
far = { rtt = "60 ms" }
narrow = { rtt = "20 ms", rate = "400 kbit/s", queue = "100 packets" }
[workload]
kind = "request-response"
upload = "1 kB"
connection = "new"
exchanges = 5
timeout = "20 s"
[stop]
replicates = 1
"""
LEAST_DELAY_S = {"far": 0.06, "narrow": 0.02 + 1000 * 8 / 400e3}
"""Of an exchange: the round trip, and the upload at the link's rate."""
SCALES = {"share": (100, " %"), "s": (1000, " ms"), "bit/s": (0.001, " kbit/s"), "packets": (1, "")}


@pytest.mark.nightly
@pytest.mark.namespaces
def test_our_link_agrees_with_netem_and_a_wrong_link_does_not(
    bench: Bench, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    require_guest()
    monkeypatch.setenv("WIRELAB_AGENT", str(bench.agent))
    play(_job(bench, OURS, {**LINKS, "wrong": WRONG}, None, first_seed=1))
    job = _job(bench, NETEM, LINKS, "netem", first_seed=101)
    described = bench.folder / "job.json"
    described.write_text(job.model_dump_json(exclude_none=True))
    finished = guest.run(
        bench.folder, [sys.executable, str(ROOT / "tests/uml/play.py"), str(described)],
        {"PYTHONPATH": str(ROOT / "python")}, TIMEOUT_S,
    )  # fmt: skip
    assert finished.status == 0, finished.output
    assert bench.processes() == {}

    differences = {name: list(_differences(bench, name, name)) for name in LINKS}
    judged = dict(zip(differences, _certificates(differences.values()), strict=True))
    wrong = list(_differences(bench, "wrong", "loss"))
    [contradicted] = _certificates([wrong])
    with capsys.disabled():
        print(f"\n{finished.output}guest: {finished.wall_s:.0f} s, boot included")
        for name in LINKS:
            print(f"\n{name}\n{_table(judged[name], differences[name])}")
        print(f"\nwrong\n{_table(contradicted, wrong)}")

    lines = {(name, line.direction, line.name): line for name in LINKS for line in judged[name].lines}
    assert [key for key, line in lines.items() if line.verdict == "out"] == []
    _assert_distinguished(lines)
    out = {(line.direction, line.name) for line in contradicted.lines if line.verdict == "out"}
    assert out >= {
        ("uplink", "lost"), ("downlink", "lost after a loss"), ("uplink", "delay p25"), ("downlink", "delay p25"),
    }  # fmt: skip


@pytest.mark.nightly
@pytest.mark.namespaces
def test_a_campaign_runs_over_netem_from_its_start_to_its_report(bench: Bench) -> None:
    require_guest()
    experiment = bench.experiment(CAMPAIGN)
    finished = guest.run(
        bench.folder,
        [sys.executable, "-m", "wirelab", "run", str(experiment), "--out", str(bench.campaign), "--no-probes"],
        {"PYTHONPATH": str(ROOT / "python"), "WIRELAB_AGENT": str(bench.agent)}, TIMEOUT_S,
    )  # fmt: skip
    assert finished.status == 0, finished.output
    assert "run by netem, which keeps no log" in finished.output
    assert set(bench.statuses().values()) == {"done"}
    exchanges = pl.read_parquet(bench.campaign / "exchanges.parquet")
    assert exchanges.group_by("outcome").len().rows() == [("completed", 20)]
    plan = json.loads((bench.campaign / "plan.json").read_text())
    for scenario in plan["scenarios"]:
        delays = exchanges.filter(pl.col("scenario") == scenario["key"])["end_to_end_delay_ns"]
        assert delays.min() >= LEAST_DELAY_S[scenario["levels"]["link"]] * 1e9, scenario["levels"]
    assert (bench.campaign / "report.html").exists()


def _job(bench: Bench, name: str, links: Mapping[str, str], backend: str | None, first_seed: int) -> Job:
    """Ours in parallel, for it has lanes; a guest's one CPU serves one link at a time."""
    probings = tuple(
        Probing(name=link, link=spec(text, backend), seed=seed, plan=plan(link))
        for seed, (link, text) in enumerate(links.items(), first_seed)
    )
    return Job(
        agent=bench.agent, folder=bench.folder / name, at_once=len(links) if backend is None else 1, probings=probings
    )


def _differences(bench: Bench, ours: str, netem: str) -> Iterator[Difference]:
    ours_in, netem_in = bench.folder / OURS / ours, bench.folder / NETEM / netem
    request = json.loads((netem_in / "request.json").read_text())
    described = json.loads((netem_in / "probe-plan.json").read_text())
    for folder in (ours_in, netem_in):
        measure_probes(folder)
    ours_flows, netem_flows = (read_flows(read_probes(folder)) for folder in (ours_in, netem_in))
    return compare(ours_flows, netem_flows, request["link"], described)


def _certificates(differences: Iterable[Sequence[Difference]]) -> list[Certificate]:
    return certify([[one.check for one in several] for several in differences])


def _assert_distinguished(lines: Mapping[tuple[str, str, str], Line]) -> None:
    """No line is free of doubt because it says nothing."""
    for key, line in lines.items():
        if line.name == "run lengths":
            continue
        assert line.measured is not None, key
        assert line.measured.low is not None, (key, line.measured.method)
        assert line.measured.high is not None, key
        if line.name in {"lost", "duplicated", "overtaken"}:
            assert line.measured.high - line.measured.low <= 2 * RESOLUTION[key[0]], key
    effects = {
        ("loss", "uplink", "lost after a loss"), ("loss", "downlink", "lost after a loss"),
        ("loss", "uplink", "run lengths"), ("bursts", "uplink", "run lengths"), ("bursts", "downlink", "run lengths"),
        ("order", "uplink", "overtaken"), ("order", "downlink", "duplicated"),
        ("jitter", "downlink", "delay p90"), ("rate", "uplink", "rate"), ("rate", "downlink", "rate"),
    }  # fmt: skip
    assert effects <= lines.keys()


def _table(certificate: Certificate, differences: list[Difference]) -> str:
    head = ("direction", "property", "ours", "netem", "difference [interval]", "tolerance", "verdict")
    return columns([head, *(_row(line, one) for line, one in zip(certificate.lines, differences, strict=True))])


def _row(line: Line, difference: Difference) -> tuple[str, ...]:
    factor, unit = SCALES[line.unit]

    def show(value: float | None) -> str:
        return "-" if value is None else f"{value * factor:.4g}{unit}"

    found = line.measured
    interval = (
        f"p {difference.check.p:.2g}"
        if found is None
        else f"{show(found.point)} [{show(found.low)}, {show(found.high)}]"
    )
    both = show(difference.ours), show(difference.theirs)
    return (line.direction, line.name, *both, interval, show(line.tolerance), line.verdict)
