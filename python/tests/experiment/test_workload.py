import pytest
from pydantic import ValidationError

from wirelab.experiment.workload import WorkloadTable, read_arrival, read_connection
from wirelab.schema import Closed, Fixed, Fresh, Kept, Poisson
from wirelab.units import UnitError


def test_an_empty_workload_is_ten_gets_on_fresh_connections() -> None:
    spec = WorkloadTable().spec()
    assert (spec.upload_bytes, spec.exchanges, spec.concurrency) == (0, 10, 1)
    assert (spec.arrival, spec.connection, spec.timeout_ns) == (Closed(), Fresh(), 10**10)


@pytest.mark.parametrize(
    ("written", "arrival"),
    [
        ("closed", Closed()),
        ({"fixed": "10 /s"}, Fixed(rate_hz=10)),
        ({"poisson": "6 /min"}, Poisson(rate_hz=0.1)),
    ],
)
def test_arrivals(written: object, arrival: object) -> None:
    assert read_arrival(written) == arrival


@pytest.mark.parametrize("written", ["open", {}, {"fixed": "1 /s", "poisson": "1 /s"}, 3, {"fixed": "0 /s"}])
def test_what_is_no_arrival_process_is_refused(written: object) -> None:
    with pytest.raises(UnitError):
        read_arrival(written)


@pytest.mark.parametrize(
    ("written", "policy"), [("fresh", Fresh()), ("kept", Kept(connections=1)), ({"kept": 4}, Kept(connections=4))]
)
def test_connection_policies(written: object, policy: object) -> None:
    assert read_connection(written) == policy


@pytest.mark.parametrize("written", ["keep", {"kept": 0}, {"kept": True}, {"kept": 1, "fresh": 1}, {"kept": "4"}])
def test_what_is_no_connection_policy_is_refused(written: object) -> None:
    with pytest.raises(UnitError):
        read_connection(written)


@pytest.mark.parametrize(
    "table", [{"exchanges": 0}, {"concurrency": 0}, {"timeout": "0 s"}, {"exchanges": True}, {"kind": "stream"}]
)
def test_impossible_values_are_refused(table: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        WorkloadTable.model_validate(table)
