"""How late is the link when many trials run in parallel? Real protocols over milosevic2021's links, and how many lanes
this machine gets by default.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

from bench.build import ROOT
from bench.process import FAILURES, TIED, FailedError, end
from bench.results import Answer, Cell
from bench.setup import Setup
from wirelab.experiment.experiment import load_experiment
from wirelab.link_facts import asking
from wirelab.plan import make_plan
from wirelab.runner import cpus
from wirelab.runner.start import planned_jobs
from wirelab.runner.timing_error import LatePackets, late_packets
from wirelab.schema import TrialRequest, TrialResult
from wirelab.schema.campaign import JOURNAL, REQUEST, RESULT

EXPERIMENT = "milosevic2021"
LANES = (1, 4, 16, 32)
SECONDS, LEAST_SECONDS = 15.0, 8.0
SETS = ("workload.exchanges=5", "workload.timeout=5s")
"""Shorter trials than the paper's, so that some are over in that time."""
_END_S = 30.0


def answer(setup: Setup) -> Answer:
    """Each number of lanes for a time that is the same for all."""
    default, real_time = _default_jobs()
    seconds = max(setup.seconds(SECONDS), LEAST_SECONDS)
    found = Answer(
        "lanes",
        f"The link's timing error at work, microseconds: {EXPERIMENT}'s protocols and links",
        ("lanes", "p50", "p99", "p99.9", "max", "packets", "trials", "late/%", "lanes at the end"),
    )
    found.notes += [
        f"lanes that {EXPERIMENT} gets on this machine by default: {default} "
        f"({'with' if real_time else 'without'} real-time scheduling)",
        f"`wirelab run {EXPERIMENT} {' '.join(f'--set {text}' for text in SETS)}` for {seconds:g} s "
        "each; quantiles are upper edges of buckets 19 % wide; late: by more than 200 us or 1 % of the round trip; a "
        "block of trials in which more than 1 % are late is run again with fewer lanes",
    ]
    for lanes in LANES:
        with setup.place(setup.users[0]) as place:
            _run(setup.agent, place.folder, lanes, seconds)
            try:
                found.rows.append((lanes, *_figures(place.folder)))
            except FAILURES as error:
                found.notes.append(f"{lanes} lanes: {error}")
    return found


def _default_jobs() -> tuple[int, bool]:
    with asking() as ask:
        plan = make_plan(load_experiment(EXPERIMENT, (), ask))
    return planned_jobs(plan).number, cpus.real_time()


def _run(agent: Path, folder: Path, lanes: int, seconds: float) -> None:
    """Run the experiment, and stop it as Ctrl-C does when its time is up."""
    words = [sys.executable, "-m", "wirelab", "run", EXPERIMENT, "--no-probes", "--jobs", str(lanes)]
    words += ["--out", str(folder / "campaign"), *(word for text in SETS for word in ("--set", text))]
    environment = {**os.environ, "WIRELAB_AGENT": str(agent), "PYTHONPATH": str(ROOT / "python")}
    with (folder / "err.txt").open("wb") as err:
        process = subprocess.Popen(
            [*TIED, *words],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=err,
            stderr=err,
            process_group=0,
        )
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_END_S)
        finally:
            end(process)


def _figures(folder: Path) -> tuple[Cell, ...]:
    """The link histograms of all finished trials together."""
    packets: Counter[int] = Counter()
    trials, largest, late = 0, 0, LatePackets(0, 0)
    campaign = folder / "campaign"
    # Trials that were discarded as late count too.
    for path in sorted(campaign.rglob(RESULT)):
        report = TrialResult.model_validate_json(path.read_bytes()).link
        link = TrialRequest.model_validate_json((path.parent / REQUEST).read_bytes()).link
        trials, late = trials + 1, late + late_packets(report, link)
        for direction in report.directions:
            histogram = direction.lateness
            packets.update(dict(zip(histogram.upper_ns, histogram.packets, strict=True)))
            largest = max(largest, histogram.max_ns)
    if not packets.total():
        words = (folder / "err.txt").read_text(encoding="utf-8", errors="replace").strip().splitlines()
        raise FailedError(f"no trial finished: {' | '.join(words[-2:]) or 'no reason given'}")
    quantiles = tuple(min(_quantile(packets, share), largest) / 1e3 for share in (0.5, 0.99, 0.999))
    last = (campaign / JOURNAL).read_text(encoding="utf-8").splitlines()[-1]
    return (*quantiles, largest / 1e3, packets.total(), trials, 100 * late.share, json.loads(last)["lanes"])


def _quantile(packets: Counter[int], share: float) -> int:
    """The upper edge of the bucket in which it lies."""
    rank, below = share * packets.total(), 0
    for edge in sorted(packets):
        below += packets[edge]
        if below >= rank:
            return edge
    return max(packets)
