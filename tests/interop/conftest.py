"""Campaigns of the real agent in real namespaces, run by the command line in a process of its own."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest
from tests.interop import rabbitmq

from wirelab.runner.implementations import find_program

ROOT = Path(__file__).resolve().parents[2]
REQUIRED = bool(os.environ.get("WIRELAB_REQUIRE_ALL"))
TIMEOUT_S = 180


@cache
def built_agent() -> Path | None:
    """The agent that `WIRELAB_AGENT` names, or the newest one built."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    named = os.environ.get("WIRELAB_AGENT")
    places = [Path(named)] if named else [target / kind / "wirelab-agent" for kind in ("debug", "release")]
    built = [path for path in places if path.exists()]
    return max(built, key=lambda path: path.stat().st_mtime) if built else None


@cache
def namespaces_missing() -> str | None:
    """Why campaigns cannot run here; none if they can."""
    agent = built_agent()
    if agent is None:
        return "no wirelab-agent is built"
    probe = subprocess.run([agent, "probe"], capture_output=True, text=True, check=False)
    if probe.returncode == 0:
        return None
    failed = [f"{check['name']}: {check['detail']}" for check in json.loads(probe.stdout) if not check["ok"]]
    return "; ".join(failed)


def find_h2spec() -> Path | None:
    """Where it is, also where `go install` puts it."""
    found = find_program("h2spec")
    by_go = Path.home() / "go" / "bin" / "h2spec"
    return Path(found) if found else by_go if by_go.exists() else None


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip with the reason, or fail with it where everything is required."""
    reasons = []
    if item.get_closest_marker("namespaces") and (why := namespaces_missing()):
        reasons.append(why)
    programs = {name: name for name in ("curl", "mosquitto", "nginx", "tcpdump", "tshark", "valgrind")} | {
        "libcoap": "coap-client-openssl"
    }
    reasons += [
        f"{program} is not installed"
        for name, program in programs.items()
        if item.get_closest_marker(name) and not find_program(program)
    ]
    if item.get_closest_marker("rabbitmq") and (why := rabbitmq.missing()):
        reasons.append(why)
    if item.get_closest_marker("h2spec") and find_h2spec() is None:
        reasons.append("h2spec is not installed")
    if reasons and REQUIRED:
        pytest.fail("; ".join(reasons))
    if reasons:
        pytest.skip("; ".join(reasons))


@dataclass
class Bench:
    """A folder to run campaigns in; every process of it carries `mark` in its environment, or the folder in its own."""

    folder: Path
    agent: Path
    mark: str = field(default_factory=lambda: uuid.uuid4().hex)

    @property
    def campaign(self) -> Path:
        """Where `run` puts its campaign."""
        return self.folder / "campaign"

    @property
    def temporary(self) -> Path:
        """The temporary folder of everything that runs."""
        return self.folder / "tmp"

    def experiment(self, text: str) -> Path:
        """Write an experiment file."""
        path = self.folder / "experiment.toml"
        path.write_text(text)
        return path

    def site(self, files: Mapping[str, bytes]) -> Path:
        """Write a page's folder, `site`."""
        folder = self.folder / "site"
        folder.mkdir()
        for name, body in files.items():
            (folder / name).write_bytes(body)
        return folder

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Start the command line."""
        self.temporary.mkdir(exist_ok=True)
        environment = {
            **os.environ, "WIRELAB_AGENT": str(self.agent), "PYTHONPATH": str(ROOT / "python"),
            "WIRELAB_TEST_MARK": self.mark, "TMPDIR": str(self.temporary),
        }  # fmt: skip
        return subprocess.Popen(
            [sys.executable, "-m", "wirelab", *arguments],
            cwd=self.folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    def run(self, *arguments: str, timeout_s: int = TIMEOUT_S) -> tuple[int, str, str]:
        """Run the command line to its end: exit code, stdout, stderr."""
        process = self.start(*arguments)
        try:
            out, words = process.communicate(timeout=timeout_s)
        except subprocess.TimeoutExpired:
            process.kill()
            out, words = process.communicate()
            raise AssertionError(f"still running after {timeout_s} s\n{out}\n{words}") from None
        return process.returncode, out, words

    def run_experiment(self, text: str, *options: str) -> str:
        """Run an experiment that must succeed; what it said on stderr."""
        status, out, words = self.run("run", str(self.experiment(text)), "--out", str(self.campaign), *options)
        assert status == 0, f"{out}\n{words}"
        return words

    def statuses(self) -> dict[str, str]:
        """The last status of each trial in the journal."""
        lines = (self.campaign / "journal.jsonl").read_text().splitlines()
        return {entry["trial"]: entry["status"] for entry in map(json.loads, lines)}

    def processes(self) -> dict[int, str]:
        """Processes of this bench that are alive, with their command lines."""
        found = {}
        for folder in Path("/proc").iterdir():
            if not folder.name.isdecimal():
                continue
            try:
                environment = (folder / "environ").read_bytes()
                command = (folder / "cmdline").read_bytes()
            except OSError:
                continue
            # A zombie has neither any more.
            if self.mark.encode() in environment or str(self.folder).encode() in environment + command:
                found[int(folder.name)] = command.replace(b"\0", b" ").decode(errors="replace")
        return found

    def assert_nothing_left(self) -> None:
        """No process, and with it no namespace, and no temporary file."""
        assert self.processes() == {}
        assert list(self.temporary.iterdir()) == []
        named = Path("/run/netns")
        assert not [path.name for path in named.glob("*wirelab*")] if named.exists() else True


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    agent = built_agent()
    assert agent is not None
    # A copy: a build that goes on beside the tests must not replace the agent under a running campaign.
    copy = tmp_path / "wirelab-agent"
    shutil.copy2(agent, copy)
    bench = Bench(tmp_path, copy)
    yield bench
    for process in bench.processes():
        # It may end by itself meanwhile.
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
