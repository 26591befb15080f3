"""The same small experiment in real time and under the virtual clock. `clock-agreement` is the large one.

Delays of a busy machine are live time, so by day only the comparison's form is asserted. At night no scenario may
differ: with a round trip of 100 ms, a median would have to be 15 ms off.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from tests.interop.covering import nightly

if TYPE_CHECKING:
    from conftest import Bench

EXPERIMENT = """
title = "both clocks"
metric = "end-to-end-delay"
clock = "{clock}"
[factors]
protocol = ["http1", "h3", "coap"]
link = ["lossless", "lossy"]
[links]
lossless = {{ rtt = "100 ms" }}
lossy = {{ rtt = "100 ms", loss = "5 %" }}
[workload]
kind = "request-response"
upload = "30 B"
connection = "new"
exchanges = {exchanges}
timeout = "60 s"
[stop]
replicates = {replicates}
"""


@pytest.mark.guest
@pytest.mark.namespaces
@pytest.mark.parametrize(("replicates", "exchanges"), [(2, 2), nightly(10, 20)])
def test_no_scenario_differs_between_the_clocks(
    bench: Bench, capsys: pytest.CaptureFixture[str], replicates: int, exchanges: int
) -> None:
    folders = []
    for clock in ("live", "virtual"):
        text = EXPERIMENT.format(clock=clock, replicates=replicates, exchanges=exchanges)
        bench.measure_experiment(text, "--jobs", "8" if clock == "live" else "2", timeout_s=180)
        folders.append(str(bench.campaign.rename(bench.folder / clock)))
    status, out, words = bench.run("clock", "compare", *folders, "--json")
    assert status in {0, 1}, words
    cells = json.loads(out)["cells"]
    assert [cell["live"]["exchanges"] for cell in cells] == [replicates * exchanges] * 6
    assert all(cell["offset_s"] is not None for cell in cells)
    if exchanges > 2:
        with capsys.disabled():
            print(f"\n{bench.run('clock', 'compare', *folders)[1]}")
        assert not [cell["name"] for cell in cells if cell["verdict"] == "differs"]
