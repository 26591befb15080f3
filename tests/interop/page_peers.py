"""Third-party endpoints of the workload `page` on loopback: servers by their entries, and the browser."""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

from tests.interop.endpoints import SECURE, TIMEOUT_S, free_port

from wirelab.experiment.programs.implementations import ServerEntry
from wirelab.runner.implementations import find_program, load
from wirelab.schema import PageIdentity, PageLoads, registered
from wirelab.site import Page
from wirelab.site.hints import page_variables

NAME = "server.test"
BROWSER = Path(str(resources.files("wirelab.data").joinpath("clients", "chromium.py")))


@dataclass
class Peers:
    """A page's files, and who serves and loads them; `certificates` is a folder of PEM files."""

    folder: Path
    page: Page
    certificates: Path
    started: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.write(self.site)
        self.manifest.write_text(json.dumps(self.page.site.to_json()))

    @property
    def site(self) -> Path:
        return self.folder / "site"

    @property
    def manifest(self) -> Path:
        return self.folder / "manifest.json"

    def loads(self, loads: int) -> PageLoads:
        """The workload of so many loads."""
        site = self.page.site
        size = {"resources": len(site.resources), "body_bytes": site.body_bytes}
        page = PageIdentity(name="page", sha256=site.digest, **size)
        return PageLoads(loads=loads, timeout_ns=round(TIMEOUT_S * 1e9), page=page)

    @contextmanager
    def server(self, program: str, protocol: str, **settings: Any) -> Iterator[int]:
        """The port of a third-party server, started as its entry says; it must end when asked to."""
        described = load(None)[program]
        entry = described.roles.server
        assert isinstance(entry, ServerEntry)
        folder, port = self._folder(f"{program}-{protocol}"), free_port()
        known = defaults(protocol) | settings
        parameters = self.parameters("server", protocol, port, folder, known, loads=1, timeout_s=TIMEOUT_S)
        values = {
            **entry.variables(protocol, known, self.loads(1)), **page_variables(self.page.site, self.site),
            "address": "127.0.0.1", "host": "127.0.0.1", "port": port, "name": NAME, "directory": str(folder),
            "upload_bytes": 0, "download_bytes": 0, "parameters": str(parameters), **self._certificates(),
        }  # fmt: skip
        for file in entry.files:
            (folder / described.text(file.path, values)).write_text(described.text(file.text, values))
        command = described.command([*entry.command, *entry.arguments], values)
        variables = {key: described.text(text, values) for key, text in entry.environment.items()}
        with (folder / "stderr.txt").open("wb") as words:
            process = subprocess.Popen(
                [find_program(command[0]) or command[0], *command[1:]], cwd=folder, env={**os.environ, **variables},
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=words,
            )  # fmt: skip
        self.started.append(process)
        try:
            wait_until_ready(process, entry.ready, port, folder / "stderr.txt")
            yield port
        finally:
            process.terminate()
            process.communicate(timeout=TIMEOUT_S)

    def start_browser(
        self, protocol: str, port: int, *, loads: int = 1, timeout_s: float = TIMEOUT_S, **settings: Any
    ) -> tuple[subprocess.Popen[bytes], Path]:
        """The endpoint that drives it, and its output folder."""
        folder = self._folder(f"chromium-{protocol}")
        known = defaults(protocol) | {name.replace("_", "-"): value for name, value in settings.items()}
        parameters = self.parameters("client", protocol, port, folder, known, loads=loads, timeout_s=timeout_s)
        with (folder / "stderr.txt").open("wb") as words:
            process = subprocess.Popen(
                [sys.executable, "-B", BROWSER, parameters], cwd=folder, stdin=subprocess.DEVNULL, stdout=words,
                stderr=words,
            )  # fmt: skip
        self.started.append(process)
        return process, folder

    def browse(self, protocol: str, port: int, **more: Any) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """Rows of the loads and of their requests, once everything is over."""
        process, folder = self.start_browser(protocol, port, **more)
        process.communicate(timeout=2 * TIMEOUT_S)
        assert process.returncode == 0, (folder / "stderr.txt").read_text()
        return rows(folder / "exchanges.jsonl"), rows(folder / "resources.jsonl")

    def parameters(
        self, role: str, protocol: str, port: int, folder: Path, settings: Mapping[str, Any], **work: Any
    ) -> Path:
        """Write a parameter file."""
        path = folder / "parameters.json"
        site = self.page.site
        identity = {
            "name": "page", "sha256": site.digest, "resources": len(site.resources), "body_bytes": site.body_bytes,
        }  # fmt: skip
        content = {
            "schema_version": 1, "protocol": protocol, "role": role, "seed": 1, "output": str(folder),
            "settings": settings,
            "server": {"address": "127.0.0.1", "port": port, "name": NAME},
            "workload": {
                "kind": "page", "loads": work["loads"], "timeout_ns": round(work["timeout_s"] * 1e9), "page": identity,
            },
            "certificates": self._certificates() if protocol in SECURE else None,
            "page": {"manifest": str(self.manifest), "folder": str(self.site)},
        }  # fmt: skip
        path.write_text(json.dumps(content))
        return path

    def kill(self) -> None:
        """End what still runs."""
        for process in self.started:
            process.kill()
            process.communicate()

    def _certificates(self) -> dict[str, str]:
        return {name: str(self.certificates / f"{name}.pem") for name in ("authority", "chain", "key")}

    def _folder(self, name: str) -> Path:
        folder = self.folder / f"{name}-{len(self.started)}"
        folder.mkdir()
        return folder


def rows(path: Path) -> list[dict[str, Any]]:
    """The rows of a file."""
    return [json.loads(line) for line in path.read_text().splitlines()]


def defaults(protocol: str) -> dict[str, Any]:
    """The settings of a protocol as they are unless an experiment says otherwise."""
    described = registered().protocol(protocol)
    assert described is not None
    return {setting.name: setting.default for setting in described.settings}


def wait_until_ready(process: subprocess.Popen[bytes], ready: str, port: int, words: Path) -> None:
    """Until a server says so, or accepts a connection."""
    until = time.monotonic() + TIMEOUT_S
    while time.monotonic() < until:
        assert process.poll() is None, words.read_text()
        if ready == "event":
            assert process.stdout is not None
            if select.select([process.stdout], [], [], 0.1)[0]:
                assert json.loads(process.stdout.readline())["event"] == "ready"
                return
            continue
        with suppress(ConnectionRefusedError), socket.create_connection(("127.0.0.1", port)):
            return
        time.sleep(0.05)
    raise AssertionError("it does not get ready")


def processes_in(folder: Path) -> dict[int, str]:
    """Processes whose command line or environment names a folder."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal() and int(entry.name) != os.getpid():
            with suppress(OSError):
                command = (entry / "cmdline").read_bytes()
                if str(folder).encode() in command + (entry / "environ").read_bytes():
                    found[int(entry.name)] = command.replace(b"\0", b" ").decode(errors="replace")
    return found


def kill(process: int) -> None:
    """As nobody can be prepared for."""
    os.kill(process, signal.SIGKILL)
