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
