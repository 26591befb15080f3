"""The matrix of `wirelab interop`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.test_main import run
from wirelab.cli.interop import _matrices, _reasons
from wirelab.clock.kernel import VARIABLE
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


def test_a_missing_kernel_is_reported_before_earlier_results_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "empty"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("wirelab.plan.make_plan", None)
    code, out, words = run(
        "interop", "--protocol", "coap", "--client", "builtin", "--server", "builtin", "--clock", "virtual"
    )
    assert (code, out) == (2, "")
    assert words.startswith("error: the virtual clock needs its kernel, which is not built yet\nhint: ")
