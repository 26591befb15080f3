import gzip
import hashlib
import json
import os
import shlex
import signal
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from tests.asked import single_link
from tests.cli.test_main import run
from tests.fit import samples
from tests.fit.test_profile import transfer
from tests.snapshots import assert_golden
from wirelab.errors import WirelabError

PCAP = bytes.fromhex("d4c3b2a1") + bytes(20)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "ping.log"
    path.write_text(samples.iputils(samples.round_trips_ms(1, 300).tolist(), np.arange(300) % 60 == 30))
    return path


@pytest.fixture
def result(tmp_path: Path) -> Path:
    path = tmp_path / "result.json"
    path.write_text(json.dumps(samples.irtt([12_000_000, 13_000_000] * 50, [8_000_000] * 100, ["false"] * 100)))
    return path


def test_a_fitted_profile_goes_to_stdout_and_messages_to_stderr(log: Path) -> None:
    code, out, err = run("link", "fit", str(log))
    assert code == 0
    profile = tomllib.loads(out)
    assert hashlib.sha256(log.read_bytes()).hexdigest() in profile["sources"]["uplink.delay"]
    assert err.startswith("295 round trips: ")
    assert "Which direction lost a packet" in err


def test_a_fitted_profile_is_written_only_to_a_new_file(log: Path, tmp_path: Path) -> None:
    target = tmp_path / "mine.toml"
    code, out, err = run("link", "fit", str(log), "--out", str(target))
    assert (code, out) == (0, f"{target}\n")
    assert tomllib.loads(target.read_text())["title"].startswith("Fitted to a ping log: ")
    assert err.endswith('Next    [links] mine = { profile = "./mine.toml" }\n')
    assert run("link", "fit", str(log), "--out", str(target)) == (
        2, "", f"{target}: exists already\nhint: choose another name\n",
    )  # fmt: skip


def test_an_irtt_result_may_be_compressed(result: Path) -> None:
    packed = result.with_suffix(".json.gz")
    packed.write_bytes(gzip.compress(result.read_bytes()))
    assert (
        tomllib.loads(run("link", "fit", str(packed))[1])["link"]
        == tomllib.loads(run("link", "fit", str(result))[1])["link"]
    )


def test_with_synchronised_clocks_one_way_delays_are_used(result: Path) -> None:
    link = tomllib.loads(run("link", "fit", str(result), "--synchronised-clocks")[1])["link"]
    assert link["downlink"]["delay"] == "8 ms"


def test_a_capture_is_read_by_the_agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "mine.pcap"
    path.write_bytes(PCAP)
    asked: list[Sequence[str]] = []

    def ask(_: Path, arguments: Sequence[str], *, files: Sequence[str]) -> str:
        asked.append([*arguments, *files])
        return "\n".join(json.dumps(row) for row in transfer().rows)

    monkeypatch.setattr("wirelab.agent.find_agent", Path)
    monkeypatch.setattr("wirelab.agent.ask", ask)
    code, out, _ = run("link", "fit", str(path))
    assert code == 0
    assert tomllib.loads(out)["link"]["uplink"]["delay"] == "20 ms"
    assert asked == [["capture", str(path)]]


def test_a_capture_that_the_agent_cannot_read_is_an_input_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "mine.pcap"
    path.write_bytes(PCAP)

    def refuse(*_: object, **__: object) -> str:
        raise WirelabError("wirelab-agent capture: has link type 127")

    monkeypatch.setattr("wirelab.agent.find_agent", Path)
    monkeypatch.setattr("wirelab.agent.ask", refuse)
    assert run("link", "fit", str(path)) == (2, "", f"{path}: wirelab-agent capture: has link type 127\n")


def test_wrong_input_is_one_clear_error(tmp_path: Path, result: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("words.txt").write_text("hello\n")
    Path("one.log").write_text("64 bytes from 192.0.2.1: icmp_seq=1 ttl=57 time=20.0 ms\n")
    Path("cut.json").write_text(result.read_text()[:500])
    Path("cut.json.gz").write_bytes(gzip.compress(result.read_bytes())[:100])
    Path("other.json").write_text('{"a": 1}')
    parts = []
    for arguments in (
        ["none.log"], ["."], ["words.txt"], ["one.log"], ["cut.json"], ["cut.json.gz"], ["other.json"],
        ["one.log", "--synchronised-clocks"],
    ):  # fmt: skip
        code, out, err = run("link", "fit", *arguments)
        assert (code, out) == (2, "")
        parts.append(f"$ wirelab link fit {' '.join(arguments)}\n{err}")
    assert_golden("link-fit-errors.txt", "\n".join(parts))


@pytest.fixture
def became(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[list[str]]]:
    """The command that would replace this process; the link's descriptor is replaced by its content."""
    calls: list[list[str]] = []
    # A broken pipe would end this process, as it ends the program that is not begun here.
    ignored = {number: signal.getsignal(number) for number in (signal.SIGPIPE, signal.SIGXFSZ)}

    def become(_: Path, arguments: list[str]) -> None:
        at = arguments.index("--link-fd") + 1
        descriptor = int(arguments[at])
        assert os.get_inheritable(descriptor)
        with os.fdopen(descriptor) as file:
            calls.append([*arguments[:at], file.read(), *arguments[at + 1 :]])

    monkeypatch.setattr("wirelab.agent.find_agent", lambda: Path("agent"))
    monkeypatch.setattr("os.execv", become)
    yield calls
    for number, handler in ignored.items():
        signal.signal(number, handler)


def test_a_link_and_a_command_are_passed_to_the_agent(became: list[list[str]]) -> None:
    arguments = (
        "clean", "--set", "rtt=50ms", "--server", "my-broker -c 'a b'", "--server-ready", "tcp:1883",
        "--server-log", "-log", "--seed", "7", "--log", "p.wlpl", "-q", "--", "./mine", "--seed", "{server}", "--", "",
    )  # fmt: skip
    assert run("link", *arguments) == (0, "", "")
    [[program, verb, _, link, *rest]] = became
    assert (program, verb) == ("agent", "link-command")
    assert json.loads(link) == single_link("clean", ["rtt=50ms"]).to_json()
    assert rest == [
        "--name", "clean", "--seed", "7", '--server=["my-broker", "-c", "a b"]', "--server-ready=tcp:1883",
        "--server-log=-log", "--log=p.wlpl", "--quiet", "--", "./mine", "--seed", "{server}", "--", "",
    ]  # fmt: skip


def test_a_link_without_a_command_starts_a_shell_with_a_random_seed(became: list[list[str]]) -> None:
    for _ in range(2):
        assert run("link", "nb-iot") == (0, "", "")
    seeds = [call[call.index("--seed") + 1] for call in became]
    assert seeds[0] != seeds[1]
    assert all(call[-1] == "--" for call in became)


def test_an_impossible_link_command_is_one_clear_error(became: list[list[str]]) -> None:
    parts = []
    for arguments in (
        ["nbiot", "--", "sh"], ["fti"], ["clean", "curl", "x", "--", "y"], ["clean", "--sed", "3"], ["--", "sh"],
        ["clean", "--set", "rtt"], ["clean", "--server-ready", "1"], ["clean", "--server-log", "x"],
        ["clean", "--server", "x", "--server-ready", "tcp:70000"], ["clean", "--server", "a 'b"],
        ["clean", "--server", ""],
    ):  # fmt: skip
        code, out, err = run("link", *arguments)
        assert (code, out) == (2, "")
        parts.append(f"$ wirelab link {shlex.join(arguments)}\n{err}")
    assert became == []
    assert_golden("link-errors.txt", "\n".join(parts))


def test_the_help_of_link_names_the_reachable_addresses() -> None:
    code, out, _ = run("link", "nb-iot", "--help")
    assert code == 0
    assert out.startswith("Usage: wirelab link LINK [OPTIONS] [-- COMMAND [ARGUMENTS]...]\n")
    assert "only the other end, not the internet" in " ".join(out.split())


def test_help_names_the_subcommands() -> None:
    overview = run("link", "--help")[1]
    assert "LINK  Run a command, or a shell" in overview
    assert "fit   Fit a link profile to a ping log" in overview
    code, out, _ = run("link", "fit", "--help")
    assert code == 0
    assert "--synchronised-clocks" in out


def test_a_capture_of_an_end_goes_to_its_file(monkeypatch: pytest.MonkeyPatch) -> None:
    became: list[Sequence[str]] = []
    monkeypatch.setattr("wirelab.agent.find_agent", Path)
    monkeypatch.setattr("wirelab.cli.link._become", lambda _, arguments: became.append(arguments))
    code, _, err = run("link", "clean", "--pcap", "client=a=b.pcapng", "--pcap", "server=s.pcapng", "--", "true")
    assert (code, err) == (0, "")
    assert [word for word in became[0] if word.startswith("--pcap")] == [
        "--pcap=client=a=b.pcapng", "--pcap=server=s.pcapng",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("pcaps", "why"),
    [(["x.pcapng"], "is not client=FILE or server=FILE"), (["client="], "is not client=FILE"),
     (["client=a", "client=b"], "client has two files")],
)  # fmt: skip
def test_a_capture_names_its_end_and_one_file(pcaps: list[str], why: str) -> None:
    code, _, err = run("link", "clean", *(word for pcap in pcaps for word in ("--pcap", pcap)), "--", "true")
    assert code == 2
    assert why in err
