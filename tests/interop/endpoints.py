"""Our endpoints on loopback, each a process of the agent with a folder of its own, and ports for others."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import select
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from wirelab.schema import registered

TIMEOUT_S = 60
WORKERS, FIRST_PORT, PORTS_PER_WORKER = 12, 20_000, 1_000
_given = itertools.count()
SECURE = {protocol.name for protocol in registered().protocols if protocol.secure}


@dataclass
class Endpoint:
    """One that was started."""

    process: subprocess.Popen[str]
    folder: Path
    port: int

    def wait_until_ready(self) -> int:
        """Where it listens: of a client that waits, the port that it was given."""
        assert self.process.stdout is not None
        assert select.select([self.process.stdout], [], [], TIMEOUT_S)[0], "it does not get ready"
        said = json.loads(self.process.stdout.readline())
        assert said["event"] == "ready"
        self.port = said["ports"].get("main", self.port)
        return self.port

    def wait(self) -> None:
        """Until it has ended, and well."""
        self.process.communicate(timeout=TIMEOUT_S)
        assert self.process.returncode == 0, (self.folder / "stderr.txt").read_text()

    def rows(self) -> pl.DataFrame:
        """What a client recorded, once it has ended."""
        self.wait()
        return pl.read_ipc(self.folder / "exchanges.arrow")


@dataclass
class Endpoints:
    """Starts them; `certificates` are made here unless some are given."""

    agent: Path
    folder: Path
    given: Path | None = None
    started: list[Endpoint] = field(default_factory=list)

    @property
    def certificates(self) -> Path:
        """The folder of the authority's certificate, and of a chain and a key for loopback."""
        folder = self.given or self.folder / "certificates"
        if not folder.exists():
            command = [self.agent, "certificates", "--out", folder, "--address", "127.0.0.1"]
            subprocess.run(command, check=True, timeout=TIMEOUT_S)
        return folder

    def start(self, protocol: str, role: str, port: int, workload: dict[str, Any], **settings: Any) -> Endpoint:
        """Start one, and wait for nothing; a server at port 0 chooses one."""
        folder = self.folder / f"{role}-{len(self.started)}"
        folder.mkdir()
        names = ("authority", "chain", "key") if protocol in SECURE else ()
        parameters = {
            "schema_version": 1, "protocol": protocol, "role": role, "seed": 1, "output": str(folder),
            "workload": workload,
            "server": {"address": "127.0.0.1", "port": port, "name": "server.test"},
            "settings": {name.replace("_", "-"): value for name, value in settings.items()},
            "certificates": {name: str(self.certificates / f"{name}.pem") for name in names} or None,
        }  # fmt: skip
        path = folder / "parameters.json"
        path.write_text(json.dumps(parameters))
        with (folder / "stderr.txt").open("w") as words:
            process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", self.agent, "endpoint", path], cwd=folder, stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=words, text=True,
            )  # fmt: skip
        endpoint = Endpoint(process, folder, port)
        self.started.append(endpoint)
        return endpoint

    def ready(self, protocol: str, role: str, port: int, workload: dict[str, Any], **settings: Any) -> Endpoint:
        """Start one that says that it is ready."""
        endpoint = self.start(protocol, role, port, workload, **settings)
        endpoint.wait_until_ready()
        return endpoint

    @contextmanager
    def server(self, protocol: str, workload: dict[str, Any], **settings: Any) -> Iterator[int]:
        """A server at this port, which ends well when asked to."""
        server = self.ready(protocol, "server", 0, workload, **settings)
        yield server.port
        server.process.terminate()
        server.wait()

    def end(self) -> None:
        """End what still runs: it must do so well."""
        for endpoint in self.started:
            if endpoint.process.poll() is None:
                endpoint.process.terminate()
                endpoint.wait()

    def kill(self) -> None:
        """End what still runs, however."""
        for endpoint in self.started:
            endpoint.process.kill()
            endpoint.process.communicate()


def free_port() -> int:
    """A port of loopback that nobody has for TCP or UDP, nor the one after it.

    It is below the ports that the kernel gives to clients, and each test worker has its own range:
    a server that takes seconds to start finds its port still free.
    """
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    for _ in range(PORTS_PER_WORKER):
        port = FIRST_PORT + worker % WORKERS * PORTS_PER_WORKER + next(_given) % PORTS_PER_WORKER
        with contextlib.ExitStack() as stack, contextlib.suppress(OSError):
            for after, kind in itertools.product((0, 1), (socket.SOCK_STREAM, socket.SOCK_DGRAM)):
                stack.enter_context(socket.socket(socket.AF_INET, kind)).bind(("127.0.0.1", port + after))
            return port
    raise AssertionError(f"no port of this worker's {PORTS_PER_WORKER} is free")
