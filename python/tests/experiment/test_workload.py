import pytest
from pydantic import ValidationError

from wirelab.experiment.workload import KEYS, WorkloadKeyError, WorkloadTable, read_arrival, read_connection
from wirelab.schema import Closed, Deliver, Fixed, Fresh, Kept, Notify, Poisson, RequestResponse, Resumed, Stream
from wirelab.units import UnitError


def test_an_empty_workload_is_ten_gets_on_fresh_connections() -> None:
    spec = WorkloadTable().spec()
    assert isinstance(spec, RequestResponse)
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
    ("written", "policy"),
    [("fresh", Fresh()), ("kept", Kept(connections=1)), ("resumed", Resumed()), ({"kept": 4}, Kept(connections=4))],
)
def test_connection_policies(written: object, policy: object) -> None:
    assert read_connection(written) == policy


@pytest.mark.parametrize("written", ["keep", {"kept": 0}, {"kept": True}, {"kept": 1, "fresh": 1}, {"kept": "4"}])
def test_what_is_no_connection_policy_is_refused(written: object) -> None:
    with pytest.raises(UnitError):
        read_connection(written)


@pytest.mark.parametrize(
    "table",
    [
        {"exchanges": 0},
        {"concurrency": 0},
        {"timeout": "0 s"},
        {"exchanges": True},
        {"kind": "gossip"},
        {"clients": 0},
        {"subscribers": 0},
        {"messages": 0},
        {"rate": "0 /s"},
        {"playout-delay": "0 ms"},
    ],
)
def test_impossible_values_are_refused(table: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        WorkloadTable.model_validate(table)


def test_a_delivery_has_readings_of_several_clients() -> None:
    table = {"kind": "deliver", "message": "612 B", "clients": 50, "exchanges": 3}
    spec = WorkloadTable.model_validate(table).spec()
    assert isinstance(spec, Deliver)
    assert (spec.message_bytes, spec.clients, spec.rows) == (612, 50, 150)


def test_a_notification_is_an_open_loop_whatever_else_is_said() -> None:
    spec = WorkloadTable.model_validate({"kind": "notify", "messages": 4, "subscribers": 5}).spec()
    assert isinstance(spec, Notify)
    assert (spec.message_bytes, spec.arrival, spec.rows) == (100, Fixed(rate_hz=10), 20)
    with pytest.raises(WorkloadKeyError) as refused:
        WorkloadTable.model_validate({"kind": "notify", "arrival": "closed"}).spec()
    assert refused.value.key == "arrival"


def test_a_stream_has_a_rate_and_a_player() -> None:
    table = {"kind": "stream", "message": "10 kB", "rate": "50 /s", "playout-delay": "80 ms"}
    spec = WorkloadTable.model_validate(table).spec()
    assert isinstance(spec, Stream)
    assert (spec.rate_hz, spec.playout_delay_ns) == (50.0, 80_000_000)


@pytest.mark.parametrize(("kind", "message"), [("deliver", "0 B"), ("notify", "11 B"), ("stream", "11 B")])
def test_a_message_too_small_for_its_kind_is_refused(kind: str, message: str) -> None:
    with pytest.raises(WorkloadKeyError) as refused:
        WorkloadTable.model_validate({"kind": kind, "message": message}).spec()
    assert refused.value.key == "message"


def test_every_key_belongs_to_some_kind() -> None:
    names = {field.alias or name for name, field in WorkloadTable.model_fields.items()}
    assert {"kind", *(key for keys in KEYS.values() for key in keys)} == names


def test_one_client_has_the_key_that_it_has_without_populations() -> None:
    assert "clients" not in WorkloadTable().spec().to_json()
    assert WorkloadTable(clients=2).spec().to_json()["clients"] == 2
