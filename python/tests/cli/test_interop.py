"""The matrix of `wirelab interop`."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from wirelab.cli.interop import _matrices, _reasons
from wirelab.cli.pairs import ABSENT, FAILED, SUCCEEDED, UNSUPPORTED, Cell, _cell
from wirelab.schema import Closed, Deliver, Fresh, Kept


def scenario(connection: str = "fresh", exchanges: int = 1) -> Any:
    workload = Deliver(
        message_bytes=1, exchanges=exchanges, arrival=Closed(), concurrency=1, timeout_ns=1,
        connection=Fresh() if connection == "fresh" else Kept(connections=1),
    )  # fmt: skip
    return SimpleNamespace(stack="h2", implementation=SimpleNamespace(client="curl", server="nginx"), workload=workload)


def result(status: str, error: str | None, *outcomes: str, exchanges: int | None = None) -> tuple[str, str | None]:
    rows = [{"outcome": outcome, "error": None if outcome == "completed" else "why"} for outcome in outcomes]
    of = scenario(exchanges=len(outcomes) if exchanges is None else exchanges)
    cell = _cell(of, SimpleNamespace(status=status, error=error), rows)
    return cell.result, cell.reason


def test_a_pair_succeeds_only_if_every_exchange_completed() -> None:
    assert result("done", None, "completed", "completed") == (SUCCEEDED, None)
    assert result("done", None, "completed", "failed") == (FAILED, "why")
    assert result("done", None, "completed", exchanges=2) == (FAILED, "1 exchanges of 2 were recorded")


def test_what_a_program_does_not_do_is_unsupported_whether_it_said_so_before_or_in_each_exchange() -> None:
    assert result("unsupported", "curl does not do connection = 'kept'")[0] == UNSUPPORTED
    assert result("done", None, "unsupported")[0] == UNSUPPORTED


def test_a_program_that_is_not_there_is_told_from_one_that_fails() -> None:
    assert result("failed", "nginx is not installed; apt install nginx-light")[0] == ABSENT
    assert result("failed", "server: exit code 1")[0] == FAILED


def test_the_matrix_has_clients_down_and_servers_across_and_tells_policies_apart_where_they_differ() -> None:
    cells = [
        Cell("h2", "builtin", "nginx", "fresh", 30, SUCCEEDED, None),
        Cell("h2", "builtin", "nginx", "kept", 30, SUCCEEDED, None),
        Cell("h2", "curl", "nginx", "fresh", 30, SUCCEEDED, None),
        Cell("h2", "curl", "nginx", "kept", 30, UNSUPPORTED, "curl keeps none"),
    ]
    [matrix] = _matrices(cells)
    assert matrix.splitlines() == ["h2       nginx", "builtin  ok", "curl     fresh ok, kept unsupported"]


def test_each_reason_is_told_once_and_a_failure_with_its_pair() -> None:
    cells = [
        Cell("h2", "curl", "nginx", "fresh", 30, FAILED, "status 500"),
        Cell("h2", "curl", "caddy", "fresh", 30, ABSENT, "caddy is not installed"),
        Cell("h3", "curl", "caddy", "fresh", 30, ABSENT, "caddy is not installed"),
    ]
    assert list(_reasons(cells)) == [
        "",
        "1 failed, 2 not installed",
        "h2, curl to nginx, fresh: failed: status 500",
        "not installed: caddy is not installed",
    ]
