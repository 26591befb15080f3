"""The matrix of `wirelab interop`."""

from __future__ import annotations

from wirelab.cli.interop import _matrices, _reasons
from wirelab.metrics.pairs import ABSENT, FAILED, SUCCEEDED, UNSUPPORTED, Cell


def test_the_matrix_has_clients_as_rows_and_servers_as_columns_and_shows_differing_policies() -> None:
    cells = [
        Cell("h2", "builtin", "nginx", "new", 30, SUCCEEDED, None),
        Cell("h2", "builtin", "nginx", "persistent", 30, SUCCEEDED, None),
        Cell("h2", "curl", "nginx", "new", 30, SUCCEEDED, None),
        Cell("h2", "curl", "nginx", "persistent", 30, UNSUPPORTED, "curl keeps none"),
    ]
    [matrix] = _matrices(cells)
    assert matrix.splitlines() == ["h2       nginx", "builtin  ok", "curl     new ok, persistent unsupported"]


def test_each_reason_is_reported_once_and_a_failure_with_its_pair() -> None:
    cells = [
        Cell("h2", "curl", "nginx", "new", 30, FAILED, "status 500"),
        Cell("h2", "curl", "caddy", "new", 30, ABSENT, "caddy is not installed"),
        Cell("h3", "curl", "caddy", "new", 30, ABSENT, "caddy is not installed"),
    ]
    assert list(_reasons(cells)) == [
        "",
        "1 failed, 2 not installed",
        "h2, curl to nginx, new: failed: status 500",
        "not installed: caddy is not installed",
    ]
