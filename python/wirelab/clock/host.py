"""The supervisor of a campaign's namespaces, as the runner sees it."""

from __future__ import annotations

import contextlib
import os
import queue
import subprocess
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from wirelab import agent as agents
from wirelab.errors import RunError
from wirelab.launcher import launched
from wirelab.schema import (
    Cancel,
    HostError,
    HostFacts,
    OpenLanes,
    OpenRequest,
    RunTrial,
    TrialDone,
    TrialRequest,
    TrialResult,
    parse_reply,
)
from wirelab.schema.host import Cancelled, Opened

_OPEN_TIMEOUT_S = 60.0
_CLOSE_TIMEOUT_S = 10.0
_WORDS_BYTES = 4096


Replies = queue.SimpleQueue[Opened | TrialDone | Cancelled | HostError | None]


class HostGoneError(RunError):
    """The host ended while it was needed."""


LINK_ENDED = ("the link process ended", "the link process gave no answer")
"""How the host's message begins if it has no link process any more: it carries out no further trial."""


class RefusedError(Exception):
    """The host could not carry out a trial; nothing of it is left. `again`: what ended it says nothing of the trial, so
    the next run starts it.
    """

    def __init__(self, trial: str, message: str, *, again: bool = False) -> None:
        super().__init__(message)
        self.trial = trial
        self.message = message
        self.again = again

    @property
    def link_ended(self) -> bool:
        """Whether the host must be replaced before the next trial."""
        return self.message.startswith(LINK_ENDED)


class Host(Protocol):
    """Runs trials in parallel, one in each lane. Its owner closes it."""

    def open(self, lanes: OpenLanes) -> HostFacts:
        """Make the lanes; once, first."""

    def replace(self) -> None:
        """Have another host with the same lanes; of the trials that run, `wait` returns none."""

    def lane(self, number: int) -> int:
        """The lane that a request names for this one of as many parallel trials."""

    def ask_agent(self, arguments: Sequence[str], seed: int) -> None:
        """Have the agent make files in the campaign's folder, with random numbers of this seed if that can be."""

    def clock_ns(self) -> int:
        """What a trial that starts now sees on its clock (CLOCK_MONOTONIC), in nanoseconds."""

    def start(self, request: TrialRequest) -> None:
        """Begin a trial in a free lane; `wait` returns how it went."""

    def cancel(self, trial: str) -> None:
        """End a trial now; `wait` returns it as cancelled."""

    def wait(self, timeout_s: float) -> TrialResult | RefusedError | None:
        """The next trial that is over; none within the time-out."""

    def close(self) -> None:
        """End everything that still runs and remove the lanes."""


class AgentHost:
    """`wirelab-agent host` as a process.

    Its stdin is its lifeline: if this process ends in any way, the host ends with everything in it.
    """

    def __init__(self, agent: Path, log: Path | None, scratch: Path | None = None) -> None:
        """Its words go to `log`, or to a file without a name. It makes the folder `scratch`, and removes it at its
        end.
        """
        self._log = tempfile.TemporaryFile() if log is None else log.open("ab+")  # noqa: SIM115 (closed by `close`)
        self._command = [str(agent), "host", *([] if scratch is None else [f"--scratch={scratch}"])]
        self._lanes: OpenLanes | None = None
        self._last_id = 0
        self._spawn()

    def _spawn(self) -> None:
        # Its own process group: Ctrl-C reaches only the runner, which then ends trials in order.
        self._process = subprocess.Popen(
            self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log, process_group=0
        )
        self._running: dict[int, str] = {}
        # One that a signal's handler cannot leave locked.
        self._replies: Replies = queue.SimpleQueue()
        threading.Thread(target=_read, args=(self._process, self._replies), name="host-replies", daemon=True).start()

    @property
    def pid(self) -> int:
        """Process id of the host."""
        return self._process.pid

    def open(self, lanes: OpenLanes) -> HostFacts:
        """Make the lanes."""
        self._lanes = lanes
        self._send(OpenRequest(id=self._next_id(), **lanes.model_dump()))
        match self._reply(_OPEN_TIMEOUT_S):
            case Opened() as facts:
                return HostFacts.model_validate(facts.model_dump())
            case HostError(message=message, hint=hint):
                raise RunError(message, hint=hint or launched("doctor"))
            case _:
                raise RunError(
                    f"the host process made no networks within {_OPEN_TIMEOUT_S:.0f} s", hint=launched("doctor")
                )

    def replace(self) -> None:
        """End the process and start another with the same lanes."""
        assert self._lanes is not None
        self._end()
        self._spawn()
        self.open(self._lanes)

    def lane(self, number: int) -> int:
        """The same."""
        return number

    def ask_agent(self, arguments: Sequence[str], seed: int) -> None:  # noqa: ARG002 (this machine's are its own)
        """On this machine."""
        agents.ask(Path(self._command[0]), arguments)

    def clock_ns(self) -> int:
        """This machine's clock."""
        return time.monotonic_ns()

    def start(self, request: TrialRequest) -> None:
        """Begin a trial."""
        identity = self._next_id()
        self._running[identity] = request.trial
        self._send(RunTrial(id=identity, **request.model_dump()))

    def cancel(self, trial: str) -> None:
        """End a trial now."""
        self._send(Cancel(id=self._next_id(), trial=trial))

    def wait(self, timeout_s: float) -> TrialResult | RefusedError | None:
        """The next trial that is over."""
        match self._reply(timeout_s):
            case TrialDone(id=identity) as done:
                self._running.pop(identity, None)
                return TrialResult.model_validate(done.model_dump())
            case HostError(id=identity, message=message) if identity in self._running:
                return RefusedError(self._running.pop(identity), message)
            case _:
                return None

    def close(self) -> None:
        """End the host: its stdin closes, everything inside it dies."""
        self._log.close()
        self._end()

    def _end(self) -> None:
        if self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_CLOSE_TIMEOUT_S)
            return
        self._process.kill()
        try:
            self._process.wait(_CLOSE_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            raise RunError(f"wirelab-agent host, process {self.pid}, does not end, although it was killed") from None

    def _reply(self, timeout_s: float) -> Opened | TrialDone | Cancelled | HostError | None:
        try:
            reply = self._replies.get(timeout=timeout_s)
        except queue.Empty:
            return None
        if reply is None:
            self._replies.put(None)
            raise self._gone()
        return reply

    def _send(self, request: OpenRequest | RunTrial | Cancel) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(request.model_dump_json(exclude_none=True).encode() + b"\n")
            self._process.stdin.flush()
        except (BrokenPipeError, ValueError) as error:
            raise self._gone() from error

    def _last_words(self) -> str:
        if self._log.closed:
            return ""
        log = self._log.fileno()
        return os.pread(log, _WORDS_BYTES, max(os.fstat(log).st_size - _WORDS_BYTES, 0)).decode(errors="replace")

    def _next_id(self) -> int:
        self._last_id += 1
        return self._last_id

    def _gone(self) -> HostGoneError:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(1.0)
        words = self._last_words().strip().splitlines()[-3:]
        said = f": {' | '.join(words)}" if words else ""
        code = self._process.returncode
        return HostGoneError(
            f"wirelab-agent host ended with {code}{said}",
            hint="finished trials are kept: the same command continues where this one stopped",
        )


def _read(process: subprocess.Popen[bytes], heard: Replies) -> None:
    """Each reply of a host, and None at its end."""
    assert process.stdout is not None
    with process.stdout as replies:
        for line in replies:
            try:
                heard.put(parse_reply(line))
            except ValueError:
                break
    heard.put(None)
