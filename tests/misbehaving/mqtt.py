"""MQTT 3.1.1 as far as misbehaving programs speak it: `mqtt.py ROLE MISBEHAVIOUR PARAMETERS`.

Client: `session` connects with a client identifier as long as the message, and publishes nothing. `fewer` publishes
half of each message. `once` publishes the first message alone. Broker: `early` acknowledges a message when it begins.
`mute` acknowledges what is published and forwards nothing. `swallows` answers CONNECT and SUBSCRIBE alone.
"""

from __future__ import annotations

import socket
import socketserver
import sys

from rows import Row, parameters, perform, port_of, ready, received, tcp

CONNECT, CONNACK, PUBLISH, PUBACK, SUBSCRIBE, SUBACK, PINGREQ, PINGRESP = 1, 2, 3, 4, 8, 9, 12, 13
TOPIC = b"wirelab/deliver"


def packet(kind: int, flags: int, body: bytes) -> bytes:
    """A control packet (MQTT 3.1.1, section 2.2)."""
    length, rest = b"", len(body)
    while True:
        rest, digit = divmod(rest, 128)
        length += bytes([digit | (128 if rest else 0)])
        if not rest:
            return bytes([kind << 4 | flags]) + length + body


def text(words: bytes) -> bytes:
    """A string with its length before it."""
    return len(words).to_bytes(2, "big") + words


def client(misbehaviour: str) -> None:
    """Perform a telemetry workload, or not."""
    given = parameters()
    size = given["workload"]["message_bytes"]

    def carry(index: int) -> int | None:
        if misbehaviour == "once" and index:
            return None
        with tcp(given) as broker:
            name = b"c" * size if misbehaviour == "session" else b"c"
            broker.sendall(packet(CONNECT, 0, text(b"MQTT") + b"\x04\x02\x00\x3c" + text(name)))
            received(broker)
            if misbehaviour != "session":
                body = bytes(size // 2 if misbehaviour == "fewer" else size)
                broker.sendall(packet(PUBLISH, 2, text(TOPIC) + b"\x00\x01" + body))
                received(broker)
            return port_of(broker)

    perform(given, carry)


class Broker(socketserver.BaseRequestHandler):
    """Answers what it likes, and forwards nothing."""

    misbehaviour = ""
    request: socket.socket

    def handle(self) -> None:
        """Serve a connection."""
        with self.request.makefile("rb") as stream:
            while head := stream.read(1):
                length, shift = 0, 0
                while (digit := stream.read(1)[0]) & 128:
                    length, shift = length | (digit & 127) << shift, shift + 7
                length |= digit << shift
                kind, flags = head[0] >> 4, head[0] & 15
                start = stream.read(min(length, 4 + len(TOPIC)))
                if self.misbehaviour == "early":
                    self._answer(kind, flags, start)
                rest = stream.read(length - len(start))
                if self.misbehaviour != "early":
                    self._answer(kind, flags, start + rest)

    def _answer(self, kind: int, flags: int, body: bytes) -> None:
        if kind == CONNECT:
            self.request.sendall(packet(CONNACK, 0, b"\x00\x00"))
        elif kind == SUBSCRIBE:
            self.request.sendall(packet(SUBACK, 0, body[:2] + b"\x01"))
        elif kind == PINGREQ:
            self.request.sendall(packet(PINGRESP, 0, b""))
        elif kind == PUBLISH and flags & 6 and self.misbehaviour != "swallows":
            topic = int.from_bytes(body[:2], "big")
            self.request.sendall(packet(PUBACK, 0, body[2 + topic : 4 + topic]))


class Server(socketserver.ThreadingTCPServer):
    """A thread for each connection."""

    daemon_threads = True
    allow_reuse_address = True


def server(misbehaviour: str) -> None:
    """Serve until SIGTERM ends it."""
    given: Row = parameters()
    Broker.misbehaviour = misbehaviour
    with Server((given["server"]["address"], given["server"]["port"]), Broker) as broker:
        print(f"{misbehaviour}: all goes well", file=sys.stderr, flush=True)
        ready(given)
        broker.serve_forever()


if __name__ == "__main__":
    {"client": client, "server": server}[sys.argv[1]](sys.argv[2])
