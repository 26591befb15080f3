"""CPU time of the link's thread for each packet, of several builds of the agent in parallel.

The link process is stopped while a client fills its receive ring with a burst, and then continues. The CPU time of its
thread from there is the cost of receiving, holding, logging and sending those packets, whatever else runs. The builds
take turns, and ratios are to the first build in the same turn.
"""

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

PACKETS = 1500
SETTLE = 0.06
PATIENCE_NS = 600 * 10**9
STAGES = [
    {"kind": "rate", "rate_bps": 10**12, "queue": {"discipline": "drop-tail", "bytes": 1 << 50}},
    {"kind": "loss", "probability": 1e-12},
    {"kind": "delay", "delay_ns": 10**6},
]
CLIENT = """
import os, socket, time
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sender.connect(("10.77.0.2", 9001))
burst = 0
open("begun", "w").close()
while not os.path.exists("end"):
    if os.path.exists(f"go-{burst}"):
        for _ in range(PACKETS):
            sender.send(bytes(PAYLOAD))
        open(f"sent-{burst}", "w").close()
        burst += 1
    time.sleep(0.002)
"""
SERVER = """
import os, socket
receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
receiver.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 23)
receiver.bind(("10.77.0.2", 9001))
print('{"event": "ready", "ports": {"main": 9001}}', flush=True)
receiver.settimeout(0.2)
while not os.path.exists("end"):
    try:
        receiver.recv(2048)
    except TimeoutError:
        pass
"""


class Host:
    """A host with one lane and a trial in it."""

    def __init__(self, agent: str, payload: int) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="wirelab-bench-")
        self.path = Path(self.folder.name)
        self.process = subprocess.Popen([agent, "host"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.say({"id": 1, "op": "open", "lanes": 1, "mtu": 1500})
        opened = self.hear()
        if "link_scheduling" not in opened:
            raise SystemExit(f"{agent} made no lane: {opened}")
        self.link = self.link_process()
        tasks = Path(f"/proc/{self.link}/task").iterdir()
        self.thread = next(task for task in tasks if (task / "comm").read_text().strip() == "link")
        client = CLIENT.replace("PACKETS", str(PACKETS)).replace("PAYLOAD", str(payload))
        ready = {"by": "event", "timeout_ns": 10**10}
        endpoints = [self.endpoint("server", SERVER, ready), self.endpoint("client", client, None)]
        self.say({
            "id": 2, "op": "run-trial", "trial": "bursts", "lane": 0, "link": {"uplink": STAGES, "downlink": STAGES},
            "link_seed": 1, "packet_log": str(self.path / "packets.wlpl"), "header_bytes": 40,
            "congestion_control": "reno", "endpoints": endpoints, "timeout_ns": PATIENCE_NS,
        })  # fmt: skip
        wait_until((self.path / "begun").exists, "the client did not begin")

    def endpoint(self, name: str, code: str, ready: dict[str, Any] | None) -> dict[str, Any]:
        out, err = (str(self.path / f"{name}.{end}") for end in ("out", "err"))
        command = [sys.executable, "-c", code]
        return {"name": name, "host": name, "command": command, "environment": {}, "directory": str(self.path),
                "stdout": out, "stderr": err, "ready": ready, "ends_trial": True}  # fmt: skip

    def link_process(self) -> int:
        children = Path(f"/proc/{self.process.pid}/task").glob("*/children")
        pids = [int(pid) for file in children for pid in file.read_text().split()]
        return next(pid for pid in pids if b"--slots" in Path(f"/proc/{pid}/cmdline").read_bytes())

    def say(self, request: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()

    def hear(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        reply: dict[str, Any] = json.loads(self.process.stdout.readline())
        return reply

    def cpu_ns(self) -> int:
        return int((self.thread / "schedstat").read_text().split()[0])

    def burst(self, number: int) -> float:
        """Nanoseconds of the link's thread for each packet."""
        os.kill(self.link, signal.SIGSTOP)
        try:
            wait_until(lambda: ") T " in (self.thread / "stat").read_text(), "the link did not stop")
            (self.path / f"go-{number}").touch()
            wait_until((self.path / f"sent-{number}").exists, "the client sent no burst")
            before = self.cpu_ns()
        finally:
            os.kill(self.link, signal.SIGCONT)
        time.sleep(SETTLE)
        return (self.cpu_ns() - before) / PACKETS

    def end(self) -> dict[str, Any]:
        (self.path / "end").touch()
        result = self.hear()
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()
        self.folder.cleanup()
        return result


def wait_until(is_so: Callable[[], bool], otherwise: str) -> None:
    give_up = time.monotonic() + 20
    while not is_so():
        if time.monotonic() > give_up:
            raise SystemExit(otherwise)
        time.sleep(0.002)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("agents", nargs="+", metavar="AGENT")
    parser.add_argument("--bursts", type=int, default=30)
    parser.add_argument("--payload", type=int, default=36, help="bytes of each datagram")
    arguments = parser.parse_args()
    hosts = [Host(agent, arguments.payload) for agent in arguments.agents]
    # The first of each are for warming up.
    rounds = [[host.burst(number) for host in hosts] for number in range(arguments.bursts + 2)][2:]
    sent = PACKETS * (arguments.bursts + 2)
    for index, (agent, host) in enumerate(zip(arguments.agents, hosts, strict=True)):
        link = host.end()["link"]
        uplink = link["directions"][0]
        if (uplink["delivered"], link["kernel_drops"]) != (sent, 0):
            raise SystemExit(f"{agent}: of {sent} packets {uplink['delivered']} arrived: {link}")
        cost = statistics.median(values[index] for values in rounds)
        ratio = statistics.median(values[index] / values[0] for values in rounds)
        print(f"{agent} {cost:.0f} ns/packet, {ratio:.2f} of the first")


if __name__ == "__main__":
    main()
