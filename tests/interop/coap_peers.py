"""What the tests of CoAP run, all on loopback: our endpoints, a path that loses datagrams, libcoap and aiocoap."""

from __future__ import annotations

import contextlib
import json
import re
import select
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.interop.endpoints import free_port

PATIENCE_S = 60
# As the protocol `coaps` has them.
IDENTITY, KEY = "wirelab", "wirelab-shared-k"

Settings = dict[str, Any]
RESPONSE = re.compile(r"\bt:(?:ACK|CON|NON) c:([2-5]\.\d\d)\b")


def exchanges(upload: int, download: int, count: int = 3) -> Settings:
    """A workload of requests on new connections."""
    return {
        "kind": "request-response", "upload_bytes": upload, "download_bytes": download, "exchanges": count,
        "arrival": {"process": "closed"}, "concurrency": 1, "timeout_ns": 30_000_000_000,
        "connection": {"policy": "persistent", "connections": 1},
    }  # fmt: skip


def notify(message_bytes: int, messages: int) -> Settings:
    """A workload of changes, ten a second."""
    return {
        "kind": "pubsub", "message_bytes": message_bytes, "messages": messages, "subscribers": 1,
        "arrival": {"process": "fixed", "rate_hz": 10.0}, "timeout_ns": 5_000_000_000,
    }  # fmt: skip


@contextlib.contextmanager
def lossy_path(server: int, loses: Callable[[int], bool]) -> Iterator[int]:
    """A port that leads to the server's, but for datagrams that it loses, counted in each direction. For one client."""
    front = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    back = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    wake, woken = socket.socketpair()
    front.bind(("127.0.0.1", 0))
    back.connect(("127.0.0.1", server))

    def carry() -> None:
        client, counts = None, {front: 0, back: 0}
        while True:
            ready = select.select([front, back, woken], [], [])[0]
            if woken in ready:
                return
            for side in ready:
                try:
                    datagram, sender = side.recvfrom(65_536)
                except ConnectionRefusedError:
                    continue
                counts[side] += 1
                client = sender if side is front else client
                if not loses(counts[side] - 1):
                    if side is front:
                        back.send(datagram)
                    else:
                        front.sendto(datagram, client)

    thread = threading.Thread(target=carry)
    thread.start()
    try:
        yield front.getsockname()[1]
    finally:
        wake.send(b"x")
        thread.join()
        for each in (front, back, wake, woken):
            each.close()


@contextlib.contextmanager
def libcoap_server(folder: Path, *options: str) -> Iterator[int]:
    """libcoap's server, which makes a resource of whatever is put to it; DTLS is on the port after."""
    port = free_port()
    command = ["coap-server-openssl", "-A", "127.0.0.1", "-p", str(port), "-d", "20", "-k", KEY, "-h", "hint", *options]
    with (
        (folder / "libcoap.log").open("w") as log,
        subprocess.Popen(command, stdout=log, stderr=log, cwd=folder) as server,
    ):
        try:
            libcoap_client(folder, f"coap://127.0.0.1:{port}/")
            yield port
        finally:
            server.terminate()


def libcoap_client(folder: Path, url: str, *options: str, timeout_s: float = PATIENCE_S) -> bytes:
    """What libcoap's client prints."""
    command = ["coap-client-openssl", "-B", "20", *options, url]
    ran = subprocess.run(command, capture_output=True, cwd=folder, timeout=timeout_s, check=False)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def libcoap_post(folder: Path, url: str, length: int, *options: str) -> str:
    """The code of the last response to a body of so many octets: libcoap's client exits with 0 whatever came."""
    (folder / "body").write_bytes(bytes(length))
    command = ["coap-client-openssl", "-v", "7", "-B", "20", "-m", "post", "-t", "42", "-f", "body", *options, url]
    ran = subprocess.run(command, capture_output=True, cwd=folder, timeout=PATIENCE_S, check=False)
    codes = RESPONSE.findall((ran.stdout + ran.stderr).decode(errors="replace"))
    assert codes, ran.stderr
    return str(codes[-1])


def libcoap_put(folder: Path, port: int, path: str, body: bytes) -> None:
    """Make a resource, or change it."""
    (folder / "body").write_bytes(body)
    libcoap_client(folder, f"coap://127.0.0.1:{port}{path}", "-m", "put", "-f", "body")


def python(script: str, *arguments: object) -> list[str]:
    """The command of a script of aiocoap."""
    return [sys.executable, "-c", script, *map(str, arguments)]


AIOCOAP_SERVER = """
import asyncio, struct, sys, time
from aiocoap import CHANGED, CONTENT, Context, Message
from aiocoap import resource

class Bytes(resource.Resource, resource.PathCapable):
    async def render_get(self, request):
        # Longer than aiocoap waits before it acknowledges alone.
        await asyncio.sleep(float(sys.argv[2]))
        return Message(code=CONTENT, payload=bytes(int(request.opt.uri_path[-1])))

class Upload(resource.Resource):
    async def render_post(self, request):
        await asyncio.sleep(float(sys.argv[2]))
        return Message(code=CHANGED)

class Changes(resource.ObservableResource):
    state = b""

    async def render_get(self, request):
        return Message(code=CONTENT, payload=self.state)

    def update_observation_count(self, count):
        if count:
            asyncio.get_running_loop().create_task(self.change())

    async def change(self):
        for index in range(5):
            await asyncio.sleep(0.1)
            self.state = struct.pack(">IQ", index, time.monotonic_ns())
            self.updated_state()

async def main():
    site = resource.Site()
    site.add_resource(["bytes"], Bytes())
    site.add_resource(["upload"], Upload())
    site.add_resource(["changes"], Changes())
    await Context.create_server_context(site, bind=("127.0.0.1", int(sys.argv[1])))
    print("ready", flush=True)
    await asyncio.get_running_loop().create_future()

asyncio.run(main())
"""

AIOCOAP_CLIENT = """
import asyncio, json, sys
from aiocoap import Code, Context, Message, NON, CON

async def main():
    url, method, upload, kind, messages = sys.argv[1:]
    context = await Context.create_client_context()
    mtype = NON if kind == "NON" else CON
    message = Message(code=Code[method], uri=url, payload=bytes(int(upload)), mtype=mtype)
    if int(messages):
        message.opt.observe = 0
        asked = context.request(message)
        await asked.response
        heard = []
        async for notification in asked.observation:
            heard.append(len(notification.payload))
            if len(heard) == int(messages):
                break
        print(json.dumps({"heard": heard}))
    else:
        response = await asyncio.wait_for(context.request(message).response, 50)
        print(json.dumps({"code": response.code.dotted, "bytes": len(response.payload)}))
    await context.shutdown()

asyncio.run(main())
"""


@contextlib.contextmanager
def aiocoap_server(folder: Path, delay_s: float = 0.0) -> Iterator[int]:
    """aiocoap's server, which answers after a while."""
    port = free_port()
    command = python(AIOCOAP_SERVER, port, delay_s)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=folder) as server:
        try:
            assert server.stdout is not None
            assert server.stdout.readline() == "ready\n"
            yield port
        finally:
            server.terminate()


def aiocoap_client(url: str, method: str = "GET", upload: int = 0, kind: str = "CON", messages: int = 0) -> Settings:
    """What aiocoap's client was answered."""
    command = python(AIOCOAP_CLIENT, url, method, upload, kind, messages)
    ran = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert ran.returncode == 0, ran.stderr
    answer: Settings = json.loads(ran.stdout)
    return answer
