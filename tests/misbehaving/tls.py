"""A client that makes handshakes and sends no message: `tls.py handshake PARAMETERS`."""

from __future__ import annotations

import ssl

from rows import parameters, perform, port_of, received, tcp


def main() -> None:
    """Perform a telemetry workload, or not."""
    given = parameters()
    context = ssl.create_default_context(cafile=given["certificates"]["authority"])

    def carry(_index: int) -> int | None:
        with context.wrap_socket(tcp(given), server_hostname=given["server"]["name"]) as opened:
            received(opened)
            return port_of(opened)

    perform(given, carry)


if __name__ == "__main__":
    main()
