"""Shards on a Dask cluster: the scheduler says who runs what, and the folders of shards say what is done."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, urlsplit

from wirelab.errors import RunError, WirelabError
from wirelab.launcher import installs
from wirelab.runner.shard_jobs import ShardJob, is_done, run_shard_job

if TYPE_CHECKING:
    from distributed import Client, Future

LOCAL = "dask"
OPTION = "--engine"
SLOT = "slot"
CONNECT_S = 10
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
Tell = Callable[[int, int, float], None]
"""Gets how many shards are done, how many workers there are, and the seconds since the first began."""


def require_engine(name: str) -> str | None:
    """The address of a scheduler, or None for a cluster of this machine's. Raises `WirelabError`."""
    if name == LOCAL:
        address = None
    else:
        parts = urlsplit(name)
        if parts.scheme not in {"dask", "dask+tls"} or not parts.hostname or not _has_port(parts):
            raise WirelabError(f"unknown ({name})", OPTION, f"{LOCAL}, or {LOCAL}://HOST:PORT of a scheduler that runs")
        if parts.scheme == "dask" and parts.hostname not in LOOPBACK:
            what = f"{name} is beyond this machine, and is not encrypted"
            raise WirelabError(what, OPTION, f"dask+tls://{parts.netloc}, with distributed.comm.tls configured")
        address = f"{'tls' if parts.scheme == 'dask+tls' else 'tcp'}://{parts.netloc}"
    try:
        import distributed  # noqa: F401
    except ImportError:
        raise WirelabError("Dask is not installed", OPTION, installs("dask")) from None
    return address


def _has_port(parts: SplitResult) -> bool:
    try:
        return parts.port is not None
    except ValueError:
        return False


def run_on_dask(jobs: Sequence[ShardJob], address: str | None, scratch: Path, tell: Tell) -> None:
    """Run every shard that is not done, one for each slot at a time; `scratch` is for Dask's own files. Raises
    `RunError` of the first that fails, and `WirelabError` if the scheduler cannot be reached.
    """
    from distributed import KilledWorker
    from distributed.client import FutureCancelledError

    waiting = [job for job in jobs if not is_done(job.folder)]
    over = len(jobs) - len(waiting)
    if not waiting:
        return
    try:
        with _client(address, scratch) as client:
            _run(client, waiting, over, tell)
    except (FutureCancelledError, KilledWorker, OSError) as error:
        # What workers have begun they end, and a shard that is done is not run again.
        hint = "the same command goes on where this one stopped"
        why = str(error).partition("\n")[0] or type(error).__name__
        lost = "its workers died again and again" if isinstance(error, KilledWorker) else "its connection was lost"
        raise RunError(f"{OPTION} stopped, because {lost}: {why}", hint=hint) from None


def _run(client: Client, waiting: Sequence[ShardJob], over: int, tell: Tell) -> None:
    from distributed import as_completed

    began = time.monotonic()
    slots = max(1, len(client.scheduler_info(n_workers=-1)["workers"]))
    tell(over, slots, 0.0)
    queue = iter(waiting)
    running = as_completed(
        [_submit(client, job) for _, job in zip(range(slots), queue, strict=False)], loop=client.loop
    )
    for future in running:
        future.result()
        # A future that is held is computed again when its worker dies.
        future.release()
        over += 1
        tell(over, slots, time.monotonic() - began)
        if (job := next(queue, None)) is not None:
            running.add(_submit(client, job))


def _submit(client: Client, job: ShardJob) -> Future[str]:
    return client.submit(_on_worker, job, key=f"wirelab-{job.shard}", pure=False, retries=0, resources={SLOT: 1})


def _on_worker(job: ShardJob) -> str:
    """Keeps to the worker's own processor: two that plan for all processors are late in real time."""
    from distributed import get_worker

    name = str(get_worker().name)
    cpus = sorted(os.sched_getaffinity(0))
    return run_shard_job(replace(job, cpu=cpus[int(name) % len(cpus)]) if name.isdigit() else job)


def _require_certificates(address: str) -> None:
    """Raise `WirelabError` if Dask's configuration lacks what an encrypted connection needs."""
    from distributed.security import Security

    if not address.startswith("tls:"):
        return
    needed = "distributed.comm.tls.ca-file, .client.cert and .client.key in Dask's configuration"
    try:
        context = Security().get_connection_args("client")["ssl_context"]
    except OSError as error:
        raise WirelabError(f"certificates cannot be read: {error}", OPTION, needed) from None
    if context is None:
        raise WirelabError(f"{address} needs certificates, and not all are configured", OPTION, needed)


@contextmanager
def _client(address: str | None, scratch: Path) -> Iterator[Client]:
    import dask
    from distributed import Client, LocalCluster

    settings = {
        # Of a shard: it is stored once however often it starts, so one worker's death may start it again.
        "distributed.scheduler.allowed-failures": 3,
        "distributed.worker.daemon": False,
        # Nobody looks at either, and the trials lack what they take of the processors.
        "distributed.worker.profile.enabled": False,
        "distributed.admin.tick.interval": "1s",
        "temporary-directory": str(scratch),
    }  # fmt: skip
    # It logs the traceback of a connection that is lost, which one error says.
    for name in ("distributed", "distributed.client"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    with dask.config.set(settings):
        if address is not None:
            _require_certificates(address)
            try:
                client = Client(address, timeout=CONNECT_S, set_as_default=False)
            except OSError as error:
                hint = "start it with: dask scheduler; and workers with: dask worker ADDRESS --resources 'slot=1'"
                raise WirelabError(f"no scheduler answers at {address}: {error}", OPTION, hint) from None
            with client:
                yield client
            return
        with (
            LocalCluster(
                n_workers=len(os.sched_getaffinity(0)), threads_per_worker=1, processes=True, resources={SLOT: 1},
                dashboard_address=None, memory_limit=0, silence_logs="CRITICAL",
            ) as cluster,
            Client(cluster, set_as_default=False) as client,
        ):  # fmt: skip
            yield client
