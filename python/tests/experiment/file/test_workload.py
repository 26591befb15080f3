from pathlib import Path

import pytest
from pydantic import ValidationError

from tests.asked import load_experiment
from wirelab.errors import WirelabError
from wirelab.experiment.file.arrival import WorkloadKeyError
from wirelab.experiment.file.workload import KEYS, WorkloadTable, read_connection
from wirelab.schema import (
    Closed,
    Device,
    Fixed,
    NewConnection,
    Persistent,
    PubSub,
    RequestResponse,
    Resumed,
    Stream,
    Telemetry,
)
from wirelab.units import UnitError


def test_an_empty_workload_is_ten_gets_on_new_connections() -> None:
    spec = WorkloadTable().spec()
    assert isinstance(spec, RequestResponse)
    assert (spec.upload_bytes, spec.exchanges, spec.concurrency) == (0, 10, 1)
    assert (spec.arrival, spec.connection, spec.timeout_ns) == (Closed(), NewConnection(), 10**10)


@pytest.mark.parametrize(
    ("written", "policy"),
    [
        ("new", NewConnection()),
        ("persistent", Persistent(connections=1)),
        ("resumed", Resumed()),
        ({"persistent": 4}, Persistent(connections=4)),
    ],
)
def test_connection_policies_are_read(written: object, policy: object) -> None:
    assert read_connection(written) == policy


@pytest.mark.parametrize(
    "written", ["keep", {"persistent": 0}, {"persistent": True}, {"persistent": 1, "new": 1}, {"persistent": "4"}]
)
def test_an_unknown_connection_policy_is_refused(written: object) -> None:
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
        {"drift": "2 %"},
        {"drift": "-20 ppm"},
        {"start-phase": "-1 s"},
        {"interval": "0 s"},
        {"jitter": "-1 s"},
    ],
)
def test_impossible_values_are_refused(table: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        WorkloadTable.model_validate(table)


def test_a_device_has_a_phase_a_drift_and_times_of_its_own_and_an_ideal_one_is_none() -> None:
    table = {"start-phase": "1 min", "drift": "20 ppm", "message-time": "2 ms", "handshake-time": "80 ms"}
    spec = WorkloadTable.model_validate(table).spec()
    assert isinstance(spec, RequestResponse)
    assert spec.device == Device(
        start_phase_ns=60 * 10**9, drift_ppb=20_000, message_ns=2_000_000, handshake_ns=80_000_000
    )
    assert spec.phases_vary
    ideal = WorkloadTable.model_validate({"drift": "0 ppm"}).spec()
    assert isinstance(ideal, RequestResponse)
    assert (ideal.device, ideal.phases_vary) == (None, False)
    assert "device" not in ideal.to_json()


def test_the_drift_of_a_closed_loop_changes_no_phase() -> None:
    closed = WorkloadTable.model_validate({"drift": "20 ppm"}).spec()
    paced = WorkloadTable.model_validate({"drift": "20 ppm", "arrival": {"fixed": "1 /min"}}).spec()
    assert isinstance(closed, RequestResponse)
    assert isinstance(paced, RequestResponse)
    assert (closed.phases_vary, paced.phases_vary) == (False, True)


def test_jitter_changes_the_phases_of_trials() -> None:
    for jitter, vary in (("0 s", False), ("1 s", True)):
        spec = WorkloadTable.model_validate({"interval": "1 min", "jitter": jitter}).spec()
        assert isinstance(spec, RequestResponse)
        assert spec.phases_vary is vary


def test_telemetry_has_readings_of_several_clients() -> None:
    table = {"kind": "telemetry", "message": "612 B", "clients": 50, "exchanges": 3}
    spec = WorkloadTable.model_validate(table).spec()
    assert isinstance(spec, Telemetry)
    assert (spec.message_bytes, spec.clients, spec.rows) == (612, 50, 150)


def test_pubsub_is_always_an_open_loop() -> None:
    spec = WorkloadTable.model_validate({"kind": "pubsub", "messages": 4, "subscribers": 5}).spec()
    assert isinstance(spec, PubSub)
    assert (spec.message_bytes, spec.arrival, spec.rows) == (100, Fixed(rate_hz=10), 20)
    with pytest.raises(WorkloadKeyError) as refused:
        WorkloadTable.model_validate({"kind": "pubsub", "arrival": "closed"}).spec()
    assert refused.value.key == "arrival"


def test_a_stream_has_a_rate_and_a_player() -> None:
    table = {"kind": "stream", "message": "10 kB", "rate": "50 /s", "playout-delay": "80 ms"}
    spec = WorkloadTable.model_validate(table).spec()
    assert isinstance(spec, Stream)
    assert (spec.rate_hz, spec.playout_delay_ns) == (50.0, 80_000_000)


@pytest.mark.parametrize(("kind", "message"), [("telemetry", "0 B"), ("pubsub", "11 B"), ("stream", "11 B")])
def test_a_message_too_small_for_its_kind_is_refused(kind: str, message: str) -> None:
    with pytest.raises(WorkloadKeyError) as refused:
        WorkloadTable.model_validate({"kind": kind, "message": message}).spec()
    assert refused.value.key == "message"


def test_every_key_belongs_to_a_kind_of_workload() -> None:
    names = {field.alias or name for name, field in WorkloadTable.model_fields.items()}
    assert {"kind", *(key for keys in KEYS.values() for key in keys)} == names


def test_one_client_has_the_same_key_as_without_a_population() -> None:
    assert "clients" not in WorkloadTable().spec().to_json()
    assert WorkloadTable(clients=2).spec().to_json()["clients"] == 2


NAMED = """
title = "Named workloads"
[factors]
protocol = ["http1"]
workload = ["ask", "tell"]
[workload]
timeout = "3 s"
[workloads.ask]
download = "612 B"
[workloads.tell]
kind = "pubsub"
message = "50 B"
"""


def write_named(folder: Path, text: str = NAMED) -> str:
    path = folder / "experiment.toml"
    path.write_text(text)
    return str(path)


def test_a_factor_chooses_among_named_workloads_which_share_their_defaults(tmp_path: Path) -> None:
    ask, tell = load_experiment(write_named(tmp_path)).scenarios
    assert (ask.workload.kind, ask.workload.downloads, ask.workload.timeout_ns) == (
        "request-response",
        (612,),
        3 * 10**9,
    )
    assert (tell.workload.kind, tell.workload.downloads) == ("pubsub", (50,))
    assert {each.workload.timeout_ns for each in (ask, tell)} == {3 * 10**9}
    assert [each.levels["workload"] for each in (ask, tell)] == ["ask", "tell"]


def test_several_workloads_need_a_factor_that_chooses(tmp_path: Path) -> None:
    with pytest.raises(WirelabError, match="2 workloads and no factor that chooses among them"):
        load_experiment(write_named(tmp_path, NAMED.replace('workload = ["ask", "tell"]\n', "")))


def test_a_key_that_belongs_to_no_named_workloads_kind_is_refused_at_its_place(tmp_path: Path) -> None:
    text = NAMED.replace('message = "50 B"', 'message = "50 B"\nplayout-delay = "1 s"')
    with pytest.raises(WirelabError, match="'playout-delay' is not a key of request-response or pubsub"):
        load_experiment(write_named(tmp_path, text))


def test_an_unknown_named_workload_is_refused_with_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(WirelabError, match=r'unknown workload \("tel"\)'):
        load_experiment(write_named(tmp_path, NAMED.replace('["ask", "tell"]', '["ask", "tel"]')))


def test_a_download_of_several_sizes_is_described_as_taking_turns() -> None:
    spec = WorkloadTable(download=["11 MB", "612 B"]).spec()  # type: ignore[arg-type]
    assert spec.to_json()["download_bytes"] == [11_000_000, 612]
    assert spec.downloads == (11_000_000, 612)
    assert WorkloadTable(download=["612 B"]).spec() == WorkloadTable(download="612 B").spec()  # type: ignore[arg-type]


@pytest.mark.parametrize("written", [[], ["11"], [3], "x", ["1 B", ["2 B"]]])
def test_a_value_that_is_not_a_size_or_a_list_of_sizes_is_refused(written: object) -> None:
    with pytest.raises(ValidationError):
        WorkloadTable(download=written)  # type: ignore[arg-type]


def test_several_sizes_with_an_upload_are_refused_at_their_key(tmp_path: Path) -> None:
    text = NAMED.replace('download = "612 B"', 'download = ["1 kB", "612 B"]\nupload = "1 B"')
    with pytest.raises(WirelabError, match="several sizes go without an upload"):
        load_experiment(write_named(tmp_path, text))
