"""HTTP/3 by aioquic: the client's half of the contract. A `pubsub` is a stream of server-sent events."""

from __future__ import annotations

import asyncio
import ssl
from contextlib import AsyncExitStack
from typing import Any

from aioquic.asyncio.client import connect
from aioquic.asyncio.protocol import QuicConnectionProtocol
from aioquic.h3.connection import H3_ALPN, H3Connection
from aioquic.h3.events import DataReceived, H3Event, HeadersReceived
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.events import ConnectionTerminated, QuicEvent
from contract import Parameters, Row, UnsupportedError, main, now
from hearing import Heard, events


class Http3(QuicConnectionProtocol):
    """One connection, one request at a time."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.http = H3Connection(self._quic)
        self.row: Row = {}
        self.done: asyncio.Future[None] | None = None
        self.incoming: asyncio.StreamReader | None = None

    def quic_event_received(self, event: QuicEvent) -> None:
        """Stamp what comes."""
        if isinstance(event, ConnectionTerminated) and self.done is not None and not self.done.done():
            self.done.set_exception(ConnectionError(event.reason_phrase or "the connection ended"))
        for http in self.http.handle_event(event):
            if self.incoming is not None and self.done is not None:
                self._tell(self.incoming, self.done, http)
                continue
            if self.done is None or self.done.done():
                continue
            if isinstance(http, HeadersReceived):
                self.row["first_response_byte_ns"] = self.row["first_final_byte_ns"] = now()
                self.row["status"] = int(dict(http.headers)[b":status"])
            if isinstance(http, DataReceived):
                self.row["body_received_bytes"] += len(http.data)
            if isinstance(http, HeadersReceived | DataReceived) and http.stream_ended:
                self.done.set_result(None)

    def _tell(self, incoming: asyncio.StreamReader, confirmed: asyncio.Future[None], http: H3Event) -> None:
        if isinstance(http, HeadersReceived) and not confirmed.done():
            confirmed.set_result(None)
        if isinstance(http, DataReceived):
            incoming.feed_data(http.data)

    async def listen(self, headers: list[tuple[bytes, bytes]]) -> asyncio.StreamReader:
        """Send a request whose response does not end, and wait for its beginning; what its body is read from."""
        self.incoming, self.done = asyncio.StreamReader(limit=2**26), asyncio.get_running_loop().create_future()
        self.http.send_headers(self._quic.get_next_available_stream_id(), headers, end_stream=True)
        self.transmit()
        await self.done
        return self.incoming

    async def request(self, row: Row, headers: list[tuple[bytes, bytes]], body: bytes) -> None:
        """Send a request and wait for the whole response."""
        self.row, self.done = row, asyncio.get_running_loop().create_future()
        row |= {"body_sent_bytes": len(body), "body_received_bytes": 0, "request_start_ns": now()}
        stream = self._quic.get_next_available_stream_id()
        self.http.send_headers(stream, headers, end_stream=not body)
        if body:
            row["first_body_sent_ns"] = now()
            self.http.send_data(stream, body, end_stream=True)
        self.transmit()
        await self.done


class Client:
    """A new connection is a new QUIC handshake."""

    def __init__(self, parameters: Parameters) -> None:
        if parameters.protocol != "h3":
            raise UnsupportedError(f"protocol {parameters.protocol}")
        self.parameters = parameters
        self.body = bytes(parameters.upload_bytes)
        self.listening: list[asyncio.Task[None]] = []
        authority = f"{parameters.name}:{parameters.port}"
        self.headers = [
            (b":method", b"POST" if self.body else b"GET"),
            (b":scheme", b"https"),
            (b":authority", authority.encode()),
        ]
        self.content = [
            (b"content-type", b"application/octet-stream"),
            (b"content-length", str(len(self.body)).encode()),
        ]

    async def connect(self, row: Row) -> tuple[AsyncExitStack, Http3]:
        """Handshake."""
        configuration = QuicConfiguration(
            alpn_protocols=H3_ALPN, is_client=True, server_name=self.parameters.name, verify_mode=ssl.CERT_REQUIRED
        )
        configuration.load_verify_locations(self.parameters.certificates["authority"])
        stack = AsyncExitStack()
        protocol = await stack.enter_async_context(
            connect(self.parameters.address, self.parameters.port, configuration=configuration, create_protocol=Http3)
        )
        row["handshake_ns"] = now()
        assert isinstance(protocol, Http3)
        return stack, protocol

    async def exchange(self, connection: tuple[AsyncExitStack, Http3], row: Row) -> None:
        """One request."""
        download_bytes = self.parameters.download_of(row)
        path = "/upload" if self.body else f"/bytes/{download_bytes}"
        headers = [*self.headers, (b":path", path.encode()), *(self.content if self.body else [])]
        await connection[1].request(row, headers, self.body)
        if row["status"] // 100 != 2:
            raise ValueError(f"status {row['status']}")
        if row["body_received_bytes"] != download_bytes:
            raise ValueError(f"body of {row['body_received_bytes']} bytes, not {download_bytes}")

    async def subscribe(self, number: int, heard: Heard) -> tuple[AsyncExitStack, Http3]:
        """Ask for the changes on a connection of its own."""
        connection = await self.connect({})
        try:
            asked = [*self.headers, (b":path", b"/changes"), (b"accept", b"text/event-stream")]
            stream = await connection[1].listen(asked)
        except BaseException:
            await self.close(connection)
            raise

        async def listen() -> None:
            async for body in events(stream):
                heard(body, now())

        self.listening.append(asyncio.create_task(listen()))
        return connection

    async def close(self, connection: tuple[AsyncExitStack, Http3]) -> None:
        """Close without waiting for the peer."""
        connection[1].close()
        connection[1].transmit()


main(Client)
