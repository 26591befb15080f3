"""Who makes requests in `load`: our endpoint and the tool next to it, for each protocol, and the server of both."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bench.peers import Stages, Veth
from bench.peers.veth import SERVER_ADDRESS

CONNECTIONS = 8
MESSAGE_BYTES = 30
HTTP, MQTT, COAP = 8080, 1883, 5683
_NGINX = """
daemon off; master_process off; pid {folder}/nginx.pid; error_log stderr error;
events {{ worker_connections 1024; }}
http {{
    access_log off; client_body_temp_path {folder}/a; proxy_temp_path {folder}/b; fastcgi_temp_path {folder}/c;
    uwsgi_temp_path {folder}/d; scgi_temp_path {folder}/e; keepalive_requests 100000000; sendfile off;
    http2_max_requests 100000000;
    server {{ listen {port}{how}; root {folder}/www; }}
}}
"""
_MOSQUITTO = (
    "listener {port} 0.0.0.0\nallow_anonymous true\nset_tcp_nodelay true\nmax_queued_messages 0\nlog_dest none\n"
)


ADDRESSES = (SERVER_ADDRESS, "10.77.0.6")
"""Of the server, one for each generator: built-in clients of MQTT are distinguished by their own address."""


class TwoSubnets(Veth):
    """A veth whose ends have two addresses each."""

    def shaping(self, stages: Stages) -> str:  # noqa: ARG002
        """The second one."""
        return f"ip address add 10.77.0.5/30 dev near\n$in_server ip address add {ADDRESSES[1]}/30 dev far\n"


@dataclass(frozen=True)
class Load:
    """One protocol: its server, which writes its files into a folder, and who loads it, by name. Each makes so many
    requests.
    """

    name: str
    tool: str
    port: int
    transport: str
    needs: tuple[tuple[str, str], ...]
    """Programs and their packages."""
    server: Callable[[Path], list[str]]
    ours: Callable[[Path, Path, str, int], list[str]]
    """With the agent, in a folder that it makes: an address, and how many requests."""
    theirs: Callable[[str, int], list[str]]

    def missing(self) -> str | None:
        """How to get what is not here."""
        path = "/usr/sbin:/sbin:/usr/bin:/bin:/usr/local/bin"
        absent = [package for program, package in self.needs if shutil.which(program, path=path) is None]
        return f"apt install {' '.join(dict.fromkeys(absent))}" if absent else None


def loads() -> list[Load]:
    """Every protocol that has a tool."""
    nginx, h2load = ("nginx", "nginx-light"), ("h2load", "nghttp2-client")
    mosquitto = (("mosquitto", "mosquitto"), ("mosquitto_pub", "mosquitto-clients"))
    return [
        Load("http1", "h2load", HTTP, "tcp", (nginx, h2load), _nginx(""), _ask("http1", HTTP), _h2load("--h1")),
        Load("h2c", "h2load", HTTP, "tcp", (nginx, h2load), _nginx(" http2"), _ask("h2c", HTTP), _h2load()),
        Load("mqtt", "mosquitto_pub", MQTT, "tcp", mosquitto, _mosquitto, _tell("mqtt", MQTT), _mosquitto_pub),
    ]


def _nginx(how: str) -> Callable[[Path], list[str]]:
    def server(folder: Path) -> list[str]:
        body = folder / "www" / "bytes" / str(MESSAGE_BYTES)
        body.parent.mkdir(parents=True)
        body.write_bytes(bytes(MESSAGE_BYTES))
        (folder / "nginx.conf").write_text(_NGINX.format(folder=folder, port=HTTP, how=how), encoding="utf-8")
        return ["nginx", "-p", f"{folder}/", "-c", f"{folder}/nginx.conf", "-e", "stderr"]

    return server


def _mosquitto(folder: Path) -> list[str]:
    (folder / "mosquitto.conf").write_text(_MOSQUITTO.format(port=MQTT), encoding="utf-8")
    return ["mosquitto", "-c", str(folder / "mosquitto.conf")]


def _ask(protocol: str, port: int) -> Callable[[Path, Path, str, int], list[str]]:
    return _ours(protocol, port, {"kind": "request-response", "upload_bytes": 0, "download_bytes": MESSAGE_BYTES})


def _tell(protocol: str, port: int) -> Callable[[Path, Path, str, int], list[str]]:
    return _ours(protocol, port, {"kind": "telemetry", "message_bytes": MESSAGE_BYTES})


def _ours(protocol: str, port: int, work: dict[str, object]) -> Callable[[Path, Path, str, int], list[str]]:
    def client(agent: Path, folder: Path, address: str, requests: int) -> list[str]:
        kept = {"policy": "persistent", "connections": CONNECTIONS}
        workload = work | {"exchanges": requests, "concurrency": CONNECTIONS, "connection": kept}
        return endpoint(agent, folder, protocol, "client", (address, port), workload)

    return client


def endpoint(  # noqa: PLR0913, PLR0917 (what differs between endpoints)
    agent: Path, folder: Path, protocol: str, role: str, server: tuple[str, int], work: dict[str, object]
) -> list[str]:
    """The words that start one of our own endpoints, in a closed loop, whose files are in a folder that is made."""
    workload = {"arrival": {"process": "closed"}, "timeout_ns": 10 * 10**9} | work
    parameters = {
        "schema_version": 1, "protocol": protocol, "role": role, "settings": {}, "certificates": None,
        "server": {"address": server[0], "port": server[1], "name": "server.test"}, "workload": workload,
        "output": str(folder), "seed": 1,
    }  # fmt: skip
    folder.mkdir()
    file = folder / "parameters.json"
    file.write_text(json.dumps(parameters), encoding="utf-8")
    return [str(agent), "endpoint", str(file)]


def _h2load(*more: str) -> Callable[[str, int], list[str]]:
    def client(address: str, requests: int) -> list[str]:
        words = ["h2load", *more, f"--requests={requests}", f"--clients={CONNECTIONS}", "--max-concurrent-streams=1"]
        return [*words, f"http://{address}:{HTTP}/bytes/{MESSAGE_BYTES}"]

    return client


def _mosquitto_pub(address: str, requests: int) -> list[str]:
    words = ["mosquitto_pub", "-h", address, "-p", str(MQTT), "-q", "1", "-t", "wirelab/deliver"]
    return [*words, "-m", "x" * MESSAGE_BYTES, "--repeat", str(requests)]
