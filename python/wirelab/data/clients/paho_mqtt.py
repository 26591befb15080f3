"""MQTT by Eclipse Paho: the client's half of the contract.

A `telemetry` is a PUBLISH with its acknowledgement, a `pubsub` a subscription.
"""

from __future__ import annotations

import asyncio
from itertools import count
from typing import Any

import paho.mqtt.client as mqtt
from contract import Parameters, Row, UnsupportedError, main, now
from hearing import Heard
from paho.mqtt.enums import CallbackAPIVersion

NUMBERS = count()


class Connection:
    """A session; Paho's own thread tells the loop of acknowledgements."""

    def __init__(self, parameters: Parameters) -> None:
        self.loop = asyncio.get_running_loop()
        self.opened: asyncio.Future[None] = self.loop.create_future()
        self.subscribed: asyncio.Future[None] = self.loop.create_future()
        self.published: dict[int, asyncio.Future[None]] = {}
        five = str(parameters.settings.get("version")) == "5"
        self.client = mqtt.Client(
            CallbackAPIVersion.VERSION2,
            client_id=f"paho-{parameters.all['seed'] % 10**9}-{next(NUMBERS)}",
            protocol=mqtt.MQTTv5 if five else mqtt.MQTTv311,
            reconnect_on_failure=False,  # its thread then ends with the connection
        )
        self.client.connect_timeout = parameters.workload["timeout_ns"] / 1e9
        if parameters.protocol == "mqtts":
            self.client.tls_set(ca_certs=parameters.certificates["authority"])
            self.client.tls_insecure_set(True)  # the certificate's name is not the address; its authority is checked
        self.client.on_connect = self._on_connect
        self.client.on_publish = self._on_publish
        self.client.on_disconnect = self._on_disconnect
        self.client.on_connect_fail = self._on_connect_fail
        self.client.on_subscribe = self._on_subscribe
        self.client.connect_async(parameters.address, parameters.port)
        self.client.loop_start()

    def end(self) -> asyncio.Future[Any]:
        """Disconnect, and end Paho's thread: done when that is over, which nobody has to wait for."""
        self.client.disconnect()
        return self.loop.run_in_executor(None, self.client.loop_stop)

    def _on_connect_fail(self, _client: Any, _data: Any) -> None:
        self.loop.call_soon_threadsafe(_settle, self.opened, "no connection")

    def _on_subscribe(self, _client: Any, _data: Any, _message: int, reasons: Any, _properties: Any) -> None:
        refused = [str(reason) for reason in reasons if reason.is_failure]
        self.loop.call_soon_threadsafe(_settle, self.subscribed, refused[0] if refused else None)

    def _on_connect(self, _client: Any, _data: Any, _flags: Any, reason: Any, _properties: Any) -> None:
        self.loop.call_soon_threadsafe(_settle, self.opened, None if not reason.is_failure else str(reason))

    def _on_publish(self, _client: Any, _data: Any, message: int, _reason: Any, _properties: Any) -> None:
        self.loop.call_soon_threadsafe(self._acknowledge, message)

    def _on_disconnect(self, _client: Any, _data: Any, _flags: Any, reason: Any, _properties: Any) -> None:
        for waiting in (self.opened, self.subscribed, *self.published.values()):
            self.loop.call_soon_threadsafe(_settle, waiting, f"disconnected: {reason}")

    def _acknowledge(self, message: int) -> None:
        _settle(self.published.setdefault(message, self.loop.create_future()), None)


def _settle(future: asyncio.Future[None], error: str | None) -> None:
    if not future.done():
        future.set_result(None) if error is None else future.set_exception(ConnectionError(error))


class Client:
    """Publishes to `wirelab/deliver`, or subscribes to `wirelab/notify`."""

    def __init__(self, parameters: Parameters) -> None:
        kind = parameters.workload["kind"]
        if parameters.protocol not in {"mqtt", "mqtts"} or kind not in {"telemetry", "pubsub"}:
            raise UnsupportedError(f"{parameters.workload['kind']} over {parameters.protocol}")
        self.parameters = parameters
        self.qos = int(parameters.settings.get("qos", 1))
        self.unanswered = self.qos == 0
        self.body = bytes(parameters.upload_bytes)

    async def connect(self, row: Row) -> Connection:
        """Open a session."""
        return await self._open()

    async def _open(self) -> Connection:
        connection = Connection(self.parameters)
        try:
            await connection.opened
        except BaseException:
            connection.end()
            raise
        return connection

    async def subscribe(self, number: int, heard: Heard) -> Connection:
        """Open a session that hears of changes."""
        connection = await self._open()

        def on_message(_client: Any, _data: Any, message: Any) -> None:
            connection.loop.call_soon_threadsafe(heard, message.payload, now())

        connection.client.on_message = on_message
        try:
            connection.client.subscribe("wirelab/notify", self.qos)
            await connection.subscribed
        except BaseException:
            connection.end()
            raise
        return connection

    async def exchange(self, connection: Connection, row: Row) -> None:
        """Publish, and wait until the library calls it published at this QoS."""
        row |= {"request_start_ns": now(), "body_sent_bytes": len(self.body)}
        said = connection.client.publish("wirelab/deliver", self.body, qos=self.qos)
        future = connection.published.setdefault(said.mid, connection.loop.create_future())
        await future
        del connection.published[said.mid]

    async def close(self, connection: Connection) -> None:
        """Disconnect and end Paho's thread."""
        await connection.end()


main(Client)
