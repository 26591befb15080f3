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
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest
from tests.interop import guests, rabbitmq

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


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that wait for packets come first, so that none of them is left alone at the end of a parallel run."""
    items.sort(key=lambda item: item.get_closest_marker("namespaces") is None)


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
    agent = built_agent()
    if item.get_closest_marker("guest") and (why := guests.missing() if agent else "no wirelab-agent is built"):
        reasons.append(why)
    if reasons and REQUIRED:
        pytest.fail("; ".join(reasons))
    if reasons:
        pytest.skip("; ".join(reasons))
    # A machine on which a kernel that is built cannot boot is at nobody's fault.
    if item.get_closest_marker("guest") and agent and (why := guests.cannot_boot(agent)):
        pytest.skip(why)


@dataclass
class Bench:
    """A folder to run campaigns in; every process of it carries `mark` in its environment, or the folder in its own."""

    folder: Path
    agent: Path
    mark: str = field(default_factory=lambda: uuid.uuid4().hex)
    started: list[subprocess.Popen[str]] = field(default_factory=list, repr=False)

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

    def start(self, *arguments: str, module: str = "wirelab", within: Sequence[str] = ()) -> subprocess.Popen[str]:
        """Start the command line, or another program; `within` is a command that ends in it, such as `prlimit`."""
        self.temporary.mkdir(exist_ok=True)
        environment = {
            **os.environ, "WIRELAB_AGENT": str(self.agent), "PYTHONPATH": f"{ROOT / 'python'}:{ROOT}",
            "WIRELAB_TEST_MARK": self.mark, "TMPDIR": str(self.temporary),
        }  # fmt: skip
        process = subprocess.Popen(
            [*within, sys.executable, "-m", module, *arguments],
            cwd=self.folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        self.started.append(process)
        return process

    def run(
        self, *arguments: str, timeout_s: int = TIMEOUT_S, module: str = "wirelab", within: Sequence[str] = ()
    ) -> tuple[int, str, str]:
        """Run the command line, or another program, to its end: exit code, stdout, stderr."""
        process = self.start(*arguments, module=module, within=within)
        try:
            out, words = process.communicate(timeout=timeout_s)
        except subprocess.TimeoutExpired:
            process.kill()
            out, words = process.communicate()
            raise AssertionError(f"still running after {timeout_s} s\n{out}\n{words}") from None
        return process.returncode, out, words

    def run_experiment(self, text: str, *options: str) -> str:
        """Run an experiment that must succeed, to its report; what it said on stderr."""
        status, out, words = self.run("run", str(self.experiment(text)), "--out", str(self.campaign), *options)
        assert status == 0, f"{out}\n{words}"
        return words

    def measure_experiment(self, text: str, *options: str, timeout_s: int = TIMEOUT_S) -> None:
        """Run an experiment that must succeed, without probes and until it is measured; with `--estimates`, analyzed.

        Estimates and a report take longer than a small campaign, which most tests read one table of.
        """
        arguments = (str(self.experiment(text)), "--out", str(self.campaign), *options)
        status, out, words = self.run(*arguments, module="tests.interop.straight_line", timeout_s=timeout_s)
        assert status == 0, f"{out}\n{words}"

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


@pytest.fixture(scope="session")
def agent_copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A concurrent build must not replace the agent of a running campaign."""
    agent = built_agent()
    assert agent is not None
    return Path(shutil.copy2(agent, tmp_path_factory.mktemp("agent")))


@contextlib.contextmanager
def made_bench(folder: Path, agent_copy: Path) -> Iterator[Bench]:
    """A bench of which nothing outlives the tests that share it."""
    agent = folder / "wirelab-agent"
    agent.hardlink_to(agent_copy)
    bench = Bench(folder, agent)
    yield bench
    for alive in bench.processes():
        # It may end by itself meanwhile.
        with contextlib.suppress(ProcessLookupError):
            os.kill(alive, signal.SIGKILL)
    # What a failed test left open would be another test's warning.
    for process in bench.started:
        for pipe in (process.stdout, process.stderr):
            assert pipe is not None
            pipe.close()
        process.wait()


@pytest.fixture
def bench(tmp_path: Path, agent_copy: Path) -> Iterator[Bench]:
    with made_bench(tmp_path, agent_copy) as bench:
        yield bench


@pytest.fixture(scope="module")
def shared_bench(tmp_path_factory: pytest.TempPathFactory, agent_copy: Path) -> Iterator[Bench]:
    """A bench for a campaign that several tests of a module only read. They are of one `xdist_group`, or each worker
    runs a campaign of its own.
    """
    with made_bench(tmp_path_factory.mktemp("shared"), agent_copy) as bench:
        yield bench
