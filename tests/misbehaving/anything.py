"""A client of any protocol, of which it speaks none: `anything.py MISBEHAVIOUR PARAMETERS`.

`nothing` sends nothing. `few` sends half of each message's bytes. `bytes` sends as many bytes as each message has. What
they send is no message of the protocol.
"""

from __future__ import annotations

import sys
import time

from rows import parameters, perform, port_of, received, tcp, udp

OVER_UDP = {"raw-udp", "h3", "mqtt+quic", "coap", "coaps"}
DATAGRAM = 1_000


def main(misbehaviour: str) -> None:
    """Perform a telemetry workload, or not."""
    given = parameters()
    message = bytes(given["workload"]["message_bytes"])
    sent = message[: len(message) // 2] if misbehaviour == "few" else message

    def carry(_index: int) -> int | None:
        if misbehaviour == "nothing":
            time.sleep(0.05)
            return None
        over_udp = given["protocol"] in OVER_UDP
        with udp(given) if over_udp else tcp(given) as opened:
            for start in range(0, len(sent), DATAGRAM):
                opened.sendall(sent[start : start + DATAGRAM])
            received(opened)
            return port_of(opened)

    perform(given, carry)


if __name__ == "__main__":
    main(sys.argv[1])
