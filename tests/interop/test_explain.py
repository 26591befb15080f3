"""Differences with one known cause, with real stacks in guests: that cause has the difference, and little is left."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from wirelab.schema.explain import EXPLAINED, Explained, read_explained

if TYPE_CHECKING:
    from conftest import Bench

pytestmark = pytest.mark.guest

SMALL = ("--set", "stop.replicates=2", "--set", "workload.exchanges=5")


def explained(bench: Bench, *arguments: str) -> Explained:
    code, _, words = bench.run("explain", *arguments, "--out", str(bench.campaign), timeout_s=300)
    assert code == 0, words
    return read_explained(bench.campaign / EXPLAINED)


def of(record: Explained, *, cause: str | None = None, phase: str | None = None) -> float:
    """The part of the difference that these shares have."""
    found = [
        each["difference_s"]["point"]
        for each in record["shares"]
        if cause in {None, each["cause"]} and phase in {None, each["phase"]}
    ]
    return sum(found) / record["difference_s"]["point"]


@pytest.mark.parametrize(
    ("protocol", "key", "levels", "right"),
    [
        ("http1", "link.rtt", ("20 ms", "60 ms"), {"cause": "propagation"}),
        ("h3", "link.rate", ("1 Mbit/s", "100 kbit/s"), {"cause": "serialisation and queueing"}),
        ("coap", "link.loss", ("0 %", "20 %"), {"cause": "lost packets"}),
        ("https1", "protocols.https1.tls", ("1.2", "1.3"), {"phase": "TLS or QUIC handshake"}),
    ],
)
def test_one_cause_has_the_difference(
    bench: Bench, protocol: str, key: str, levels: tuple[str, str], right: dict[str, str]
) -> None:
    varied = f"{key}={', '.join(levels)}"
    link = () if key == "link.rtt" else ("--link", "20 ms")
    record = explained(bench, *levels, *link, "--set", f"protocol={protocol}", "--set", varied, *SMALL)
    assert of(record, **right) >= 0.9, record["shares"]
    left = sum(each["difference_s"]["point"] for each in record["shares"] if each["evidence"] == "unexplained")
    assert abs(left / record["difference_s"]["point"]) <= 0.1
    assert [each["factor"] for each in record["levels"]] == [key]
    assert record["levels"][0]["difference_s"]["point"] == pytest.approx(record["difference_s"]["point"])
    assert (bench.campaign / "explain.html").exists()


WINDOW = """
title = "One window"
metric = "response-time"
[factors]
protocol = ["h2"]
"protocols.h2.initial-window-size" = ["default", "16 MiB"]
[protocols.h2]
connection-window = "16 MiB"
[link]
rtt = "40 ms"
[workload]
kind = "request-response"
upload = "30 B"
download = "1 MB"
connection = "new"
exchanges = 3
[stop]
replicates = 2
"""


def test_a_window_is_found_by_the_factor_by_the_phase_and_by_widening_it(bench: Bench, tmp_path: Path) -> None:
    file = tmp_path / "window.toml"
    file.write_text(WINDOW, encoding="utf-8")
    record = explained(bench, "default", "16 MiB", "--of", str(file))
    assert record["difference_s"]["point"] < -0.2
    assert of(record, phase="rest of the answer", cause="propagation") >= 0.9
    [wider] = [each for each in record["what_ifs"] if "windows" in each["change"]]
    assert wider["effect_s"]["point"] == pytest.approx(record["difference_s"]["point"], rel=0.02)
    assert record["first"]["spent"] is not None
    # The same command runs nothing again.
    again = explained(bench, "default", "16 MiB", "--of", str(file))
    assert again["shares"] == record["shares"]


def test_scenarios_of_a_campaign_are_those_of_its_experiment(bench: Bench, tmp_path: Path) -> None:
    sets = ("--set", "link.rtt=20 ms, 60 ms", "--set", "protocol=http1", *SMALL, "--set", "capture=true")
    ran = tmp_path / "ran"
    code, _, words = bench.run("run", "message", *sets, "--out", str(ran), timeout_s=300)
    assert code == 0, words
    record = explained(bench, "20 ms", "60 ms", "--of", str(ran))
    assert record["difference_s"]["point"] == pytest.approx(0.08, rel=0.01)
    plan = ran / "plan.json"
    plan.write_text(plan.read_text(encoding="utf-8").replace('"identity": "', '"identity": "00'), encoding="utf-8")
    code, _, words = bench.run("explain", "20 ms", "60 ms", "--of", str(ran), "--out", str(tmp_path / "other"))
    assert code == 2
    assert "is not the experiment of" in words
