"""The bench's own instruments: what they send arrives and is read right, and nothing of them stays."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from functools import cache
from pathlib import Path

import pytest
from bench import build, instructions
from bench.flow import Plan, send
from bench.generators import Load, loads
from bench.peers import Peer, Stages, Veth, Wirelab
from bench.process import Place, User
from bench.questions.load import BUILTIN, make
from bench.results import table
from bench.setup import make_setup
from tests.interop.conftest import REQUIRED, ROOT, built_agent

PATIENCE_S = 60.0


@pytest.mark.namespaces
@pytest.mark.parametrize("path", ["veth", "wirelab"])
def test_every_packet_of_a_probe_arrives_once_and_never_early(path: str, tmp_path: Path) -> None:
    agent = built_agent()
    assert agent is not None
    instruments = _built_instruments()
    peer: Peer = Veth() if path == "veth" else Wirelab(agent)
    stages, plan = Stages(20.0, rate_bps=1_000_000), Plan(packets=40, interval_us=1000.0, payload=100)
    received = send(instruments, peer, stages, plan, Place(User("this", None), tmp_path))
    assert received.number.tolist() == list(range(plan.packets))
    assert received.one_way_us.min() >= 1e3 * peer.configured_ms(stages, plan.ip_bytes)


def test_a_standalone_thread_prints_its_wake_up_latency_for_each_deadline() -> None:
    words = [str(_built_instruments()), "wakeup", "--instants", "50", "--interval-us", "1000"]
    began = time.monotonic()
    late_ns = subprocess.run(words, capture_output=True, check=True, text=True).stdout.split()
    assert len(late_ns) == 50
    assert all(0 <= int(late) / 1e9 <= time.monotonic() - began for late in late_ns)


@pytest.mark.namespaces
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_an_interrupted_bench_leaves_nothing(
    how: signal.Signals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = uuid.uuid4().hex
    environment = {
        **os.environ, "WIRELAB_TEST_MARK": mark, "WIRELAB_AGENT": str(built_agent()), "TMPDIR": str(tmp_path),
        "WIRELAB_BENCH": str(_built_instruments()), "PYTHONPATH": f"{ROOT / 'python'}:{ROOT}",
    }  # fmt: skip
    words = [sys.executable, "-m", "bench", "delay", "--out", str(tmp_path / "out")]
    with subprocess.Popen(words, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True) as bench:
        _wait_for(lambda: any("flow source" in command for command in _processes(mark).values()))
        bench.send_signal(how)
        out, _ = bench.communicate(timeout=PATIENCE_S)
    _wait_for(lambda: not _processes(mark))
    if how is signal.SIGKILL:
        assert [path.name.startswith("wirelab-bench-") for path in tmp_path.iterdir()] == [True]
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
        with make_setup(Path(environment["WIRELAB_AGENT"]), Path(environment["WIRELAB_BENCH"]), quick=True):
            pass
        assert list(tmp_path.iterdir()) == []
    else:
        assert bench.returncode == 130, out
        assert (tmp_path / "out" / "bench.json").exists()
        assert list(tmp_path.iterdir()) == [tmp_path / "out"]


@pytest.mark.namespaces
@pytest.mark.parametrize("load", loads(), ids=lambda load: load.name)
@pytest.mark.parametrize("copies", [1, 2])
def test_each_generator_of_a_load_makes_all_its_requests(
    load: Load, copies: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if (how := load.missing()) is not None:
        (pytest.fail if REQUIRED else pytest.skip)(how)
    agent = built_agent()
    assert agent is not None
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with make_setup(agent, _built_instruments(), quick=True) as setup:
        for generator in (BUILTIN, load.tool):
            made = make(setup, load, generator, copies, requests=50)
            assert made.per_s > 0
            assert made.user_us + made.system_us > 0
    assert list(tmp_path.iterdir()) == []


@pytest.mark.valgrind
def test_no_impairment_takes_more_or_fewer_instructions_than_in_the_snapshot() -> None:
    counted, kept = instructions.count(), instructions.snapshot()
    shown = table(instructions.COLUMNS, instructions.rows(counted, kept))
    # Of a kind that is new there is nothing to compare with.
    assert kept.instructions_per_packet.keys() <= counted.instructions_per_packet.keys(), shown
    if counted.comparable(kept):
        assert not instructions.beyond_tolerance(counted, kept), (
            f"{shown}\nbench/instructions --update, if it was meant"
        )
    else:
        print(f"{counted.compiler}, not {kept.compiler}\n{shown}")


@cache
def _built_instruments() -> Path:
    """The program that `WIRELAB_BENCH` names, or the newest one built: a debug build sends and receives the same."""
    if named := os.environ.get("WIRELAB_BENCH"):
        return Path(named)
    built = [path for kind in ("debug", "release") if (path := build.target() / kind / "wirelab-bench").exists()]
    if not built:
        subprocess.run(["cargo", "build", "--locked", "--quiet", "--package", "wirelab-bench"], cwd=ROOT, check=True)
        return build.target() / "debug" / "wirelab-bench"
    return max(built, key=lambda path: path.stat().st_mtime)


def _wait_for(condition: object) -> None:
    assert callable(condition)
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def _processes(mark: str) -> dict[int, str]:
    """Those that have this mark in their environment, with their command lines."""
    found = {}
    for folder in Path("/proc").iterdir():
        if not folder.name.isdecimal():
            continue
        try:
            environment, command = (folder / "environ").read_bytes(), (folder / "cmdline").read_bytes()
        except OSError:
            continue
        if mark.encode() in environment:
            found[int(folder.name)] = command.replace(b"\0", b" ").decode(errors="replace")
    return found
