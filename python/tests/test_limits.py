"""Limits of a process that leave too little, and errors that come of them."""

from __future__ import annotations

import errno
import os
import resource
from pathlib import Path

import pytest

from wirelab import limits
from wirelab.errors import RunError, WirelabError


def limited(monkeypatch: pytest.MonkeyPatch, which: int, soft: int, most: int = resource.RLIM_INFINITY) -> None:
    real = resource.getrlimit
    monkeypatch.setattr(resource, "getrlimit", lambda each: (soft, most) if each == which else real(each))


@pytest.mark.parametrize("starts", [True, False])
def test_usual_limits_are_enough(starts: bool) -> None:
    limits.require_limits(starts=starts)
    limits.require_to_draw()


def test_an_address_space_below_what_tables_need_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    limited(monkeypatch, resource.RLIMIT_AS, 700 * 2**20)
    with pytest.raises(WirelabError, match=r"limited to 700.0 MiB, and at least 2.0 GiB are needed") as refused:
        limits.require_limits(starts=False)
    assert refused.value.exit_code == 2


def test_figures_need_more_addresses_than_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    limited(monkeypatch, resource.RLIMIT_AS, 4 * 2**30)
    limits.require_limits(starts=False)
    with pytest.raises(RunError, match=r"figures need an address space of 80.0 GiB, and it is limited to 4.0 GiB"):
        limits.require_to_draw()


def test_short_files_matter_only_to_what_starts_endpoints(monkeypatch: pytest.MonkeyPatch) -> None:
    limited(monkeypatch, resource.RLIMIT_FSIZE, 2**20)
    limits.require_limits(starts=False)
    with pytest.raises(WirelabError, match=r"files may have at most 1.0 MiB"):
        limits.require_limits(starts=True)


def test_a_missing_proc_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(limits, "_PROC", tmp_path / "proc")
    with pytest.raises(WirelabError, match="/proc is not mounted"):
        limits.require_limits(starts=True)


def test_a_hard_limit_on_files_is_refused_and_a_soft_one_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    limited(monkeypatch, resource.RLIMIT_NOFILE, 12, 12)
    with pytest.raises(WirelabError, match="at most 12 files may be open"):
        limits.require_limits(starts=False)
    raised: list[tuple[int, tuple[int, int]]] = []
    monkeypatch.setattr(resource, "setrlimit", lambda which, pair: raised.append((which, pair)))
    limited(monkeypatch, resource.RLIMIT_NOFILE, 12, 1000)
    limits.require_limits(starts=False)
    assert raised == [(resource.RLIMIT_NOFILE, (1000, 1000))]


@pytest.mark.parametrize(
    ("number", "words"), [(errno.EMFILE, "too many open files"), (errno.EFBIG, "/x: a file would")]
)
def test_what_a_limit_refuses_is_one_error(number: int, words: str) -> None:
    with pytest.raises(RunError, match=words), limits.limits_as_errors():
        raise OSError(number, os.strerror(number), "/x")


def test_another_error_stays() -> None:
    with pytest.raises(PermissionError), limits.limits_as_errors():
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
