"""CoAP as far as misbehaving programs speak it: `coap.py ROLE MISBEHAVIOUR PARAMETERS`.

Client: `few` posts half of each message. `options` posts nothing, with options as long as the message. Server: `early`
answers a message when its first block has come. `other` answers with as many other bytes.
"""

from __future__ import annotations

import socket
import sys

from rows import parameters, perform, port_of, ready, received, udp

CON, ACK, POST, CHANGED = 0, 2, 2, 0x44
URI_PATH, URI_QUERY, BLOCK1 = 11, 15, 27


def message(kind: int, code: int, number: int, token: bytes, rest: bytes) -> bytes:
    """A message (RFC 7252, section 3)."""
    return bytes([0x40 | kind << 4 | len(token), code]) + number.to_bytes(2, "big") + token + rest


def option(delta: int, value: bytes) -> bytes:
    """An option (RFC 7252, section 3.1)."""
    fields, ends = [], b""
    for number in (delta, len(value)):
        if number < 13:
            fields.append(number)
        elif number < 269:
            fields.append(13)
            ends += bytes([number - 13])
        else:
            fields.append(14)
            ends += (number - 269).to_bytes(2, "big")
    return bytes([fields[0] << 4 | fields[1]]) + ends + value


def client(misbehaviour: str) -> None:
    """Perform a telemetry workload, or not."""
    given = parameters()
    size = given["workload"]["message_bytes"]

    def carry(index: int) -> int | None:
        upload = option(URI_PATH, b"upload")
        if misbehaviour == "few":
            rest = upload + b"\xff" + bytes(size // 2)
        else:
            queries = [b"q" * min(200, size - start) for start in range(0, size, 200)]
            rest = upload + b"".join(
                option(URI_QUERY - URI_PATH if not i else 0, each) for i, each in enumerate(queries)
            )
        with udp(given) as server:
            server.send(message(CON, POST, 0x100 + index, b"mine", rest))
            received(server)
            return port_of(server)

    perform(given, carry)


def server(misbehaviour: str) -> None:
    """Serve until SIGTERM ends it."""
    given = parameters()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as opened:
        opened.bind((given["server"]["address"], given["server"]["port"]))
        print(f"{misbehaviour}: all goes well", file=sys.stderr, flush=True)
        ready(given)
        while True:
            asked, peer = opened.recvfrom(65_536)
            length = asked[0] & 15
            number, token = int.from_bytes(asked[2:4], "big"), asked[4 : 4 + length]
            body = b"\xff" + b"y" * 400 if misbehaviour == "other" else b""
            opened.sendto(message(ACK, CHANGED, number, token, body), peer)


if __name__ == "__main__":
    {"client": client, "server": server}[sys.argv[1]](sys.argv[2])
