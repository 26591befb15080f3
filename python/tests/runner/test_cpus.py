"""Leaving the link a CPU."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from wirelab.runner import cpus

several = pytest.mark.skipif(cpus.count() < 2, reason="this machine has one CPU")


@contextmanager
def waiting_thread() -> Iterator[int]:
    """The id of a thread that is there all the time."""
    ended = threading.Event()
    thread = threading.Thread(target=ended.wait)
    thread.start()
    try:
        assert thread.native_id is not None
        yield thread.native_id
    finally:
        ended.set()
        thread.join()


@several
def test_every_thread_leaves_the_links_cpu_and_returns() -> None:
    before = os.sched_getaffinity(0)
    links = max(before)
    with waiting_thread() as earlier:
        with cpus.away_from(links), waiting_thread() as later:
            assert all(os.sched_getaffinity(each) == before - {links} for each in (0, earlier, later))
        assert os.sched_getaffinity(0) == os.sched_getaffinity(earlier) == before


@several
def test_the_cpu_is_given_back_after_an_error() -> None:
    before = os.sched_getaffinity(0)
    with pytest.raises(KeyError), cpus.away_from(max(before)):
        raise KeyError
    assert os.sched_getaffinity(0) == before


def test_threads_keep_their_cpus_if_no_link_has_its_own() -> None:
    before = os.sched_getaffinity(0)
    with cpus.away_from(None):
        assert os.sched_getaffinity(0) == before


def test_a_high_enough_limit_grants_real_time_scheduling(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("resource.getrlimit", lambda _: (cpus.LINK_PRIORITY, cpus.LINK_PRIORITY))
    assert cpus.real_time()
    monkeypatch.setattr("resource.getrlimit", lambda _: (cpus.LINK_PRIORITY - 1, 99))
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    assert not cpus.real_time()
