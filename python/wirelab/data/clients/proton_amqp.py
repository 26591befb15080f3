"""AMQP 1.0 by Apache Qpid Proton: the client's half of the contract. A `deliver` is a transfer and its `accepted`."""

from __future__ import annotations

import asyncio
from typing import Any

from contract import Parameters, Row, UnsupportedError, main, now
from proton import Message, SSLDomain
from proton.reactor import AtLeastOnce, AtMostOnce
from proton.utils import BlockingConnection


class Client:
    """Sends to `deliver`; Proton's blocking calls run in a thread."""

    def __init__(self, parameters: Parameters) -> None:
        if parameters.stack not in {"amqp", "amqps"} or parameters.workload["kind"] != "deliver":
            raise UnsupportedError(f"{parameters.workload['kind']} over {parameters.stack}")
        self.parameters = parameters
        settings = parameters.settings
        self.address = f"{settings.get('address-prefix', '')}deliver"
        self.settled = settings.get("delivery") == "at-most-once"
        if settings.get("delivery") == "exactly-once":
            raise UnsupportedError("exactly-once delivery")
        self.timeout_s = parameters.workload["timeout_ns"] / 1e9
        self.body = bytes(parameters.upload_bytes)

    async def connect(self, row: Row) -> tuple[Any, Any]:
        """Open connection, session and link."""
        return await asyncio.to_thread(self._connect)

    def _connect(self) -> tuple[Any, Any]:
        parameters = self.parameters
        host = f"[{parameters.address}]" if ":" in parameters.address else parameters.address
        domain = None
        if parameters.stack == "amqps":
            domain = SSLDomain(SSLDomain.MODE_CLIENT)
            domain.set_trusted_ca_db(parameters.certificates["authority"])
            domain.set_peer_authentication(SSLDomain.VERIFY_PEER)
        scheme = "amqps" if domain else "amqp"
        connection = BlockingConnection(
            f"{scheme}://{host}:{parameters.port}", timeout=self.timeout_s, ssl_domain=domain, sasl_enabled=False
        )
        sender = connection.create_sender(self.address, options=AtMostOnce() if self.settled else AtLeastOnce())
        return connection, sender

    async def exchange(self, connection: tuple[Any, Any], row: Row) -> None:
        """One transfer; the call returns when it is settled, and raises unless it was accepted."""
        row |= {"request_start_ns": now(), "body_sent_bytes": len(self.body)}
        await asyncio.to_thread(connection[1].send, Message(body=self.body), timeout=self.timeout_s)

    async def close(self, connection: tuple[Any, Any]) -> None:
        """Close the connection."""
        await asyncio.to_thread(connection[0].close)


main(Client)
