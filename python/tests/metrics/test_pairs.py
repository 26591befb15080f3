"""What came of a pair, as its trial's files tell it."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.documents import whole_result
from wirelab.errors import WirelabError
from wirelab.metrics.pairs import ABSENT, FAILED, SUBSCRIBED, SUCCEEDED, UNSUPPORTED, Cell, _cell
from wirelab.schema import Closed, Fixed, NewConnection, PubSub, Telemetry

NOWHERE = Path("/nowhere/result.json")


def scenario(exchanges: int = 1) -> Any:
    workload = Telemetry(
        message_bytes=1, exchanges=exchanges, arrival=Closed(), concurrency=1, timeout_ns=1, connection=NewConnection()
    )
    return SimpleNamespace(
        protocol="h2", implementation=SimpleNamespace(client="curl", server="nginx"), workload=workload
    )


def cell(status: str, error: str | None, *outcomes: str, exchanges: int | None = None, outcome: Path = NOWHERE) -> Cell:
    rows = [{"outcome": each, "error": None if each == "completed" else "why"} for each in outcomes]
    of = scenario(exchanges=len(outcomes) if exchanges is None else exchanges)
    return _cell(of, SimpleNamespace(status=status, error=error), rows, outcome)


def result(*arguments: Any, **more: Any) -> tuple[str, str | None]:
    found = cell(*arguments, **more)
    return found.result, found.reason


def test_a_pair_succeeds_only_if_every_exchange_completed() -> None:
    assert result("done", None, "completed", "completed") == (SUCCEEDED, None)
    assert result("done", None, "completed", "failed") == (FAILED, "why")
    assert result("done", None, "completed", exchanges=2) == (FAILED, "1 exchanges of 2 were recorded")


def test_of_subscribers_each_message_to_each_is_an_exchange() -> None:
    of = scenario()
    of.workload = PubSub(message_bytes=30, messages=2, subscribers=2, arrival=Fixed(rate_hz=1.0), timeout_ns=1)
    entry, row = SimpleNamespace(status="done", error=None), {"outcome": "completed", "error": None}
    assert _cell(of, entry, [row] * 4, NOWHERE).result == SUCCEEDED
    assert _cell(of, entry, [row] * 4, NOWHERE).connection == SUBSCRIBED
    assert _cell(of, entry, [row] * 3, NOWHERE).reason == "3 exchanges of 4 were recorded"


def test_what_a_program_does_not_do_is_unsupported_whether_it_said_so_before_or_in_each_exchange() -> None:
    assert result("unsupported", "curl does not do connection = 'persistent'")[0] == UNSUPPORTED
    assert result("done", None, "unsupported")[0] == UNSUPPORTED


def test_a_program_that_is_absent_is_distinguished_from_one_that_fails() -> None:
    assert result("failed", "nginx is not installed; apt install nginx-light")[0] == ABSENT
    assert result("failed", "server: exit code 1")[0] == FAILED


@pytest.mark.parametrize(
    ("ended", "wrong"),
    [
        ({"exit_code": 0}, None),
        ({"signal": int(signal.SIGTERM)}, None),
        ({"signal": int(signal.SIGKILL)}, "it had to be killed"),
        ({"exit_code": 1}, "exit code 1, signal None"),
    ],
)
def test_a_server_is_to_end_by_itself_when_asked(ended: dict[str, int], wrong: str | None, tmp_path: Path) -> None:
    outcome = tmp_path / "result.json"
    outcome.write_text(
        json.dumps(whole_result({"endpoints": [{"name": "server", **ended}, {"name": "client", "exit_code": 0}]}))
    )
    found = cell("done", None, "completed", outcome=outcome)
    assert (found.tried, found.server_end) == (True, wrong)


def test_a_server_without_a_result_is_said_to_have_none(tmp_path: Path) -> None:
    outcome = tmp_path / "result.json"
    outcome.write_text(json.dumps(whole_result({"endpoints": [{"name": "client", "exit_code": 0}]})))
    assert cell("done", None, "completed", outcome=outcome).server_end == "it has no result"


def test_a_damaged_result_is_one_error_with_its_key(tmp_path: Path) -> None:
    outcome = tmp_path / "result.json"
    outcome.write_text(json.dumps(whole_result({}) | {"endpoints": "two"}))
    with pytest.raises(WirelabError, match=r"result\.json was written by another build, or damaged: endpoints: "):
        cell("done", None, "completed", outcome=outcome)


def test_what_was_refused_before_anything_started_was_not_tried() -> None:
    found = cell("unsupported", "curl does not do connection = 'persistent'")
    assert (found.tried, found.server_end) == (False, None)
