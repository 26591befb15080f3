"""Our emulator against netem, over the same link files, both under the virtual clock.

Its kernel has netem, which a machine need not have, and there nothing but the emulators is ever late.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest
from tests.interop.guests import made_hypervisor
from tests.netem.compare import Difference, compare, read_flows
from tests.netem.links import LINKS, WRONG, plan, spec
from tests.netem.play import Probing, play

from tests.asked import ask
from wirelab.cli.text import columns
from wirelab.metrics.probes import measure_probes, read_probes
from wirelab.stats.link.certificate import Certificate, Line, certify

if TYPE_CHECKING:
    from conftest import Bench

RESOLUTION = {"loss": 0.06, "bursts": 0.11, "order": 0.04, "jitter": 0.04}
"""The most that half of an interval of lost, doubled or overtaken packets may be: losses in bursts say less."""
JITTER_RESOLUTION_S = 1e-3
"""The same of a quantile of jittered delays."""
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


pytestmark = pytest.mark.guest


def test_our_link_agrees_with_netem_and_a_wrong_link_does_not(
    bench: Bench, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WIRELAB_AGENT", str(bench.agent))
    probings = [
        *_probings(bench.folder / OURS, {**LINKS, "wrong": WRONG}, None, first_seed=1),
        *_probings(bench.folder / NETEM, LINKS, "netem", first_seed=101),
    ]
    began = time.monotonic()
    play(made_hypervisor(bench.agent), bench.folder, probings)
    took_s = time.monotonic() - began
    assert bench.processes() == {}

    differences = {name: list(_differences(bench, name, name)) for name in LINKS}
    judged = dict(zip(differences, _certificates(differences.values()), strict=True))
    wrong = list(_differences(bench, "wrong", "loss"))
    [contradicted] = _certificates([wrong])
    with capsys.disabled():
        print(f"\n{len(probings)} guests: {took_s:.0f} s")
        for name in LINKS:
            print(f"\n{name}\n{_table(judged[name], differences[name])}")
        print(f"\nwrong\n{_table(contradicted, wrong)}")

    lines = {(name, line.direction, line.name): line for name in LINKS for line in judged[name].lines}
    assert [key for key, line in lines.items() if line.verdict == "out"] == []
    _assert_distinguished(lines)
    out = {(line.direction, line.name) for line in contradicted.lines if line.verdict == "out"}
    assert out >= {
        ("uplink", "lost"), ("downlink", "lost after a loss"), ("uplink", "delay p50"), ("downlink", "delay p50"),
    }  # fmt: skip


def test_a_campaign_runs_over_netem_from_its_start_to_its_report(bench: Bench) -> None:
    experiment = bench.experiment(CAMPAIGN)
    status, out, words = bench.run(
        "run", str(experiment), "--out", str(bench.campaign), "--clock", "virtual", "--no-probes"
    )
    assert status == 0, words
    assert "run by netem, which keeps no log" in out
    assert set(bench.statuses().values()) == {"done"}
    exchanges = pl.read_parquet(bench.campaign / "exchanges.parquet")
    assert exchanges.group_by("outcome").len().rows() == [("completed", 20)]
    plan = json.loads((bench.campaign / "plan.json").read_text())
    for scenario in plan["scenarios"]:
        delays = exchanges.filter(pl.col("scenario") == scenario["key"])["end_to_end_delay_ns"]
        assert delays.min() >= LEAST_DELAY_S[scenario["levels"]["link"]] * 1e9, scenario["levels"]
    assert (bench.campaign / "report.html").exists()
    bench.assert_nothing_left()


def _probings(folder: Path, links: Mapping[str, str], backend: str | None, first_seed: int) -> Iterator[Probing]:
    for seed, (name, text) in enumerate(links.items(), first_seed):
        yield Probing(folder / name, spec(text, backend), seed, plan(name))


def _differences(bench: Bench, ours: str, netem: str) -> Iterator[Difference]:
    ours_in, netem_in = bench.folder / OURS / ours, bench.folder / NETEM / netem
    described = json.loads((netem_in / "probe-plan.json").read_text())
    for folder in (ours_in, netem_in):
        measure_probes(folder)
    ours_probes, netem_probes = map(read_probes, (ours_in, netem_in))
    return compare(read_flows(ours_probes), read_flows(netem_probes), ask(netem_probes.link), described)


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
        if line.name.startswith("delay"):
            assert line.measured.high - line.measured.low <= 2 * JITTER_RESOLUTION_S, key
    effects = {
        ("loss", "uplink", "lost after a loss"), ("loss", "downlink", "lost after a loss"),
        ("loss", "uplink", "run lengths"), ("bursts", "uplink", "run lengths"), ("bursts", "downlink", "run lengths"),
        ("order", "uplink", "overtaken"), ("order", "downlink", "duplicated"),
        ("jitter", "downlink", "delay p90"), ("jitter", "downlink", "overtaken"),
        ("rate", "uplink", "rate"), ("rate", "downlink", "rate"),
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
