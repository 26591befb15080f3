"""Mutated conversations against the built-in servers: none panics or grows, and each still answers afterwards."""

from __future__ import annotations

import contextlib
import os
import random
import re
import select
import socket
import struct
import threading
from collections import deque
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.interop.covering import nightly
from tests.interop.endpoints import Endpoint, Endpoints
from tests.interop.mqtt_peers import until

from tests.damaging import BYTES

SEED = int(os.environ.get("WIRELAB_SEED") or 1)
INPUTS = int(os.environ.get("WIRELAB_LIVE_INPUTS") or 300)
"""For each server; `make nightly` gives 100,000."""
MOST_MEMORY_BYTES = 256 * 2**20
OPEN_AT_ONCE = 32
PATIENCE_S = 20.0
EXCHANGES = 4
WORKLOAD = {
    "kind": "telemetry", "message_bytes": 612, "exchanges": EXCHANGES, "arrival": {"process": "closed"},
    "concurrency": 2, "timeout_ns": 20_000_000_000, "connection": {"policy": "new"},
}  # fmt: skip
OVER_UDP = {"coap", "coaps", "h3"}
PROTOCOLS = [
    *("http1", "h2c", "coap", "coap+tcp", "mqtt", "amqp"),
    *(nightly(name) for name in ("https1", "h2", "h3", "coaps")),
]


@pytest.fixture
def endpoints(tmp_path: Path, agent_copy: Path) -> Iterator[Endpoints]:
    found = Endpoints(agent_copy, tmp_path)
    yield found
    found.kill()


class Recorder(threading.Thread):
    """A relay on loopback to a server, which keeps what each client sends: a stream, or the datagrams of one."""

    def __init__(self, server: int, *, udp: bool) -> None:
        super().__init__(daemon=True)
        self.sent: list[bytes] = []
        self._target, self._udp = ("127.0.0.1", server), udp
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM if udp else socket.SOCK_STREAM)
        self._socket.bind(("127.0.0.1", 0))
        self.port = int(self._socket.getsockname()[1])
        self._ended = threading.Event()
        if not udp:
            self._socket.listen(16)

    def run(self) -> None:
        if self._udp:
            self._relay_datagrams()
        else:
            self._relay_streams()

    def close(self) -> None:
        self._ended.set()
        self.join(PATIENCE_S)
        self._socket.close()

    def _relay_datagrams(self) -> None:
        outer: dict[tuple[str, int], socket.socket] = {}
        while not self._ended.is_set():
            for ready in select.select([self._socket, *outer.values()], [], [], 0.05)[0]:
                if ready is self._socket:
                    data, client = ready.recvfrom(65_536)
                    if client not in outer:
                        outer[client] = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
                    outer[client].sendto(data, self._target)
                    self.sent.append(data)
                else:
                    client = next(each for each, held in outer.items() if held is ready)
                    self._socket.sendto(ready.recv(65_536), client)
        for each in outer.values():
            each.close()

    def _relay_streams(self) -> None:
        pairs: dict[socket.socket, socket.socket] = {}
        places: dict[socket.socket, int] = {}
        while not self._ended.is_set():
            for ready in select.select([self._socket, *pairs], [], [], 0.05)[0]:
                if ready is self._socket:
                    inner, _ = ready.accept()
                    outer = socket.create_connection(self._target)
                    pairs |= {inner: outer, outer: inner}
                    places[inner] = len(self.sent)
                    self.sent.append(b"")
                    continue
                if ready not in pairs:
                    continue
                with contextlib.suppress(OSError):
                    if data := ready.recv(65_536):
                        pairs[ready].sendall(data)
                        if ready in places:
                            self.sent[places[ready]] += data
                        continue
                other = pairs.pop(ready)
                del pairs[other]
                ready.close()
                other.close()
        for each in pairs:
            each.close()


def recorded(endpoints: Endpoints, protocol: str, server: int) -> list[bytes]:
    """What the built-in client sends to the server."""
    recorder = Recorder(server, udp=protocol in OVER_UDP)
    recorder.start()
    rows = endpoints.start(protocol, "client", recorder.port, WORKLOAD).rows()
    recorder.close()
    assert rows["outcome"].to_list() == ["completed"] * EXCHANGES
    return [each for each in recorder.sent if each]


def inputs(seeds: list[bytes], chance: random.Random, count: int) -> Iterator[bytes]:
    """Mutated conversations; some go on as another one does."""
    changes = list(BYTES.values())
    for _ in range(count):
        content = chance.choice(seeds)
        for _ in range(chance.choice((1, 1, 1, 3))):
            content = chance.choice(changes)(content, chance)
        if chance.random() < 0.2:
            content += chance.choice(seeds)
        yield content


def give_datagrams(port: int, contents: Iterator[bytes]) -> None:
    """From several sockets in turn; the server has read each before many more are sent."""
    sockets = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(OPEN_AT_ONCE)]
    for each in sockets:
        each.setblocking(False)
    for number, content in enumerate(contents):
        sockets[number % OPEN_AT_ONCE].sendto(content[:65_000], ("127.0.0.1", port))
        if number % OPEN_AT_ONCE == OPEN_AT_ONCE - 1:
            until(lambda: waiting_bytes(port) == 0, "an empty queue of the server")
            for each in sockets:
                with contextlib.suppress(BlockingIOError, ConnectionError):
                    while True:
                        each.recv(65_536)
    for each in sockets:
        each.close()


def waiting_bytes(port: int) -> int:
    """What a server on loopback has not yet read from its UDP socket."""
    lines = Path("/proc/net/udp").read_text().splitlines()[1:]
    return sum(int(line.split()[4].partition(":")[2], 16) for line in lines if f":{port:04X} " in line[:30])


def give_streams(port: int, contents: Iterator[bytes], chance: random.Random) -> None:
    """Each over a connection of its own, which ends with FIN or later with a reset; no port waits for anything."""
    held: deque[socket.socket] = deque()
    for content in contents:
        client = socket.create_connection(("127.0.0.1", port), PATIENCE_S)
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        # The server may have closed it meanwhile.
        with contextlib.suppress(OSError):
            client.sendall(content)
            if chance.random() < 0.7:
                client.shutdown(socket.SHUT_WR)
        held.append(client)
        if len(held) == OPEN_AT_ONCE:
            oldest = held.popleft()
            oldest.setblocking(False)
            with contextlib.suppress(OSError):
                oldest.recv(65_536)
            oldest.close()
    for each in held:
        each.close()


def memory_bytes(server: Endpoint) -> int:
    """The most that it ever had."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{server.process.pid}/status").read_text())
    assert found is not None
    return int(found[1]) * 1024


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_no_input_makes_a_server_panic_grow_or_fall_silent(endpoints: Endpoints, protocol: str) -> None:
    server = endpoints.ready(protocol, "server", 0, WORKLOAD)
    chance = random.Random(f"{SEED} {protocol}")
    contents = inputs(recorded(endpoints, protocol, server.port), chance, INPUTS)
    if protocol in OVER_UDP:
        give_datagrams(server.port, contents)
    else:
        give_streams(server.port, contents, chance)
    memory = memory_bytes(server)
    print(f"{protocol}: {INPUTS} inputs from seed {SEED}, at most {memory >> 20} MB of memory")
    words = (server.folder / "stderr.txt").read_text(errors="replace")
    assert "panicked" not in words, words[-3000:]
    assert server.process.poll() is None, words[-3000:]
    assert memory < MOST_MEMORY_BYTES
    rows = endpoints.start(protocol, "client", server.port, WORKLOAD).rows()
    assert rows["outcome"].to_list() == ["completed"] * EXCHANGES
    server.process.terminate()
    server.wait()
