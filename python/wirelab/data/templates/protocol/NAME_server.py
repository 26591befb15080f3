"""The server of a protocol of your own: reads a line and answers it, until it is asked to end."""

import signal
import socketserver
import sys


class Handler(socketserver.StreamRequestHandler):
    """One connection."""

    disable_nagle_algorithm = True

    def handle(self) -> None:
        """Answer each message once all of it is here."""
        for _ in self.rfile:
            self.wfile.write(b"k")


class Server(socketserver.ThreadingTCPServer):
    """A thread for each connection."""

    allow_reuse_address = daemon_threads = True


signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
with Server((sys.argv[1], int(sys.argv[2])), Handler) as server:
    print('{"event": "ready", "ports": {"main": %s}}' % sys.argv[2], flush=True)
    server.serve_forever()
