"""The host of the virtual clock: each trial runs in a guest of its own, and is a function of its request alone."""

from __future__ import annotations

import json
import os
import queue
import re
import shutil
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from wirelab.clock.guest import START_NS, Command, Guest, GuestEndedError, GuestError, Hypervisor
from wirelab.clock.host import RefusedError
from wirelab.errors import RunError
from wirelab.schema import (
    Clock,
    HostError,
    HostFacts,
    OpenLanes,
    OpenRequest,
    RunTrial,
    TrialDone,
    TrialRequest,
    TrialResult,
)
from wirelab.schema.campaign import PAGES, TRIALS
from wirelab.schema.host import Opened, parse_reply

CAMPAIGN = Path("/run/wirelab/campaign")
"""Where each guest has the campaign's folder: a path's length moves what a program keeps in its memory, and OpenSSL
mixes addresses into its random numbers.
"""
_OPEN, _RUN = 1, 2
"""Numbers of a guest's two requests."""
_LAST_LINES = 3
"""So many lines that a host printed are in the error of its guest."""


class VirtualHost:
    """Runs each trial in a guest: its script opens one lane and runs the trial."""

    def __init__(
        self,
        hypervisor: Hypervisor,
        folder: Path,
        cpus: tuple[int, ...],
        log: Path,
        expected_s: Callable[[str], float] = lambda _: 0.0,
    ) -> None:
        """Guests write in this folder, and have folders of their own in its `guests`, which are gone afterwards. What
        their agents print for people is added to `log`, with the trial's name. `expected_s` is how long a trial is
        expected to take of this machine's time.
        """
        self._expected_s = expected_s
        self._hypervisor, self._folder, self._cpus, self._log = hypervisor, folder, cpus, log
        self._guests = folder / "guests"
        # Not of a folder whose path merely begins or ends like it.
        spelt = b"|".join(map(re.escape, _spellings(folder)))
        self._own = re.compile(rb"(?<![\w.\x80-\xff-])(?:%b)(?![\w.\x80-\xff-])" % spelt)
        self._lanes: OpenLanes | None = None
        self._running: dict[str, tuple[Guest, threading.Thread]] = {}
        self._pinned: dict[Path, int] = {}
        self._over: queue.SimpleQueue[TrialResult | RefusedError] = queue.SimpleQueue()
        shutil.rmtree(self._guests, ignore_errors=True)

    def open(self, lanes: OpenLanes) -> HostFacts:
        """Ask a first guest for what the lanes are."""
        self._lanes = lanes.model_copy(update={"lanes": 1, "clock": Clock.VIRTUAL})
        # Servers say how old a page's file is.
        for path in (self._folder / PAGES).rglob("*"):
            os.utime(path, ns=(START_NS, START_NS))
        guest = self._start("open", [], seed=0)
        try:
            match self._replies(guest):
                case [Opened() as facts]:
                    return HostFacts.model_validate(facts.model_dump())
                case [HostError(message=message, hint=hint), *_]:
                    raise RunError(message, hint=hint)
                case other:
                    raise RunError(f"a first guest made no networks, and answered {other}")
        finally:
            self._remove(guest)

    def replace(self) -> None:
        """End the guests that run; the next trial has a guest of its own anyway."""
        running, self._running = self._running, {}
        for guest, _ in running.values():
            guest.end()
        for _, watcher in running.values():
            watcher.join()
        self._over = queue.SimpleQueue()

    def lane(self, number: int) -> int:  # noqa: ARG002 (a request must not depend on it)
        """A guest has one."""
        return 0

    def ask_agent(self, arguments: Sequence[str], seed: int) -> None:
        """In a guest, whose random numbers and dates are its own."""
        folder = self._guests / "agent"
        folder.mkdir(parents=True)
        command = Command((self._seen(str(self._hypervisor.agent)), *map(self._seen, arguments)))
        guest = self._hypervisor.start(folder, [command], {self._folder: CAMPAIGN}, seed)
        try:
            if guest.wait() != [0]:
                words = "\n".join(_said(guest))
                raise RunError(f"wirelab-agent {arguments[0]}: {words.removeprefix('error: ')}")
        finally:
            self._remove(guest)

    def clock_ns(self) -> int:
        """A guest's clock begins at 0."""
        return 0

    def start(self, request: TrialRequest) -> None:
        """Begin a trial in a guest, whose files name the campaign's folder as it has it, and seem to be as old as its
        clock.
        """
        for path in (self._folder / TRIALS / request.trial).rglob("*"):
            if path.is_file() and self._own.search(content := path.read_bytes()):
                path.write_bytes(self._own.sub(bytes(CAMPAIGN), content))
            os.utime(path, ns=(START_NS, START_NS))
        expected_s = self._expected_s(request.trial)
        guest = self._start(request.trial, [request], seed=request.link_seed, expected_s=expected_s)
        watcher = threading.Thread(target=self._watch, args=(request.trial, guest), name="guest", daemon=True)
        self._running[request.trial] = guest, watcher
        watcher.start()

    def cancel(self, trial: str) -> None:
        """End its guest."""
        if (running := self._running.get(trial)) is not None:
            running[0].end()

    def wait(self, timeout_s: float) -> TrialResult | RefusedError | None:
        """The next trial that is over."""
        try:
            over = self._over.get(timeout=timeout_s)
        except queue.Empty:
            return None
        return over if self._running.pop(over.trial, None) is not None else None

    def close(self) -> None:
        """End the guests that run, and remove their folders."""
        self.replace()
        shutil.rmtree(self._guests, ignore_errors=True)

    def _start(self, name: str, trials: list[TrialRequest], *, seed: int, expected_s: float = 0.0) -> Guest:
        assert self._lanes is not None
        folder = self._guests / name
        folder.mkdir(parents=True)
        # What a first guest said of the lanes costs each other one a twentieth of its start.
        lanes = self._lanes.model_copy(update={"facts_known": bool(trials)})
        requests = [OpenRequest(id=_OPEN, **lanes.model_dump())]
        lines = [each.model_dump_json(exclude_none=True) for each in requests]
        lines += [RunTrial(id=_RUN, **each.model_dump()).model_dump_json(exclude_none=True) for each in trials]
        (folder / "requests").write_text("".join(f"{self._seen(line)}\n" for line in lines), encoding="utf-8")
        host = Command(
            (self._seen(str(self._hypervisor.agent)), "host", "--one-at-a-time"), stdin="requests", stdout="replies"
        )
        # Pinned, a guest hands over to its processes without waking another CPU: it takes half as long.
        cpu = min(self._cpus, key=list(self._pinned.values()).count)
        self._pinned[folder] = cpu
        return self._hypervisor.start(folder, [host], {self._folder: CAMPAIGN}, seed, cpu=cpu, expected_s=expected_s)

    def _seen(self, text: str) -> str:
        """The same with the campaign's folder as a guest has it."""
        return os.fsdecode(self._own.sub(bytes(CAMPAIGN), os.fsencode(text)))

    def _watch(self, trial: str, guest: Guest) -> None:
        try:
            over = self._outcome(trial, guest)
        except RunError as error:
            over = RefusedError(trial, error.what, again=isinstance(error, GuestEndedError))
        except Exception as error:  # its files may hold anything, and somebody waits for an outcome
            over = RefusedError(trial, f"what its guest left cannot be read: {error!r}")
        self._remove(guest)
        self._over.put(over)

    def _outcome(self, trial: str, guest: Guest) -> TrialResult | RefusedError:
        match self._replies(guest):
            case [Opened(), TrialDone() as done]:
                return TrialResult.model_validate(done.model_dump())
            case [*_, HostError(message=message)]:
                # A link process that ends in a guest is that trial's alone.
                return RefusedError(trial, f"in its guest {message}")
            case other:
                return RefusedError(trial, f"its guest answered {other}")

    def _replies(self, guest: Guest) -> list[object]:
        try:
            codes = guest.wait()
        except GuestError as error:
            raise type(error)(f"{error.what}{_last_words(guest)}") from None
        finally:
            self._keep_words(guest)
        lines = (guest.folder / "replies").read_bytes().splitlines()
        if codes != [0] or not lines:
            raise GuestError(f"wirelab-agent host ended with {codes} in its guest{_last_words(guest)}")
        return [parse_reply(line) for line in lines]

    def _keep_words(self, guest: Guest) -> None:
        if lines := _said(guest):
            # One call, so that lines of guests that end together do not mix.
            with self._log.open("a", encoding="utf-8") as log:
                log.write("".join(f"{guest.folder.name}: {line}\n" for line in lines))

    def _remove(self, guest: Guest) -> None:
        self._pinned.pop(guest.folder, None)
        shutil.rmtree(guest.folder, ignore_errors=True)


def _said(guest: Guest) -> list[str]:
    """The lines that the agent in a guest printed on stderr; none if the guest ended before it was started."""
    try:
        return (guest.folder / "stderr").read_text(encoding="utf-8", errors="replace").strip().splitlines()
    except FileNotFoundError:
        return []


def _last_words(guest: Guest) -> str:
    lines = _said(guest)[-_LAST_LINES:]
    return f"; its agent printed: {' | '.join(lines)}" if lines else ""


def _spellings(folder: Path) -> set[bytes]:
    """A path as it stands in a text, and in JSON with and without characters beyond ASCII."""
    path = str(folder)
    return {os.fsencode(each) for each in (path, json.dumps(path)[1:-1], json.dumps(path, ensure_ascii=False)[1:-1])}
