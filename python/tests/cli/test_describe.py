from pathlib import Path

import pytest

from tests.cli.test_main import run
from tests.snapshots import assert_golden
from wirelab.cli.describe import KINDS
from wirelab.cli.list import KINDS as LISTED


def described(kind: str, name: str) -> str:
    code, out, err = run("describe", kind, name)
    assert (code, err) == (0, "")
    return out


def test_a_stack_is_described_with_its_settings_and_defaults() -> None:
    out = described("stack", "h2")
    assert out.startswith("h2: HTTP/2 over TLS over TCP\n")
    assert "tls: 1.3, 1.2 (default 1.3)" in out
    assert "builtin" in out


@pytest.mark.parametrize("name", ["nb-iot", "wifi-poor"])
def test_a_link_is_described_with_what_it_does_and_the_source_of_each_number(name: str) -> None:
    assert_golden(f"describe-link-{name}.txt", described("link", name))


def test_a_link_of_ones_own_is_described_with_what_lacks_a_source(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('[link]\nrtt = "20 ms"\nloss = "1 %"\n[sources]\nrtt = "a ping of mine"\n', encoding="utf-8")
    out = described("link", str(file))
    assert out.startswith("mine: mine\n\nwhat packets meet\n  each way  1 % lost, then 10 ms\n")
    assert "  rtt   20 ms  [1]\n  loss  1 %         no source\n" in out
    assert "wirelab run" not in out


def test_a_link_that_nobody_knows_has_a_neighbour() -> None:
    code, _, err = run("describe", "link", "nb-iott")
    assert code == 2
    assert "did you mean 'nb-iot'?" in err


def test_descriptions_of_links_fit_a_terminal() -> None:
    for name, _ in LISTED["links"]():
        assert max(len(line) for line in described("link", name).splitlines()) <= 120


def test_an_experiment_is_described_with_its_factors_and_choices() -> None:
    out = described("experiment", "milosevic2021-choices")
    assert "workload.upload      30 B, 3.5 kB" in out
    assert "choices, one at a time" in out


@pytest.mark.parametrize("kind", KINDS)
def test_whatever_is_listed_can_be_described(kind: str) -> None:
    for name, _ in LISTED[f"{kind}s"]():
        assert name in described(kind, name)


def test_a_link_that_does_nothing_can_be_described_too() -> None:
    out = described("link", "clean")
    assert out.startswith("clean: a link that does nothing by itself\n")
    assert "wirelab link clean --set rtt=50ms --set loss=1% -- COMMAND" in out
    assert "wirelab run" not in out


@pytest.mark.parametrize(
    ("metric", "unit"), [("goodput", "kbit/s"), ("end-to-end-delay", "ms"), ("retransmissions", "1")]
)
def test_a_metrics_unit_is_that_of_tables_and_reports(metric: str, unit: str) -> None:
    assert described("metric", metric).startswith(f"{metric} [{unit}], of each exchange\n")
