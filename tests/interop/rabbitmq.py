"""A RabbitMQ of one's own, on loopback, with everything it writes in one folder."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.interop.endpoints import free_port

SERVER = Path("/usr/lib/rabbitmq/bin/rabbitmq-server")
# On an idle machine it takes some ten seconds.
START_S = 180


@dataclass(frozen=True)
class RabbitMq:
    """Where it listens."""

    port: int
    tls_port: int
    folder: Path

    @property
    def log(self) -> str:
        """What it said."""
        return (self.folder / "output.txt").read_text()


def missing() -> str | None:
    """Why it cannot run here; none if it can."""
    return None if SERVER.exists() and shutil.which("epmd") else "rabbitmq-server is not installed"


@contextlib.contextmanager
def running(folder: Path, certificates: Path) -> Iterator[RabbitMq]:
    """Start it with the AMQP 1.0 plug-in; at the end nothing of it is left, its name server `epmd` included."""
    folder.mkdir()
    broker = RabbitMq(free_port(), free_port(), folder)
    environment = configure(broker, certificates, free_port())
    # Its own, in the foreground, so that it can be ended; else RabbitMQ starts one that stays.
    name_server = subprocess.Popen(
        ["epmd", "-port", environment["ERL_EPMD_PORT"], "-address", "127.0.0.1"], env=environment
    )
    output = (folder / "output.txt").open("w")
    server = subprocess.Popen(
        [SERVER], env=environment, cwd=folder, start_new_session=True,
        stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
    )  # fmt: skip
    try:
        wait_until_started(broker, server)
        yield broker
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(server.pid, signal.SIGKILL)
        server.wait()
        name_server.kill()
        name_server.wait()
        output.close()


def configure(broker: RabbitMq, certificates: Path, name_server_port: int) -> dict[str, str]:
    """Write its files; the environment that makes it use them."""
    folder = broker.folder
    (folder / "rabbitmq.conf").write_text(f"""
listeners.tcp.1 = 127.0.0.1:{broker.port}
listeners.ssl.1 = 127.0.0.1:{broker.tls_port}
ssl_options.cacertfile = {certificates}/authority.pem
ssl_options.certfile = {certificates}/chain.pem
ssl_options.keyfile = {certificates}/key.pem
loopback_users = none
log.console = true
""")
    (folder / "enabled_plugins").write_text("[rabbitmq_amqp1_0].\n")
    (folder / "rabbitmq-env.conf").write_text(f"""
NODENAME=wirelab-{os.getpid()}@localhost
MNESIA_BASE={folder}/mnesia
LOG_BASE={folder}/log
SCHEMA_DIR={folder}/schema
GENERATED_CONFIG_DIR={folder}/config
ENABLED_PLUGINS_FILE={folder}/enabled_plugins
CONFIG_FILE={folder}/rabbitmq.conf
PID_FILE={folder}/pid
DIST_PORT={free_port()}
""")
    return {
        "PATH": os.environ["PATH"], "HOME": str(folder), "LANG": "C.UTF-8",
        "RABBITMQ_CONF_ENV_FILE": str(folder / "rabbitmq-env.conf"),
        "ERL_EPMD_PORT": str(name_server_port), "ERL_EPMD_ADDRESS": "127.0.0.1",
    }  # fmt: skip


def wait_until_started(broker: RabbitMq, server: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_S
    while "Server startup complete" not in broker.log:
        assert server.poll() is None, broker.log[-2000:]
        assert time.monotonic() < deadline, broker.log[-2000:]
        time.sleep(0.1)
