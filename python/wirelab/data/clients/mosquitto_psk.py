"""MQTT over TLS with a pre-shared key, by Mosquitto's publisher: the client's half of the contract.

A `telemetry` is one execution of `mosquitto_pub`, which connects, publishes, waits for the acknowledgement that its
quality of service has, and disconnects.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from contract import Parameters, Row, UnsupportedError, main
from timed import end_with_me

IDENTITY, KEY = "wirelab", "000102030405060708090a0b0c0d0e0f"
"""As in the broker's file of keys."""


class Client:
    """Publishes to `wirelab/deliver`."""

    def __init__(self, parameters: Parameters) -> None:
        if parameters.workload["connection"]["policy"] != "new":
            raise UnsupportedError("mosquitto_pub opens a connection for each message")
        message = Path(parameters.all["output"]) / "message"
        message.write_bytes(bytes(parameters.upload_bytes))
        self._command = [
            "mosquitto_pub", "-h", parameters.address, "-p", str(parameters.port), "-t", "wirelab/deliver",
            "-f", str(message), "-V", "mqttv311", "-q", str(parameters.settings["qos"]),
            "--psk", KEY, "--psk-identity", IDENTITY,
        ]  # fmt: skip

    async def connect(self, _row: Row) -> bool:
        """The publisher does."""
        return True

    async def exchange(self, _connection: bool, _row: Row) -> None:
        """Publish one message."""
        process = await asyncio.create_subprocess_exec(
            *self._command, stdin=asyncio.subprocess.DEVNULL, stdout=sys.stderr, stderr=asyncio.subprocess.PIPE,
            preexec_fn=end_with_me,
        )  # fmt: skip
        try:
            _, words = await process.communicate()
        except asyncio.CancelledError:
            process.kill()
            await process.wait()
            raise
        if process.returncode:
            raise ConnectionError(f"exit code {process.returncode}: {words.decode(errors='replace').strip()[-200:]}")

    async def close(self, _connection: bool) -> None:
        """The publisher did."""


if __name__ == "__main__":
    main(Client)
