"""A Dask cluster of this machine's: a scheduler and workers, as a user starts them."""

from __future__ import annotations

import random
import socket
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import psutil

if TYPE_CHECKING:
    from conftest import Bench

WORKERS = 2


@dataclass
class Cluster:
    """A scheduler on loopback with its workers, whose nannies start them again."""

    bench: Bench
    port: int
    tls: Sequence[str]
    """Options for it, of scheduler and workers."""
    scheduler: subprocess.Popen[str]
    workers: list[subprocess.Popen[str]]

    @classmethod
    def of(cls, bench: Bench, tls: Sequence[str] = ()) -> Cluster:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        cluster = cls(bench, port, tls, cls._scheduler(bench, port, tls), [])
        cluster.join()
        return cluster

    @staticmethod
    def _scheduler(bench: Bench, port: int, tls: Sequence[str]) -> subprocess.Popen[str]:
        protocol = ("--protocol", "tls") if tls else ()
        host = ("--host", "127.0.0.1", "--port", str(port), "--no-dashboard")
        return bench.start("scheduler", *host, *protocol, *tls, module="dask", within=_own_files(bench))

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def join(self) -> None:
        """Workers, in the place of those that ended with their scheduler."""
        for worker in self.workers:
            stop(worker)
        to = f"{'tls' if self.tls else 'tcp'}://{self.address}"
        options = ("--nthreads", "1", "--resources", "slot=1", "--no-dashboard")
        command = ("worker", to, *self.tls, *options)
        self.workers = [
            self.bench.start(*command, "--name", str(nth), module="dask", within=_own_files(self.bench))
            for nth in range(WORKERS)
        ]

    def restart(self) -> None:
        stop(self.scheduler)
        self.scheduler = self._scheduler(self.bench, self.port, self.tls)
        self.join()

    def worker(self, rng: random.Random) -> psutil.Process | None:
        """One of the processes that nannies have started; None while there is none."""
        found = [
            child for each in self.workers for child in _children(each.pid)
            if "spawn_main" in " ".join(command_line(child))
        ]  # fmt: skip
        return rng.choice(found) if found else None

    def stop(self) -> None:
        for each in (*self.workers, self.scheduler):
            stop(each)


def _children(pid: int) -> list[psutil.Process]:
    """Empty of one that has ended."""
    try:
        return psutil.Process(pid).children()
    except psutil.Error:
        return []


def _own_files(bench: Bench) -> list[str]:
    """Dask's files stay, for the cluster is its user's."""
    return ["env", f"DASK_TEMPORARY_DIRECTORY={bench.folder / 'dask'}"]


def command_line(process: psutil.Process) -> list[str]:
    """Empty of one that has ended."""
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def stop(process: subprocess.Popen[str]) -> None:
    """As its user would, and with force if that takes long."""
    process.terminate()
    try:
        process.communicate(timeout=30)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
