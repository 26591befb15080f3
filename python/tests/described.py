"""A small world of protocols for tests that must not change when a real protocol does."""

from pathlib import Path
from typing import Any

from tests.asked import load_experiment
from wirelab.experiment.experiment import Experiment
from wirelab.schema import Description

TLS = {
    "name": "tls",
    "about": "Version of TLS.",
    "values": {"type": "choice", "choices": ["1.3", "1.2"]},
    "default": "1.3",
}
NAGLE = {"name": "nagle", "about": "Nagle's algorithm.", "values": {"type": "boolean"}, "default": False}
WINDOW = {
    "name": "initial-window",
    "about": "Initial window.",
    "values": {"type": "integer", "minimum": 1, "maximum": 1_000_000, "unit": "bytes"},
    "default": 65535,
}
STREAMS = {
    "name": "streams",
    "about": "Streams.",
    "values": {"type": "integer", "minimum": 1, "maximum": 100, "unit": ""},
    "default": 1,
}
IDLE = {
    "name": "idle",
    "about": "Idle time-out.",
    "values": {"type": "integer", "minimum": 1, "maximum": 60_000, "unit": "ms"},
    "default": 30_000,
}


TLS_1_2 = {"setting": "tls", "value": "1.2", "part": "security", "round_trips": 2}


def _protocol(name: str, transport: str, *settings: dict[str, Any], secure: bool = False) -> dict[str, Any]:
    return {
        "name": name,
        "title": name.upper(),
        "about": f"The protocol {name}.",
        "libraries": ["lib 1.0"],
        "transport": transport,
        "default_port": 8080,
        "secure": secure,
        "echo": name.startswith("raw"),
        "timing": {
            "round_trips": {"transport": int(transport == "tcp"), "security": int(secure), "session": 0, "request": 1},
            "changes": [TLS_1_2] * (TLS in settings),
            "sequential": name.startswith("http"),
        },
        "roles": ["client", "server"],
        "workloads": [
            "request-response",
            "telemetry",
            *([] if name.startswith("raw") else ["pubsub", "stream", "page"]),
        ],
        "settings": list(settings),
    }


KNOWN = Description.model_validate(
    {
        "schema_version": 1,
        "protocols": [
            _protocol("raw-tcp", "tcp"),
            _protocol("raw-udp", "udp"),
            _protocol("http1", "tcp", NAGLE),
            _protocol("https1", "tcp", NAGLE, TLS, secure=True),
            _protocol("h2", "tcp", NAGLE, TLS, WINDOW, STREAMS, secure=True),
            _protocol("h3", "udp", IDLE, secure=True),
        ],
        "impairments": [{"kind": "loss", "about": "Independent loss: each packet alone."}],
        "shared": [{"kind": "radio", "about": "Sleep: of the client's radio."}],
    }
)

BASE = """\
title = "Test"
[factors]
protocol = ["http1", "h2"]
[links.wire]
rtt = "20 ms"
[workload]
upload = "30 B"
[stop]
replicates = 3
"""


def load(folder: Path, text: str = BASE, *sets: str) -> Experiment:
    """The experiment that a text means, in a file of its own."""
    file = folder / "test.toml"
    file.write_text(text, encoding="utf-8")
    return load_experiment(str(file), sets, KNOWN)
