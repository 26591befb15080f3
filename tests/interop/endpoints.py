"""Our endpoints on loopback, each a process of the agent with a folder of its own."""

from __future__ import annotations

import json
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wirelab.schema import registered

if TYPE_CHECKING:
    from conftest import Bench

TIMEOUT_S = 60
SECURE = {stack.name for stack in registered().stacks if stack.secure}


@dataclass
class Endpoints:
    """Our endpoints, each started with a folder of its own."""

    bench: Bench
    certificates: Path
    numbers: Iterator[int] = field(default_factory=count)

    def start(
        self, stack: str, role: str, port: int, workload: dict[str, Any], **settings: str
    ) -> tuple[subprocess.Popen[str], Path]:
        """Start one; where it writes."""
        folder = self.bench.folder / f"{role}-{next(self.numbers)}"
        folder.mkdir()
        files = {name: str(self.certificates / f"{name}.pem") for name in ("authority", "chain", "key")}
        parameters = {
            "schema_version": 1,
            "stack": stack,
            "role": role,
            "server": {"address": "127.0.0.1", "port": port, "name": "server.test"},
            "settings": {name.replace("_", "-"): value for name, value in settings.items()},
            "workload": workload,
            "certificates": files if stack in SECURE else None,
            "output": str(folder),
            "seed": 1,
        }
        path = folder / "parameters.json"
        path.write_text(json.dumps(parameters))
        command = [self.bench.agent, "endpoint", path]
        words = (folder / "stderr.txt").open("w")
        with words:
            return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=words, text=True), folder

    @contextmanager
    def server(self, stack: str, workload: dict[str, Any], **settings: str) -> Iterator[int]:
        """Our queue, at this port."""
        port = free_port()
        process, _ = self.start(stack, "server", port, workload, **settings)
        assert process.stdout is not None
        try:
            assert json.loads(process.stdout.readline()) == {"event": "ready", "ports": {"main": port}}
            yield port
            process.terminate()
            assert process.wait(TIMEOUT_S) == 0
        finally:
            process.kill()
            process.wait()
            process.stdout.close()


def free_port() -> int:
    """A TCP port of loopback that nobody has."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])
