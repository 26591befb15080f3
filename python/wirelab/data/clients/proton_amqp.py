"""AMQP 1.0 by Apache Qpid Proton: the client's half of the contract.

A `telemetry` message is a transfer and its `accepted`, a `pubsub` subscriber a receiver with credit.
One thread runs Proton's reactor for as long as the process; what asyncio wants of it is injected as an event, and what
came is reported by settling a future.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from contract import Parameters, Row, UnsupportedError, main, now
from hearing import Heard
from proton import Endpoint, Message, SSLDomain
from proton.handlers import MessagingHandler
from proton.reactor import ApplicationEvent, AtLeastOnce, AtMostOnce, Container, EventInjector

CREDIT = 200
LAST_WORDS_S = 2.0


@dataclass
class Link:
    """A connection with its one link, and who waits for what."""

    opened: asyncio.Future[None]
    closed: asyncio.Future[None]
    heard: Heard | None = None
    connection: Any = None
    link: Any = None
    deliveries: dict[str, asyncio.Future[None]] = field(default_factory=dict)


ADDRESSES = {"telemetry": "deliver", "pubsub": "notify"}
"""Of messages, by the kind of workload (docs/concepts/equal-work.md)."""


class Reactor(MessagingHandler):
    """Proton's side, all of it in its thread."""

    def __init__(self, client: Client) -> None:
        super().__init__(prefetch=CREDIT, auto_settle=True)
        self.client, self.injector = client, EventInjector()
        self.loop = asyncio.get_running_loop()
        container = Container(self)
        container.selectable(self.injector)
        # Nothing of it is worth the process's waiting at its end.
        threading.Thread(target=container.run, daemon=True).start()
        self.container = container

    def do(self, what: Callable[[], None]) -> None:
        """Have it done in Proton's thread."""
        self.injector.trigger(ApplicationEvent("asked", subject=what))

    def on_asked(self, event: Any) -> None:
        """Do it."""
        event.subject()

    def open(self, link: Link) -> None:
        """Connection, session and link."""
        client = self.client
        connection = self.container.connect(client.url, ssl_domain=client.domain, sasl_enabled=False, reconnect=False)
        link.connection = connection
        connection.context_of_ours = link
        options = AtMostOnce() if client.settled else AtLeastOnce()
        make = self.container.create_sender if link.heard is None else self.container.create_receiver
        link.link = make(connection, client.address, options=options)

    def send(self, link: Link, body: bytes, sent: asyncio.Future[None]) -> None:
        """One transfer; what is settled is done with it."""
        delivery = link.link.send(Message(body=body))
        if self.client.settled:
            self._settle(sent, None)
        else:
            link.deliveries[delivery.tag] = sent

    def close(self, link: Link) -> None:
        """Say good-bye; a peer that has said nothing yet is not waited for."""
        connection = link.connection
        connection.close()
        if connection.transport is not None and not connection.state & Endpoint.REMOTE_ACTIVE:
            connection.transport.close_tail()
            connection.transport.close_head()

    def on_link_opened(self, event: Any) -> None:
        """The other side has attached."""
        self._settle(event.connection.context_of_ours.opened, None)

    def on_message(self, event: Any) -> None:
        """A change; its acceptance goes by itself."""
        at_ns, body = now(), bytes(event.message.body)
        self.loop.call_soon_threadsafe(event.connection.context_of_ours.heard, body, at_ns)

    def on_accepted(self, event: Any) -> None:
        """It is at the other side's application."""
        self._delivered(event, None)

    def on_rejected(self, event: Any) -> None:
        """It is not."""
        self._delivered(event, f"rejected: {event.delivery.remote.condition}")

    def on_released(self, event: Any) -> None:
        """Nor here."""
        self._delivered(event, "released")

    def on_connection_closed(self, event: Any) -> None:
        """Both sides have said good-bye, so that all that was sent is there."""
        self._settle(event.connection.context_of_ours.closed, None)

    def on_connection_error(self, event: Any) -> None:
        """The peer closed it with a reason."""
        self._fail(event, str(event.connection.remote_condition))

    def on_link_error(self, event: Any) -> None:
        """The peer detached it with a reason."""
        self._fail(event, str(event.link.remote_condition))

    def on_transport_error(self, event: Any) -> None:
        """No connection, or none any more."""
        self._fail(event, str(event.transport.condition))

    def on_disconnected(self, event: Any) -> None:
        """Whatever still waits waits in vain."""
        self._fail(event, "disconnected")

    def _delivered(self, event: Any, error: str | None) -> None:
        sent = event.connection.context_of_ours.deliveries.pop(event.delivery.tag, None)
        if sent is not None:
            self._settle(sent, error)

    def _fail(self, event: Any, error: str) -> None:
        link: Link | None = getattr(event.connection, "context_of_ours", None)
        if link is not None:
            for waiting in (link.opened, *link.deliveries.values()):
                self._settle(waiting, error)
            self._settle(link.closed, None)

    def _settle(self, future: asyncio.Future[None], error: str | None) -> None:
        def settle() -> None:
            if not future.done():
                future.set_result(None) if error is None else future.set_exception(ConnectionError(error))

        self.loop.call_soon_threadsafe(settle)


class Client:
    """Sends to `deliver`, or receives from `notify`."""

    def __init__(self, parameters: Parameters) -> None:
        kind = parameters.workload["kind"]
        if parameters.protocol not in {"amqp", "amqps"} or kind not in {"telemetry", "pubsub"}:
            raise UnsupportedError(f"{kind} over {parameters.protocol}")
        if parameters.settings.get("delivery") == "exactly-once":
            raise UnsupportedError("exactly-once delivery")
        prefix = parameters.settings.get("address-prefix", "none")
        self.address = f"{'' if prefix == 'none' else prefix}{ADDRESSES[kind]}"
        self.settled = self.unanswered = parameters.settings.get("delivery") == "at-most-once"
        self.body = bytes(parameters.upload_bytes)
        host = f"[{parameters.address}]" if ":" in parameters.address else parameters.address
        self.url = f"{parameters.protocol}://{host}:{parameters.port}"
        self.domain = None
        if parameters.protocol == "amqps":
            self.domain = SSLDomain(SSLDomain.MODE_CLIENT)
            self.domain.set_trusted_ca_db(parameters.certificates["authority"])
            self.domain.set_peer_authentication(SSLDomain.VERIFY_PEER)
        self.reactor: Reactor | None = None

    async def connect(self, row: Row) -> Link:
        """Open connection, session and link."""
        return await self._open(None)

    async def subscribe(self, number: int, heard: Heard) -> Link:
        """The same, of a receiver."""
        return await self._open(heard)

    async def _open(self, heard: Heard | None) -> Link:
        if self.reactor is None:
            self.reactor = Reactor(self)
        loop = asyncio.get_running_loop()
        link = Link(loop.create_future(), loop.create_future(), heard)
        reactor = self.reactor
        reactor.do(lambda: reactor.open(link))
        try:
            await link.opened
        except BaseException:
            await self.close(link)
            raise
        return link

    async def exchange(self, connection: Link, row: Row) -> None:
        """One transfer; done when it is settled, unless it was not accepted."""
        row |= {"request_start_ns": now(), "body_sent_bytes": len(self.body)}
        sent: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        reactor = self.reactor
        assert reactor is not None, "connect() makes it"
        reactor.do(lambda: reactor.send(connection, self.body, sent))
        await sent

    async def close(self, connection: Link) -> None:
        """Have the connection closed. What nothing accepts may still be in Proton's buffers, and is waited for."""
        reactor = self.reactor
        assert reactor is not None, "connect() makes it"
        reactor.do(lambda: reactor.close(connection))
        if self.settled:
            with suppress(TimeoutError):
                await asyncio.wait_for(connection.closed, LAST_WORDS_S)


main(Client)
