"""`wirelab test` with a server and a client of the user's own, and requests that they know or do not."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.interop.test_virtual import WITHOUT_RIGHTS

from wirelab.schema.campaign import EntryStatus, read_journal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conftest import Bench

SERVER = """
import http.server, sys


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status, body=b""):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.answer(*((200, b"[]") if self.path == "/api/items" else (404,)))

    def do_PUT(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        right = (self.headers["Content-Type"], body) == ("text/plain", b"on")
        self.answer(201 if right else 400)

    def log_message(self, *_):
        pass


http.server.ThreadingHTTPServer(("", int(sys.argv[1])), Handler).serve_forever()
"""
CLIENT = """
import sys, urllib.request

sys.exit(len(urllib.request.urlopen(sys.argv[1]).read()) != 2000)
"""
QUICK = ("--link", "5ms", "--requests", "4", "--budget", "10s")


def measured(bench: Bench, program: str, *arguments: str) -> tuple[int, str, str]:
    (bench.folder / "server.py").write_text(SERVER)
    (bench.folder / "client.py").write_text(CLIENT)
    (bench.folder / "on.txt").write_text("on")
    return bench.run("test", *([program] if program else []), *QUICK, *arguments, timeout_s=120)


@pytest.mark.guest
def test_a_server_answers_its_own_path_and_a_bound_has_an_exit_code(bench: Bench) -> None:
    asked = ("python3 server.py {port}", "--get", "/api/items", "--clock", "virtual", "--fail-if")
    for bound, verdict, expected in (("median > 4 s", "kept", 0), ("median > 1 ms", "missed", 4)):
        code, out, words = measured(bench, *asked, bound)
        assert code == expected, words
        assert f": {verdict} in 1 of 1 scenario" in out
    results = sorted(path.name for path in (bench.folder / "results" / "test").iterdir())
    assert results == ["campaign", "implementations.toml", "test.toml"]


def test_a_path_that_is_not_there_is_named_with_its_status(bench: Bench) -> None:
    code, out, _ = measured(bench, "python3 server.py {port}", "--get", "/none")
    assert code == 1
    assert "No request completed: http1 (status 404)\nhint: this was GET /none; --get and its like name" in out
    assert "completed / attempted" not in out, "a table of nothing"


@pytest.mark.guest
def test_a_server_on_another_port_is_waited_for_once(bench: Bench) -> None:
    elsewhere = "python3 -m http.server 9999 --directory {port}"
    code, out, words = measured(bench, elsewhere, "--get", "/", "--clock", "virtual")
    assert code == 1
    assert out.startswith("No request completed: http1 (server was not ready after 20s (waited for TCP port ")
    assert words.count("hint: it must listen on the TCP port that it is given, on every address or on") == 1
    statuses = {entry.status for entry in read_journal(bench.folder / "results/test/campaign/journal.jsonl")[0]}
    assert EntryStatus.NOT_RUN in statuses


def test_a_body_and_a_header_arrive_as_given(bench: Bench) -> None:
    more = ("--put", "/api/items", "--body", "on.txt", "--header", "content-type: text/plain")
    code, out, words = measured(bench, "python3 server.py {port}", *more, "--connection", "persistent")
    assert code == 0, f"{out}{words}"


def test_a_client_gets_the_reply_of_the_built_in_server(bench: Bench) -> None:
    code, out, words = measured(bench, "", "--client", "python3 client.py {url}", "--get", "/items", "--reply", "2kB")
    assert code == 0, f"{out}{words}"
    code, out, _ = measured(bench, "", "--client", "python3 client.py {url}", "--get", "/items", "--reply", "1kB")
    assert code == 1


def test_a_server_that_ends_at_once_is_shown_with_its_last_words(bench: Bench) -> None:
    code, out, words = measured(bench, "python3 -c 'import sys; sys.exit(\"no database\")' {port}")
    assert code == 1
    assert "no database" in f"{out}{words}"


SECURE = SERVER.replace("import http.server, sys", "import http.server, ssl, sys").replace(
    'http.server.ThreadingHTTPServer(("", int(sys.argv[1])), Handler).serve_forever()',
    """server = http.server.ThreadingHTTPServer(("", int(sys.argv[1])), Handler)
context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
context.load_cert_chain(sys.argv[2], sys.argv[3])
server.socket = context.wrap_socket(server.socket, server_side=True)
server.serve_forever()""",
)


def test_a_server_over_tls_gets_a_certificate_that_the_client_trusts(bench: Bench) -> None:
    (bench.folder / "secure.py").write_text(SECURE)
    asked = ("python3 secure.py {port} {chain} {key}", "--get", "/api/items", "--protocol", "https1")
    code, out, words = measured(bench, *asked)
    assert code == 0, f"{out}{words}"


BROKER = """
port=$1
cat >broker.conf <<END
user root
listener $port
allow_anonymous true
END
exec mosquitto -c broker.conf
"""


@pytest.mark.mosquitto
def test_a_broker_takes_messages_to_its_own_topic(bench: Bench) -> None:
    (bench.folder / "broker.sh").write_text(BROKER)
    asked = ("sh broker.sh {port}", "--protocol", "mqtt", "--connection", "persistent")
    for more in ((), ("--body", "on.txt")):
        code, out, words = measured(bench, *asked, "--topic", "sensors/1", *more)
        assert code == 0, f"{out}{words}"


def test_a_client_of_coap_gets_a_url_and_a_client_that_asks_nobody_is_seen(bench: Bench) -> None:
    asked = ("--protocol", "coap,coap+tcp", "--get", "/items", "--reply", "500B")
    aiocoap = f"{sys.executable} {Path(sys.executable).with_name('aiocoap-client')} {{url}}"
    code, out, words = measured(bench, "", "--client", aiocoap, *asked)
    assert code == 0, f"{out}{words}"
    code, _, words = measured(bench, "", "--client", "true {url}", *asked)
    assert code == 1
    assert "not confirmed by the link" in words


@pytest.mark.mosquitto
@pytest.mark.parametrize("words", ["-L {url}", "-h {host} -p {port} -t {topic}"])
def test_a_publisher_gets_the_topic_and_the_message(bench: Bench, words: str) -> None:
    client = f"mosquitto_pub {words} -q 1 -f {{file}}"
    code, out, said = measured(bench, "", "--client", client, "--topic", "sensors/1", "--body", "on.txt")
    assert code == 0, f"{out}{said}"


HOSTED = (
    "unshare", "--user", "--map-root-user", "--mount", "sh", "-c",
    'mount -t tmpfs -o size=64m tmpfs /dev/shm && exec "$@"', "sh", "taskset", "--cpu-list", "0,1", *WITHOUT_RIGHTS,
)  # fmt: skip
"""Begins a command as on a hosted runner: no rights, no user namespaces, two CPUs, and 64 MiB of shared memory."""


@pytest.fixture
def memory() -> Iterator[MemoryGroup | None]:
    """A group of processes with the memory of a hosted runner; None where none can be made."""
    group = MemoryGroup(Path("/sys/fs/cgroup/memory") / f"wirelab-{os.getpid()}")
    try:
        group.folder.mkdir()
    except OSError as error:
        print(f"Memory is not limited: no cgroup of version 1 can be made ({error}).")
        yield None
        return
    try:
        (group.folder / "memory.limit_in_bytes").write_text(str(7 * 10**9))
        yield group
    finally:
        group.folder.rmdir()


@dataclass(frozen=True)
class MemoryGroup:
    folder: Path

    @property
    def begins(self) -> tuple[str, ...]:
        """Begins a command in the group."""
        return ("sh", "-c", f'echo $$ >{self.folder}/cgroup.procs && exec "$@"', "sh")

    @property
    def peak_bytes(self) -> int:
        return int((self.folder / "memory.max_usage_in_bytes").read_text())


@pytest.mark.guest
@pytest.mark.namespaces
def test_a_test_needs_nothing_that_a_hosted_runner_lacks(bench: Bench, memory: MemoryGroup | None) -> None:
    (bench.folder / "server.py").write_text(SERVER)
    asked = ("python3 server.py {port}", "--get", "/api/items", "--clock", "virtual")
    begins = () if memory is None else memory.begins
    code, out, words = bench.run("test", *asked, *QUICK, within=(*begins, *HOSTED), timeout_s=120)
    assert code == 0, f"{out}{words}"
    if memory is not None:
        assert memory.peak_bytes > 10**8, "it ran in the group"
        print(f"{memory.peak_bytes / 1e9:.1f} GB at most")


SLOWER = SERVER.replace('self.answer(*((200, b"[]")', 'self.answer(*((200, b"[" + b" " * 3000 + b"]")')


@pytest.mark.guest
def test_two_programs_are_compared_packet_by_packet(bench: Bench) -> None:
    (bench.folder / "larger.py").write_text(SLOWER)
    asked = ("python3 larger.py {port}", "--get", "/api/items", "--clock", "virtual", "--against")
    code, out, words = measured(bench, asked[0], *asked[1:], "python3 server.py {port}", "--margin", "50 %")
    assert code == 5, f"{out}{words}"
    assert "first change at packet" in out
    assert "server to client" in out
    code, out, words = measured(bench, "python3 server.py {port}", *asked[1:], "python3 ./server.py {port}")
    assert code == 0, f"{out}{words}"
    assert "the same packets at the same times in " in out
