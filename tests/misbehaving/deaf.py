"""A server of any protocol that listens and answers nothing: `deaf.py PARAMETERS`."""

from __future__ import annotations

import socket
import sys
import time

from rows import parameters, ready


def main() -> None:
    """Serve nobody until SIGTERM ends it."""
    given = parameters()
    place = given["server"]["address"], given["server"]["port"]
    with socket.create_server(place) as stream, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams:
        stream.listen()
        datagrams.bind(place)
        print("deaf: all goes well", file=sys.stderr, flush=True)
        ready(given)
        time.sleep(600)


if __name__ == "__main__":
    main()
