"""What a client does with messages that failed, as written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.asked import load_experiment
from wirelab.errors import WirelabError
from wirelab.experiment.file.retry import read_factor, read_jitter
from wirelab.experiment.file.workload import WorkloadTable
from wirelab.schema import RequestResponse, Retry, Telemetry
from wirelab.units import UnitError

S = 10**9
DEFAULT = Retry(
    first_ns=2 * S, factor_percent=200, longest_ns=300 * S, jitter_percent=20, keep_ns=43_200 * S, backlog=100
)


def retry(kind: str, **keys: Any) -> Retry | None:
    spec = WorkloadTable.model_validate({"kind": kind, "interval": "10 min", **keys}).spec()
    assert isinstance(spec, RequestResponse | Telemetry)
    return spec.retry


@pytest.mark.parametrize("kind", ["request-response", "telemetry"])
def test_every_key_has_a_default(kind: str) -> None:
    assert retry(kind, retry={}) == DEFAULT
    assert retry(kind) is None
    assert retry(kind, retry="none") is None


def test_every_key_counts() -> None:
    table = {"first": "5 s", "factor": 1.5, "longest": "1 h", "jitter": "0 %", "keep": "24 h", "backlog": 3}
    assert retry("telemetry", retry=table) == Retry(
        first_ns=5 * S, factor_percent=150, longest_ns=3600 * S, jitter_percent=0, keep_ns=86_400 * S, backlog=3
    )


def test_a_workload_without_retry_has_the_key_that_it_had_before() -> None:
    assert "retry" not in WorkloadTable().spec().to_json()


@pytest.mark.parametrize("value", [0.5, 1001, "2", True, 1.2345, float("nan")])
def test_a_wrong_factor_is_refused(value: object) -> None:
    with pytest.raises(UnitError):
        read_factor(value)


def test_shares_are_whole_percents() -> None:
    assert (read_factor(1), read_factor(2.55), read_jitter("20 %")) == (100, 255, 20)
    with pytest.raises(UnitError):
        read_jitter("12.5 %")


def experiment(tmp_path: Path, factors: str) -> tuple[Retry | None, ...]:
    file = tmp_path / "e.toml"
    file.write_text(
        'title = "x"\n[protocol]\n[factors]\nprotocol = ["http1"]\nlink = ["nb-iot"]\n'
        f'{factors}\n[workload]\ninterval = "10 min"\nupload = "30 B"\n'
    )
    found = []
    for scenario in load_experiment(str(file)).scenarios:
        assert isinstance(scenario.workload, RequestResponse)
        found.append(scenario.workload.retry)
    return tuple(found)


def test_retry_and_each_of_its_keys_can_be_varied(tmp_path: Path) -> None:
    assert experiment(tmp_path, '"workload.retry" = ["none", {}]') == (None, DEFAULT)
    kept = experiment(tmp_path, '"workload.retry.keep" = ["1 h", "2 h"]')
    assert [each and each.keep_ns for each in kept] == [3600 * S, 7200 * S]


def test_a_part_of_no_retry_cannot_be_varied(tmp_path: Path) -> None:
    with pytest.raises(WirelabError, match=r"is a part of workload\.retry"):
        experiment(tmp_path, '"workload.retry" = ["none"]\n"workload.retry.keep" = ["1 h", "2 h"]')
