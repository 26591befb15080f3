"""What the tests of MQTT run on loopback: our endpoints, mosquitto's programs, and a client of paho's."""

from __future__ import annotations

import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import paho.mqtt.client as paho
from paho.mqtt.enums import CallbackAPIVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from tests.interop.endpoints import Endpoints, free_port

from wirelab.runner.implementations import find_program

PATIENCE_S = 20


def until(condition: Callable[[], Any], what: str) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, f"{what} did not happen within {PATIENCE_S} s"
        time.sleep(0.01)


@dataclass
class Loopback:
    """Programs on loopback, ended with the test."""

    ours: Endpoints
    processes: list[subprocess.Popen[str]] = field(default_factory=list)

    def start(self, command: list[Any]) -> subprocess.Popen[str]:
        words = [str(word) for word in command]
        process = subprocess.Popen(
            words,
            cwd=self.ours.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            text=True,
        )
        self.processes.append(process)
        return process

    def broker(self, protocol: str, workload: dict[str, Any]) -> int:
        """Start ours; its port."""
        return self.ours.ready(protocol, "server", 0, workload).port

    def mosquitto(self, protocol: str) -> int:
        """Start mosquitto; its port."""
        port = free_port()
        lines = ["user root", "allow_anonymous true", "set_tcp_nodelay true", f"listener {port} 127.0.0.1"]
        if protocol == "mqtts":
            folder = self.ours.certificates
            lines += [f"certfile {folder / 'chain.pem'}", f"keyfile {folder / 'key.pem'}"]
        path = self.ours.folder / "mosquitto.conf"
        path.write_text("\n".join(lines) + "\n")
        process = self.start([find_program("mosquitto"), "-c", path])
        until(lambda: process.poll() is None and answers(port), "mosquitto's start")
        return port

    def mosquitto_client(self, name: str, protocol: str, version: str, port: int, *options: Any) -> list[Any]:
        program = find_program(f"mosquitto_{name}")
        command = [program, "-h", "127.0.0.1", "-p", port, "-V", {"3.1.1": "mqttv311", "5": "mqttv5"}[version]]
        if protocol == "mqtts":
            command += ["--cafile", self.ours.certificates / "authority.pem"]
        return [*command, *options]

    def end(self) -> None:
        """End what still runs, however."""
        self.ours.kill()
        for process in self.processes:
            process.kill()
            process.communicate()


def answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


class Paho:
    """A client of paho's that keeps what it hears."""

    def __init__(self, ours: Endpoints, protocol: str, version: str, client_id: str, *, clean: bool = True) -> None:
        self.version = version
        self.heard: list[paho.MQTTMessage] = []
        self.acknowledged: dict[int, Any] = {}
        self.session_present = False
        self.ended: list[Any] = []
        self._confirmed = threading.Event()
        arguments = {"clean_session": clean} if version == "3.1.1" else {}
        version_number = paho.MQTTv311 if version == "3.1.1" else paho.MQTTv5
        self.client = paho.Client(CallbackAPIVersion.VERSION2, client_id, protocol=version_number, **arguments)
        self.clean = clean
        if protocol == "mqtts":
            context = ssl.create_default_context(cafile=str(ours.certificates / "authority.pem"))
            self.client.tls_set_context(context)
        self.client.on_message = lambda _client, _data, message: self.heard.append(message)
        self.client.on_publish = self._on_publish
        self.client.on_connect = self._on_connect
        self.client.on_disconnect = lambda _client, _data, _flags, reason, _properties: self.ended.append(reason)
        self.client.on_subscribe = lambda *_: self._confirmed.set()

    def _on_publish(self, _client: Any, _data: Any, number: int, reason: Any, _properties: Any) -> None:
        self.acknowledged[number] = reason

    def _on_connect(self, _client: Any, _data: Any, flags: Any, reason: Any, _properties: Any) -> None:
        assert reason == 0, reason
        self.session_present = bool(flags.session_present)
        self._confirmed.set()

    def connect(self, port: int) -> Paho:
        self._confirmed.clear()
        options: dict[str, Any] = {}
        if self.version == "5":
            properties = Properties(PacketTypes.CONNECT)
            properties.SessionExpiryInterval = 0 if self.clean else 3600
            options = {"clean_start": self.clean, "properties": properties}
        self.client.connect("127.0.0.1", port, keepalive=20, **options)
        self.client.loop_start()
        assert self._confirmed.wait(PATIENCE_S)
        return self

    def subscribe(self, topic: str, qos: int) -> Paho:
        self._confirmed.clear()
        self.client.subscribe(topic, qos)
        assert self._confirmed.wait(PATIENCE_S)
        return self

    def publish(self, topic: str, payload: str, qos: int, *, retain: bool = False, **properties: Any) -> Any:
        """Publish and wait for the acknowledgement; its reason."""
        given = None
        if properties:
            given = Properties(PacketTypes.PUBLISH)
            for name, value in properties.items():
                setattr(given, name, value)
        number = self.client.publish(topic, payload, qos, retain, given).mid
        until(lambda: number in self.acknowledged, "the acknowledgement")
        return self.acknowledged[number]

    def vanish(self) -> None:
        """End without a word."""
        self.client.socket().shutdown(socket.SHUT_RDWR)
        self.client.loop_stop()

    def close(self) -> None:
        self.client.disconnect()
        self.client.loop_stop()

    def messages(self) -> list[tuple[str, str]]:
        return [(message.topic, message.payload.decode()) for message in self.heard]
