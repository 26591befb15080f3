"""What a shell's limits leave too little of: said before anything is started, or where it is needed."""

from __future__ import annotations

import errno
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from wirelab.errors import RunError, WirelabError

LEAST_FILES = 64
LEAST_FILE_BYTES = 16 * 2**20
LEAST_ADDRESSES = 2 * 2**30
"""For tables, whose library maps memory for each of its threads."""
LEAST_ADDRESSES_TO_DRAW = 80 * 2**30
"""For figures: V8 reserves this much of addresses, of which it uses little memory."""
_MANY_FILES = 4096
_PROC = Path("/proc/self/status")
_OF_A_PROCESS = {
    errno.EMFILE: ("too many open files", "raise the limit (ulimit -n 1024), or run fewer trials at a time (--jobs)"),
    errno.EFBIG: ("a file would be longer than the limit", "raise the limit (ulimit -f unlimited)"),
}


def require_limits(*, starts: bool) -> None:
    """Raise `WirelabError` if a limit of this process leaves too little for tables; with `starts` also for endpoints.

    More files may be opened afterwards, if the limit is one that a process may raise.
    """
    addresses = _soft(resource.RLIMIT_AS)
    if addresses is not None and addresses < LEAST_ADDRESSES:
        what = f"the address space is limited to {_size(addresses)}, and at least {_size(LEAST_ADDRESSES)} are needed"
        raise WirelabError(what, hint="ulimit -v unlimited")
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    files = _soft(resource.RLIMIT_NOFILE)
    if files is not None and files < LEAST_FILES:
        if most != resource.RLIM_INFINITY and most < LEAST_FILES:
            what = f"at most {most} files may be open, and at least {LEAST_FILES} are needed"
            raise WirelabError(what, hint="ulimit -n 1024")
        resource.setrlimit(resource.RLIMIT_NOFILE, (most if 0 <= most < _MANY_FILES else _MANY_FILES, most))
    if not starts:
        return
    length = _soft(resource.RLIMIT_FSIZE)
    if length is not None and length < LEAST_FILE_BYTES:
        what = f"files may have at most {_size(length)}, and records need at least {_size(LEAST_FILE_BYTES)}"
        raise WirelabError(what, hint="ulimit -f unlimited")
    if not _PROC.exists():
        raise WirelabError("/proc is not mounted", hint="mount -t proc proc /proc")


def require_to_draw() -> None:
    """Raise `RunError` if the address space is too small for figures: without it, the process would be aborted."""
    addresses = _soft(resource.RLIMIT_AS)
    if addresses is not None and addresses < LEAST_ADDRESSES_TO_DRAW:
        raise RunError(
            f"figures need an address space of {_size(LEAST_ADDRESSES_TO_DRAW)}, and it is limited to "
            f"{_size(addresses)}; trials and estimates are kept",
            hint="ulimit -v unlimited, then wirelab report CAMPAIGN",
        )


@contextmanager
def limits_as_errors() -> Iterator[None]:
    """Turn what the system refuses because of a limit of this process into `RunError`."""
    try:
        yield
    except OSError as error:
        if error.errno not in _OF_A_PROCESS:
            raise
        what, hint = _OF_A_PROCESS[error.errno]
        place = f"{error.filename}: " if isinstance(error.filename, str) else ""
        raise RunError(place + what, hint=f"{hint}; finished trials are kept") from None


def _soft(which: int) -> int | None:
    """The limit; None if there is none."""
    soft, _ = resource.getrlimit(which)
    return None if soft == resource.RLIM_INFINITY else soft


def _size(count: int) -> str:
    return f"{count / 2**30:.1f} GiB" if count >= 2**30 else f"{count / 2**20:.1f} MiB"
