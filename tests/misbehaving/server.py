"""A server of HTTP/1.1 that does not do what it says: `server.py MISBEHAVIOUR PARAMETERS` (docs/contract.md).

`early` answers when it has the header of a request. `few` sends half of each answer, and says that it was all.
`other` sends an answer of the right size with other bytes. `silent` never answers.
`cache` answers every request alike, as from a cache.
"""

from __future__ import annotations

import json
import socketserver
import sys
import time
from http.server import BaseHTTPRequestHandler
from pathlib import Path


class Handler(BaseHTTPRequestHandler):
    """Answers each request in its way."""

    protocol_version = "HTTP/1.1"
    misbehaviour = ""
    download_bytes = 0

    def do_POST(self) -> None:
        """Answer a request, or not."""
        length = int(self.headers.get("Content-Length", 0))
        if self.misbehaviour == "early":
            self._answer(self.download_bytes)
            self.rfile.read(length)
            return
        self.rfile.read(length)
        if self.misbehaviour == "silent":
            time.sleep(60)
            return
        self._answer(self.download_bytes // 2 if self.misbehaviour == "few" else self.download_bytes)

    def _answer(self, size: int) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(size))
        self.end_headers()
        self.wfile.write(b"y" * size)

    do_GET = do_POST  # noqa: N815 (named by http.server)

    def log_message(self, *_: object) -> None:
        """Log nothing."""


class Server(socketserver.ThreadingTCPServer):
    """A thread for each connection."""

    daemon_threads = True
    allow_reuse_address = True


def main(misbehaviour: str, parameters: Path) -> None:
    """Serve until SIGTERM ends it."""
    given = json.loads(parameters.read_text(encoding="utf-8"))
    Handler.misbehaviour = misbehaviour
    downloads = given["workload"].get("download_bytes", [0])
    Handler.download_bytes = downloads[0] if isinstance(downloads, list) else downloads
    with Server((given["server"]["address"], given["server"]["port"]), Handler) as server:
        print(f"{misbehaviour}: all goes well", file=sys.stderr, flush=True)
        print(json.dumps({"event": "ready", "ports": {"main": given["server"]["port"]}}), flush=True)
        server.serve_forever()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
