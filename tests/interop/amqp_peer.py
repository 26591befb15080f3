"""A Qpid Proton server that takes every message: `amqp_peer.py PORT [CHAIN KEY]`. It says `ready` once it listens."""

from __future__ import annotations

import sys

from proton import Event, SSLDomain
from proton.handlers import MessagingHandler
from proton.reactor import Container


class Peer(MessagingHandler):
    """Accepts what is unsettled, and says what came."""

    def on_start(self, event: Event) -> None:
        """Listen."""
        port, *files = sys.argv[1:]
        domain = None
        if files:
            domain = SSLDomain(SSLDomain.MODE_SERVER)
            domain.set_credentials(*files, None)
        event.container.listen(f"{'amqps' if files else 'amqp'}://127.0.0.1:{port}", ssl_domain=domain)
        print("ready", flush=True)

    def on_message(self, event: Event) -> None:
        """Say where it was sent, how long its body is, and whether it came settled."""
        address = event.link.remote_target.address
        print(address, len(event.message.body), event.delivery.settled, flush=True)


Container(Peer()).run()
