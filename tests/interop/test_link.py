"""`wirelab link LINK -- COMMAND` in real namespaces: a user's own programs on the ends of a link."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from tests.interop.link_commands import LINK, python, until, words_of

if TYPE_CHECKING:
    from conftest import Bench

pytestmark = pytest.mark.namespaces

HTTP = f"{sys.executable} -m http.server 8000 --bind {{server}}"
CONNECT = """
import socket, sys, time
start = time.monotonic()
try:
    socket.create_connection((sys.argv[1], int(sys.argv[2])), timeout=20).close()
except ConnectionRefusedError:
    pass
print(time.monotonic() - start)
"""
"""Prints seconds of one round trip: a handshake, or a refusal by the kernel at the other end."""
LISTEN = """
import socket, sys
server = socket.create_server(("0.0.0.0", 8000))
for _ in range(int(sys.argv[1])):
    print("from", server.accept()[1][0], flush=True)
"""
"""Takes so many connections."""
RECEIVE = """
import socket
socket_ = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
socket_.bind(("0.0.0.0", 9000))
while True:
    print("got", socket_.recv(100).decode(), flush=True)
"""
SEND = "import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'goodbye', ('{server}', 9000))"
FLOOD = """
import socket
socket_ = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for number in range(200):
    socket_.sendto(b"x" * 50, ("10.77.0.2", 9))
"""


def test_a_command_waits_for_the_round_trip_of_its_link(bench: Bench) -> None:
    code, out, words = bench.run("link", "clean", "--set", "rtt=50ms", "--", *python(CONNECT, "{server}", "8000"))
    assert code == 0, words
    assert float(out) >= 0.05
    assert re.search(
        r"^wirelab: uplink   1 packet, 60 B, none lost; mean delay configured 25\.000 ms, measured ", words, re.M
    )
    assert re.search(r"^wirelab: downlink 1 packet, .* timing error p99 \d+\.\d{3} ms$", words, re.M)
    assert words.endswith(" on clean; reached the other end only, not the internet\n")
    bench.assert_nothing_left()


@pytest.mark.curl
def test_curl_and_the_users_server_run_at_the_ends(bench: Bench) -> None:
    (bench.folder / "hello.txt").write_text("hello\n")
    curl = ("curl", "--silent", "--write-out", "%{time_connect}", "http://{server}:8000/hello.txt")
    code, out, words = bench.run("link", "clean", "--set", "rtt=50ms", "--server", HTTP, "--", *curl)
    assert code == 0, words
    page, connect = out.splitlines()
    assert page == "hello"
    assert float(connect) >= 0.05
    assert '"GET /hello.txt HTTP/1.1" 200' in words
    assert all(line.startswith(("server: ", "wirelab: ")) for line in words.splitlines())
    bench.assert_nothing_left()


@pytest.mark.parametrize(
    ("command", "expected", "said"),
    [
        (("sh", "-c", "exit 3"), 3, ""),
        (("sh", "-c", "kill -TERM $$"), 143, ""),
        (("no-such-command", "-x"), 127, "error: no-such-command: command not found\n"),
        (("/etc/passwd",), 126, "error: /etc/passwd: cannot be started: Permission denied (os error 13)\n"),
    ],
)
def test_the_exit_code_is_the_commands(bench: Bench, command: tuple[str, ...], expected: int, said: str) -> None:
    code, out, words = bench.run("link", "clean", "--quiet", "--", *command)
    assert (code, out, words) == (expected, "", said)
    bench.assert_nothing_left()


def test_a_command_keeps_arguments_folder_and_environment_and_gets_addresses(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MINE", "a  b")
    values_of = "[os.environ[name] for name in sys.argv[5:]]"
    script = f"import json, os, sys; print(json.dumps([sys.argv[1:], os.getcwd(), {values_of}]))"
    words = ("two  words", "'\"$HOME", "{client}->{server}{x}", "--", "MINE", "WIRELAB_SERVER", "WIRELAB_CLIENT")
    code, out, err = bench.run("link", "clean", "--quiet", "--", *python(script, *words))
    assert (code, err) == (0, "")
    arguments, folder, values = json.loads(out)
    assert arguments == [*words[:2], "10.77.0.1->10.77.0.2{x}", *words[3:]]
    assert folder == str(bench.folder)
    assert values == ["a  b", "10.77.0.2", "10.77.0.1"]


def test_a_command_reaches_only_the_other_end(bench: Bench) -> None:
    script = "import socket; socket.create_connection(('192.0.2.1', 80))"
    code, _, words = bench.run("link", "clean", "--", *python(script))
    assert code == 1
    assert "Network is unreachable" in words


def test_nested_links_add_up(bench: Bench) -> None:
    server = f"{sys.executable} -c {shlex.quote(LISTEN)} 2"
    outer = ("link", "clean", "--quiet", "--set", "rtt=50ms", "--server", server)
    inner = (*LINK, "clean", "--quiet", "--set", "rtt=30ms", "--")
    code, out, words = bench.run(*outer, "--", *inner, *inner, *python(CONNECT, "{server}", "8000"))
    assert code == 0, words
    assert float(out) >= 0.11
    assert words == "server: from 10.77.2.1\n"
    bench.assert_nothing_left()


def test_ipv6_links_show_their_addresses_and_nested_ones_add_up(bench: Bench) -> None:
    listen = LISTEN.replace('("0.0.0.0", 8000)', '("::", 8000), family=socket.AF_INET6')
    server = f"{sys.executable} -c {shlex.quote(listen)} 2"
    outer = ("link", "clean", "--set", "rtt=50ms", "--set", "family=ipv6", "--server", server)
    inner = (*LINK, "clean", "--quiet", "--set", "rtt=30ms", "--set", "family=ipv6", "--")
    code, out, words = bench.run(*outer, "--", *inner, *inner, *python(CONNECT, "{server}", "8000"))
    assert code == 0, words
    assert float(out) >= 0.11
    assert "server: from fd77:0:0:2::1\n" in words
    assert re.search(r"^wirelab: downlink \d packets?, ", words, re.M)
    bench.assert_nothing_left()


def test_a_link_over_ipv6_carries_only_the_commands_packets(bench: Bench) -> None:
    link = ("link", "clean", "--set", "rtt=50ms", "--set", "family=ipv6", "--")
    script = CONNECT.replace("print(", "time.sleep(2); print(")
    code, out, words = bench.run(*link, *python(script, "{server}", "8000"))
    assert code == 0, words
    assert float(out) >= 0.05
    assert re.search(r"^wirelab: uplink   1 packet, 80 B, none lost; ", words, re.M), words
    assert re.search(r"^wirelab: downlink 1 packet, 60 B, none lost; ", words, re.M), words
    bench.assert_nothing_left()


def test_links_can_start_one_after_the_other_inside_a_link(bench: Bench) -> None:
    inner = shlex.join([*LINK, "clean", "--quiet", "--", *python(CONNECT, "10.77.0.2", "9")])
    outer = ("link", "clean", "--quiet", "--set", "rtt=20ms", "--")
    code, out, words = bench.run(*outer, "sh", "-c", f"{inner} && {inner}")
    assert code == 0, words
    assert all(float(line) >= 0.02 for line in out.splitlines())
    assert len(out.splitlines()) == 2


def test_the_last_packet_of_a_command_reaches_the_server(bench: Bench) -> None:
    server = f"{sys.executable} -u -c {shlex.quote(RECEIVE)}"
    code, _, words = bench.run(
        "link", "clean", "--set", "rtt=600ms", "--server", server, "--server-log", "server.log",
        "--server-ready", "udp:9000", "--quiet", "--", *python(SEND),
    )  # fmt: skip
    assert (code, words) == (0, "")
    assert (bench.folder / "server.log").read_text() == "got goodbye\n"


def test_a_log_has_every_packet_and_the_seed_repeats_it(bench: Bench) -> None:
    logs = [bench.folder / "first.wlpl", bench.folder / "second.wlpl"]
    fates = []
    for log in logs:
        code, _, words = bench.run(
            "link", '{ rtt = "5 ms", loss = "1 %" }', "--set", "loss=30%", "--seed", "42", "--log", str(log),
            "--", *python(FLOOD),
        )  # fmt: skip
        assert code == 0, words
        assert re.search(r"uplink   200 packets, 15\.6 kB, \d+ lost \(\d+ at random\)", words)
        assert "seed     42" in words
        replay = subprocess.run([bench.agent, "replay", log], capture_output=True, text=True, check=True)
        report = json.loads(replay.stdout)
        assert report["mismatches"] == 0
        rows = subprocess.run([bench.agent, "dissect", log], capture_output=True, text=True, check=True).stdout
        sent = [row for row in map(json.loads, rows.splitlines()) if row["uplink"]]
        fates.append([row["fate"] == "loss" for row in sorted(sent, key=lambda row: int(row["sequence"]))])
    assert len(fates[0]) == 200
    assert fates[0] == fates[1]
    assert 0 < sum(fates[0]) < 200


def test_an_existing_log_is_replaced_and_another_file_is_not(bench: Bench) -> None:
    log, notes = bench.folder / "packets.wlpl", bench.folder / "notes.txt"
    for _ in range(2):
        code, _, words = bench.run("link", "clean", "--log", str(log), "--", *python(CONNECT, "{server}", "8000"))
        assert code == 0, words
        assert log.stat().st_mode & 0o777 == 0o600
    notes.write_text("do not lose\n")
    for option in (f"--log={notes}", f"--pcap=client={notes}"):
        code, out, words = bench.run("link", "clean", option, "--", "echo", "never")
        assert (code, out) == (2, "")
        said = f"{notes}: a file of another kind is there already, and stays; only an earlier file of the same kind"
        assert words == f"error: {option.removesuffix(f'={notes}').replace('=', ' ')}: {said} is replaced\n"
    assert notes.read_text() == "do not lose\n"
    bench.assert_nothing_left()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--log=x", "--pcap=server=./x"), "--log and --pcap server name the same file, ./x"),
        (("--pcap=client=x", "--pcap=server=x"), "--pcap client and --pcap server name the same file, x"),
        (("--server=true", "--server-log=x", "--log=x"), "--log and --server-log name the same file, x"),
        (("--log=no/x",), "--log: no/x: the folder no cannot be used: No such file or directory (os error 2)"),
        (("--pcap=client=/dev/null",), "--pcap client: /dev/null: it is there already and no file, and stays; only"),
    ],
)
def test_impossible_files_are_refused_before_anything_starts(bench: Bench, options: tuple[str, ...], said: str) -> None:
    code, out, words = bench.run("link", "clean", *options, "--", "echo", "never")
    assert (code, out) == (2, "")
    assert words.startswith(f"error: {said}")
    assert not (bench.folder / "x").exists()
    bench.assert_nothing_left()


def test_a_killed_link_leaves_a_log_of_whole_records(bench: Bench) -> None:
    script = FLOOD + "print('sent', flush=True)\nimport time; time.sleep(1000)"
    process = bench.start("link", "clean", "--quiet", "--log", "packets.wlpl", "--", *python(script))
    assert process.stdout is not None
    assert process.stdout.readline() == "sent\n"
    log = bench.folder / "packets.wlpl"

    def rows() -> list[str]:
        dissect = subprocess.run([bench.agent, "dissect", log], capture_output=True, text=True, check=True)
        assert dissect.stderr == ""
        return [row for row in dissect.stdout.splitlines() if json.loads(row)["uplink"]]

    # While it runs. A thread of its own writes the log, so a busy machine may begin the file after the command.
    until(lambda: log.stat().st_size > 0, "the header of the log")
    until(lambda: len(rows()) == 200, "every packet in the log")
    process.kill()
    words_of(process)
    until(lambda: not bench.processes(), "the end of every process")
    assert len(rows()) == 200
    code, _, words = bench.run("show", str(log))
    assert (code, words) == (0, "")
    log.write_bytes(log.read_bytes()[:-7])
    code, out, words = bench.run("show", str(log))
    assert code == 0
    assert re.fullmatch(r"warning: .*packets\.wlpl ends within a record, of which \d+ bytes are left out: .*\n", words)
    assert out.startswith(" ")


def test_the_interfaces_run_when_the_command_starts(bench: Bench) -> None:
    flags = "__import__('fcntl').ioctl(__import__('socket').socket(), 0x8913, b'wirelab0'.ljust(40, b'\\0'))"
    is_running = f"print({flags}[16] & 0x40 > 0)"
    # The first link after a while is the one that the kernel is slow to call running.
    code, out, words = bench.run("link", "clean", "--quiet", "--", *python(is_running))
    assert (code, out, words) == (0, "True\n", "")


def test_a_server_reachable_only_from_its_own_end_is_reported_immediately(bench: Bench) -> None:
    server = f"{sys.executable} -m http.server 8000 --bind 127.0.0.1"
    code, out, words = bench.run("link", "clean", "--server", server, "--server-log", "log", "--", "echo", "never")
    assert (code, out) == (125, "")
    assert words == (
        "error: the server listens on 127.0.0.1:8000 only, where the other end cannot reach it\n"
        "hint: let it listen on 0.0.0.0 or 10.77.0.2; {server} in its command becomes 10.77.0.2\n"
    )
    bench.assert_nothing_left()


def test_a_server_that_is_slow_to_listen_is_waited_for_and_that_is_reported(bench: Bench) -> None:
    server = f"{sys.executable} -c {shlex.quote('import time; time.sleep(4)' + LISTEN)} 1"
    command = python(CONNECT, "{server}", "8000")
    code, _, words = bench.run("link", "clean", "--server", server, "--server-log", "log", "--", *command)
    assert code == 0
    waiting = "wirelab: waiting for the server, for at most 30s: it listens on no port that the other end can reach\n"
    assert words.count(waiting) == 1


@pytest.mark.parametrize(
    ("server", "said"),
    [
        ("sh -c 'echo no such file >&2; exit 4'", "ended with exit code 4 (no such file) before it was ready"),
        ("sh -c 'kill -9 $$'", "was ended by SIGKILL before it was ready"),
        ("no-such-server", "no-such-server: command not found"),
    ],
)
def test_a_server_that_does_not_start_is_reported_with_its_last_line(bench: Bench, server: str, said: str) -> None:
    code, out, words = bench.run("link", "clean", "--server", server, "--", "echo", "never")
    assert (code, out) == (125, "")
    assert words.splitlines()[-1].endswith(said)
    assert words.splitlines()[-1].startswith("error: ")
    bench.assert_nothing_left()


def test_a_server_that_ends_too_soon_is_a_warning(bench: Bench) -> None:
    server = f"{sys.executable} -c {shlex.quote(LISTEN)} 1"
    command = python(f"{CONNECT}time.sleep(2)", "{server}", "8000")
    code, _, words = bench.run("link", "clean", "--server", server, "--", *command)
    assert code == 0
    assert "warning: the server ended with exit code 0 (from 10.77.0.1)\n" in words
