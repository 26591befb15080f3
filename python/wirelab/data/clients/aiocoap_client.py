"""CoAP over UDP by aiocoap: the client's half of the contract."""

from __future__ import annotations

import asyncio
from typing import Any

import aiocoap
from aiocoap.numbers.constants import TransportTuning
from contract import Parameters, Row, UnsupportedError, main, now
from hearing import Heard


class Client:
    """A connection is a UDP socket of its own: CoAP has none."""

    def __init__(self, parameters: Parameters) -> None:
        if parameters.protocol != "coap":
            raise UnsupportedError(f"protocol {parameters.protocol}")
        self.parameters = parameters
        self.body = bytes(parameters.upload_bytes)
        host = f"[{parameters.address}]" if ":" in parameters.address else parameters.address
        self.origin = f"coap://{host}:{parameters.port}"
        self.listening: list[asyncio.Task[None]] = []
        self.confirmable = bool(parameters.settings.get("confirmable", True))

    async def connect(self, row: Row) -> Any:
        """Open the socket."""
        return await aiocoap.Context.create_client_context()

    async def exchange(self, connection: Any, row: Row) -> None:
        """One request; block-wise where it does not fit."""
        tuning = TransportTuning()
        tuning.reliability = self.confirmable
        download_bytes = self.parameters.download_of(row)
        request = aiocoap.Message(
            code=aiocoap.POST if self.body else aiocoap.GET,
            uri=f"{self.origin}/upload" if self.body else f"{self.origin}/bytes/{download_bytes}",
            payload=self.body,
            transport_tuning=tuning,
        )
        row |= {"request_start_ns": now(), "body_sent_bytes": len(self.body)}
        response = await connection.request(request).response
        row |= {"first_final_byte_ns": now(), "body_received_bytes": len(response.payload)}
        row["status"] = response.code.class_ * 100 + (int(response.code) & 31)
        if not response.code.is_successful():
            raise ValueError(f"response {response.code.dotted}")
        if len(response.payload) != download_bytes:
            raise ValueError(f"body of {len(response.payload)} bytes, not {download_bytes}")

    async def subscribe(self, number: int, heard: Heard) -> Any:
        """Observe the state; that which it is at first is none that was published, and empty."""
        context = await aiocoap.Context.create_client_context()
        asked = context.request(aiocoap.Message(code=aiocoap.GET, uri=f"{self.origin}/changes", observe=0))
        first = await asked.response
        if first.opt.observe is None:
            raise ConnectionError(f"not observed: {first.code.dotted}")
        if first.payload:
            heard(first.payload, now())

        async def listen() -> None:
            async for notification in asked.observation:
                heard(notification.payload, now())

        self.listening.append(asyncio.create_task(listen()))
        return context

    async def close(self, connection: Any) -> None:
        """Close the socket."""
        await connection.shutdown()


main(Client)
