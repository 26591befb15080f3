"""The Python models against the JSON Schemas that are generated from the Rust types."""

import importlib.util
import json
import re
import sys
from pathlib import Path
from typing import Any, get_args

import jsonschema
import pytest
from pydantic import TypeAdapter

from wirelab import schema
from wirelab.experiment.link.shared import NatTable
from wirelab.experiment.link.table import OWN_KEYS, PLAIN_KINDS
from wirelab.schema import probe
from wirelab.schema.host import HostReply
from wirelab.schema.link_spec import SLOTS
from wirelab.site import Kind, LeftOut, Reason, Resource, Site

FOLDER = Path(__file__).parents[3] / "schema"

QUEUE = schema.DropTail(bytes=64_000)
FULL = schema.LinkSpec(
    uplink=(
        schema.Outage(start_ns=1, duration_ns=2, every_ns=3, hold_bytes=4),
        schema.Rate(rate_bps=1000, queue=schema.DropTail(bytes=10, packets=1), overhead_bytes=14),
        schema.TokenBucket(rate_bps=1000, burst_bytes=1500, queue=QUEUE),
        schema.DeliveryTrace(
            opportunities_ms=(0, 5, 5), queue=schema.Codel(target_ns=5, interval_ns=100, bytes=10), overhead_bytes=4
        ),
        schema.Schedule(
            points=(
                schema.SchedulePoint(at_ns=0, delay_ns=1, rate_bps=0, loss=0.5),
                schema.SchedulePoint(at_ns=9),
            ),
            repeat_ns=10,
            queue=schema.FqCodel(target_ns=5, interval_ns=100, flows=1024, quantum_bytes=1514, packets=10_240),
        ),
        schema.DutyCycle(rate_bps=250, share=0.01, queue=QUEUE, overhead_bytes=13),
        schema.Loss(probability=0.1, correlation=0.25),
        schema.FourState(p13=0.1, p31=0.2, p32=0.3, p23=0.4, p14=0.5),
        schema.Markov(transitions=((0.9, 0.1), (0.5, 0.5)), loss=(0, 1)),
        schema.LossPattern(pattern="0001", repeat=True),
        schema.GilbertElliott(p=0.01, r=0.1, bad_loss=0.7, good_loss=0.001),
        schema.Corrupt(probability=0.1, correlation=0.5),
        schema.Duplicate(probability=0.1),
        schema.Delay(delay_ns=10, jitter=schema.NormalJitter(sigma_ns=3), correlation=0.5, overtaking=True),
        schema.Delay(delay_ns=10, jitter=schema.ParetoJitter(sigma_ns=3)),
        schema.Delay(delay_ns=10, jitter=schema.ParetoNormalJitter(sigma_ns=3)),
        schema.Delay(delay_ns=10, jitter=schema.TableJitter(offsets_ns=(-3, 0, 3))),
        schema.Reorder(probability=0.1, by_ns=5, correlation=0.1),
    ),
    downlink=(
        schema.GilbertElliottTime(good_ns=10, bad_ns=1, bad_loss=0.5, good_loss=0),
        schema.Delay(delay_ns=5, jitter=schema.UniformJitter(half_width_ns=1)),
    ),
    medium=schema.Wifi(
        rate_bps=54_000_000, overhead_bytes=36, preamble_ns=20_000, ack_ns=28_000, slot_ns=9000, sifs_ns=16_000,
        difs_ns=34_000, cw_min=15, cw_max=1023, retries=7, frame_error=0.1, queue_bytes=64_000,
    ),
    radio=schema.RadioSpec(
        sleeps=(schema.SleepSpec(after_ns=1, cycle_ns=2, wake_ns=3), schema.SleepSpec(after_ns=4, wake_ns=5)),
        buffer_bytes=10,
    ),
    nat=NatTable().spec(),
    mtu=1280,
    family=schema.AddressFamily.IPV6,
    backend=schema.LinkBackend.NETEM,
)  # fmt: skip
LINK = schema.LinkSpec(
    uplink=(schema.Rate(rate_bps=1000, queue=QUEUE), schema.Loss(probability=0.1)),
    downlink=(),
    medium=schema.Serialiser(rate_bps=250_000, queue_bytes=2000),
)
AIR = schema.Ieee802154(
    compressed_bytes=38, mac_bytes=23, frame_error=0.01, retries=3, max_backoffs=4, min_be=3, max_be=5, queue_bytes=4000
)
WORKLOAD = schema.RequestResponse(
    upload_bytes=30,
    download_bytes=0,
    exchanges=10,
    arrival=schema.Poisson(rate_hz=2.5),
    concurrency=1,
    timeout_ns=10**10,
    connection=schema.Persistent(connections=2),
)
PARAMETERS = schema.EndpointParameters(
    protocol="h2",
    role=schema.Role.CLIENT,
    server=schema.ServerAddress(address="10.0.0.2", port=443, name="server.test"),
    settings={"tls": "1.3", "nagle": False, "window": 65535},
    workload=WORKLOAD,
    certificates=schema.Certificates(
        authority=Path("ca"),
        chain=Path("chain"),
        key=Path("key"),
        client=schema.ClientCertificate(chain=Path("client-chain"), key=Path("client-key")),
    ),
    output=Path("out"),
    seed=2**63 - 1,
)
PAGE_LOADS = schema.PageLoads(
    loads=10,
    timeout_ns=6 * 10**10,
    page=schema.PageIdentity(name="fischer2021", sha256="0" * 64, resources=17, body_bytes=394_000),
)
PROCESS = schema.EndpointProcess(
    name="server",
    host="server",
    command=("wirelab-agent", "endpoint"),
    environment={"A": "b"},
    directory=Path("/d"),
    stdout=Path("/o"),
    stderr=Path("/e"),
    ready=schema.TcpConnectReady(port=80, timeout_ns=5),
    ends_trial=False,
)
RUN = schema.RunTrial(
    id=2,
    trial="t",
    lane=0,
    link=LINK,
    link_seed=7,
    packet_log=Path("log"),
    rests=True,
    other_links={"wire": schema.LinkTrial(link=LINK, seed=8, packet_log=Path("wire"), rests=True)},
    header_bytes=64,
    capture=schema.CaptureFiles(client=Path("c"), server=Path("s"), key_logs=(Path("k"),)),
    congestion_control="cubic",
    cpu_shares={"client": 0.1},
    endpoints=(
        PROCESS,
        PROCESS.model_copy(update={"name": "udp", "ready": schema.UdpBoundReady(port=1, timeout_ns=1)}),
        PROCESS.model_copy(update={"name": "ours", "ready": schema.EventReady(timeout_ns=1)}),
        PROCESS.model_copy(update={"name": "client", "ready": None, "ends_trial": True}),
    ),
    timeout_ns=10**9,
)
PROBES = probe.ProbePlan(
    start_ns=5,
    duration_ns=10**9,
    server_port=9000,
    flows=(
        probe.ProbeFlow(
            uplink=True, client_port=41_010, begin_ns=1, bursts=2, every_ns=3, spread_ns=4, packets=5, payload_bytes=16
        ),
    ),
)
WRITTEN = {
    "probe-plan": [PROBES],
    "link-spec": [FULL, LINK, LINK.model_copy(update={"medium": AIR}), schema.LinkSpec(uplink=(), downlink=())],
    "workload-spec": [
        WORKLOAD,
        WORKLOAD.model_copy(update={"upload_bytes": 0, "download_bytes": (11_000_000, 612)}),
        WORKLOAD.model_copy(update={"arrival": schema.Closed(), "connection": schema.NewConnection()}),
        WORKLOAD.model_copy(update={"arrival": schema.Fixed(rate_hz=1), "clients": 3}),
        WORKLOAD.model_copy(update={"arrival": schema.Periodic(interval_ns=5)}),
        WORKLOAD.model_copy(update={"arrival": schema.Periodic(interval_ns=2**63 - 1, jitter_ns=4)}),
        WORKLOAD.model_copy(update={"arrival": schema.Bursts(interval_ns=5, rate_hz=1, duration_ns=4)}),
        schema.Telemetry(
            message_bytes=1,
            exchanges=2,
            arrival=schema.Closed(),
            concurrency=1,
            timeout_ns=5,
            connection=schema.Resumed(),
        ),
        schema.PubSub(message_bytes=12, messages=2, subscribers=3, arrival=schema.Poisson(rate_hz=1), timeout_ns=5),
        schema.Stream(message_bytes=12, messages=2, rate_hz=25, timeout_ns=5, playout_delay_ns=6),
        PAGE_LOADS,
    ],
    "endpoint-parameters": [
        PARAMETERS,
        PARAMETERS.model_copy(update={"certificates": None}),
        PARAMETERS.model_copy(
            update={
                "workload": PAGE_LOADS,
                "page": schema.PageFiles(manifest=Path("/p/manifest.json"), folder=Path("/p/files")),
            }
        ),
    ],
    "page-manifest": [
        Site(
            resources=(
                Resource(path="/index.html", body_bytes=9, sha256="0" * 64, media_type="text/html", kind=Kind.DOCUMENT),
                Resource(
                    path="/a.css?1",
                    body_bytes=0,
                    sha256="1" * 64,
                    media_type="text/css",
                    kind=Kind.STYLESHEET,
                    parent=0,
                    at_bytes=9,
                    blocking=True,
                ),
            ),
            left_out=(LeftOut(url="http://a/", parent=0, why=Reason.ELSEWHERE),),
        )
    ],
    "host-request": [
        schema.OpenRequest(id=1, lanes=4),
        schema.OpenRequest(id=1, lanes=4, links=(schema.LaneLink(name="air", near=("client",), far=("server",)),)),
        RUN,
        schema.Cancel(id=3, trial="t"),
    ],
    "exchange": [schema.Exchange(), schema.Exchange(index=1, outcome=schema.Outcome.TIMED_OUT, status=200)],
    "resource-timing": [
        schema.ResourceTiming(),
        schema.ResourceTiming(
            resource=1, path="/a.css", found_by=schema.FoundBy.HINT, connection=0, urgency=3, incremental=True
        ),
    ],
}


def generated(name: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return document


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in WRITTEN.items() for value in values])
def test_what_python_writes_is_what_rust_reads(name: str, value: Any) -> None:
    jsonschema.validate(value.to_json(), generated(name))


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in WRITTEN.items() for value in values])
def test_what_python_writes_is_read_back(name: str, value: Any) -> None:
    assert type(value).model_validate_json(json.dumps(value.to_json())) == value


EXTENSIONS = {
    "request-response": "request", "telemetry": "request", "pubsub": "message", "stream": "message", "page": "page",
}  # fmt: skip
"""The schema that a workload's extension has."""

MODELS = {
    "resource-timing": schema.ResourceTiming,
    "link-spec": schema.LinkSpec,
    "workload-spec": schema.WorkloadSpec,
    "endpoint-parameters": schema.EndpointParameters,
    "exchange": schema.Exchange,
    "host-request": schema.OpenRequest | schema.RunTrial | schema.Cancel,
    "host-reply": HostReply,
    "description": schema.Description,
}


@pytest.mark.parametrize("name", MODELS)
def test_a_model_has_the_keys_and_words_of_its_rust_type(name: str) -> None:
    ours = TypeAdapter(MODELS[name]).json_schema(mode="validation")
    assert shapes(ours) == shapes(generated(name))


def test_a_manifest_has_the_keys_and_words_of_its_rust_type_and_a_version_of_its_own() -> None:
    ours = {shape.replace("schema_version=1", "schema_version") for shape in shapes(Site.model_json_schema())}
    assert ours == shapes(generated("page-manifest"))


@pytest.mark.parametrize(
    ("columns", "name", "file", "type_name"),
    [
        (schema.EXCHANGE_COLUMNS, "exchange", "exchange.rs", "Exchange"),
        (schema.extension("request-response"), "exchange-request", "exchange.rs", "RequestExtension"),
        (schema.extension("pubsub"), "exchange-message", "exchange.rs", "MessageExtension"),
        (schema.extension("page"), "exchange-page", "exchange.rs", "PageExtension"),
        (schema.RESOURCE_COLUMNS, "resource-timing", "page.rs", "ResourceTiming"),
    ],
)
def test_the_columns_of_a_row_are_in_the_files_order(
    columns: tuple[str, ...], name: str, file: str, type_name: str
) -> None:
    assert set(columns) == set(generated(name)["properties"])
    rust = (FOLDER.parent / "crates/wirelab-schema/src" / file).read_text(encoding="utf-8")
    body = rust.split(f"pub struct {type_name} {{\n")[1].split("\n}\n")[0]
    written = re.sub(r" {4}#\[serde\(skip\)\]\n.*\n", "", body + "\n")
    fields = [
        line.split(":")[0].strip().removeprefix("pub ") for line in written.splitlines() if line.startswith("    pub ")
    ]
    assert list(columns) == fields


@pytest.mark.parametrize("kind", schema.EXTENDED)
def test_a_row_of_a_workload_has_the_columns_of_every_workload_and_of_its_extension(kind: str) -> None:
    core, own = generated("exchange"), generated(f"exchange-{EXTENSIONS[kind]}")
    row = {**core, "properties": core["properties"] | own["properties"]}
    assert not set(core["properties"]) & set(own["properties"])
    assert shapes(TypeAdapter(schema.EXTENDED[kind]).json_schema(mode="validation")) == shapes(row)
    assert schema.exchange_columns([kind]) == (*schema.EXCHANGE_COLUMNS, *schema.extension(kind))


def test_every_kind_of_workload_has_a_row() -> None:
    kinds = {each.model_fields["kind"].default for each in get_args(get_args(schema.WorkloadSpec)[0])}
    assert kinds == set(schema.EXTENDED) == set(EXTENSIONS)


def test_the_version_is_that_of_the_rust_types() -> None:
    rust = (FOLDER.parent / "crates/wirelab-schema/src/lib.rs").read_text(encoding="utf-8")
    assert f"pub const SCHEMA_VERSION: u32 = {schema.SCHEMA_VERSION};" in rust
    assert schema.registered().schema_version == schema.SCHEMA_VERSION


def test_what_is_registered_is_what_the_schema_describes() -> None:
    document = json.loads((FOLDER / "protocols.json").read_text(encoding="utf-8"))
    jsonschema.validate(document, generated("description"))
    assert [protocol.name for protocol in schema.registered().protocols] == [
        protocol["name"] for protocol in document["protocols"]
    ]


STAGES = get_args(get_args(schema.ImpairmentSpec)[0])


def test_every_impairment_of_the_data_plane_can_be_written() -> None:
    kinds = {impairment.kind for impairment in schema.registered().impairments}
    assert kinds == {argument.model_fields["kind"].default for argument in STAGES}
    assert {each.kind: each.slot for each in schema.registered().impairments} == SLOTS
    assert kinds == set(SLOTS)
    assert {stage.kind for stage in (*FULL.uplink, *FULL.downlink)} <= kinds


def test_every_impairment_has_a_key_in_an_experiment_file() -> None:
    assert set(SLOTS) == {*OWN_KEYS, *PLAIN_KINDS}


def test_what_is_generated_is_what_the_generator_writes() -> None:
    spec = importlib.util.spec_from_file_location("border", FOLDER.parent / "scripts" / "border.py")
    assert spec is not None
    assert spec.loader is not None
    border = importlib.util.module_from_spec(spec)
    sys.modules["border"] = border
    spec.loader.exec_module(border)
    for name, text in border.generated(FOLDER).items():
        written = (FOLDER.parent / "python" / "wirelab" / "schema" / f"{name}.py").read_text(encoding="utf-8")
        assert written == text, f"{name}.py: run make generate"


def test_every_shared_stage_of_the_data_plane_can_be_written() -> None:
    media = {medium.model_fields["kind"].default for medium in get_args(get_args(schema.MediumSpec)[0])}
    others = set(schema.LinkSpec.model_fields) - {"uplink", "downlink", "medium", "mtu", "family", "backend"}
    assert {stage.kind for stage in schema.registered().shared} == media | others


def test_a_reply_is_read_by_what_it_says() -> None:
    reply = schema.parse_reply('{"id": 4, "result": "error", "message": "no lane 9", "hint": null, "later": 1}')
    assert reply == schema.HostError(id=4, message="no lane 9")
    assert schema.parse_reply(b'{"id": 5, "result": "cancelled"}') == schema.Cancelled(id=5)


def test_an_unknown_key_is_not_written() -> None:
    with pytest.raises(ValueError, match="extra_forbidden"):
        schema.Loss.model_validate({"kind": "loss", "probability": 0.1, "correlated": 0.2})


def test_what_the_data_plane_skips_is_not_written() -> None:
    assert schema.Loss(probability=0.1).to_json() == {"kind": "loss", "probability": 0.1}
    assert schema.Delay(delay_ns=1).to_json() == {"kind": "delay", "delay_ns": 1}
    assert QUEUE.to_json() == {"discipline": "drop-tail", "bytes": 64_000}


def test_a_probability_is_a_fraction() -> None:
    with pytest.raises(ValueError, match="less than or equal to 1"):
        schema.Loss(probability=10)


def test_canonical_json_is_one_text_for_one_value() -> None:
    assert schema.canonical_json({"b": [1, 2.5], "a": "é"}) == '{"a":"é","b":[1,2.5]}'


def shapes(document: dict[str, Any]) -> set[str]:
    """Every object of a schema as its keys, the required ones marked, with tags and words; names and prose left out."""
    found: set[str] = set()
    _collect(document, document, found, frozenset())
    return found


def _collect(node: Any, root: dict[str, Any], found: set[str], seen: frozenset[str]) -> None:
    if isinstance(node, list):
        for inner in node:
            _collect(inner, root, found, seen)
    if not isinstance(node, dict):
        return
    reference = node.get("$ref")
    if isinstance(reference, str) and reference not in seen:
        target = root
        for part in reference.removeprefix("#/").split("/"):
            target = target[part]
        _collect(_joined(target, node), root, found, seen | {reference})
    words = _words(node)
    if words:
        found.add(f"one of {sorted(words)}")
    node = _flat(node, root)
    if properties := node.get("properties"):
        found.add(" ".join(sorted(f"{key}{_tag(value)}" for key, value in properties.items())))
    for key, inner in node.items():
        if key in ("properties",):
            for value in inner.values():
                _collect(value, root, found, seen)
        elif key in ("anyOf", "oneOf", "allOf", "items", "additionalProperties", "prefixItems"):
            _collect(inner, root, found, seen)


def _joined(target: dict[str, Any], node: dict[str, Any]) -> dict[str, Any]:
    """A tagged variant that Rust writes as its own keys next to a reference."""
    if "properties" not in node:
        return target
    return {**target, "properties": {**node["properties"], **target.get("properties", {})}}


def _flat(node: dict[str, Any], root: dict[str, Any]) -> dict[str, Any]:
    """Keys common to all variants belong to each: what Rust flattens Python inherits."""
    variants = node.get("oneOf")
    if not (variants and "properties" in node):
        return {} if "$ref" in node else node
    common = node["properties"]
    return {
        "oneOf": [
            {**variant, "properties": {**common, **variant.get("properties", {})}}
            if isinstance(variant, dict)
            else variant
            for variant in variants
        ]
    }


def _words(node: dict[str, Any]) -> set[str]:
    if "enum" in node:
        return set(node["enum"])
    variants = node.get("oneOf", [])
    if variants and all("const" in variant and "properties" not in variant for variant in variants):
        return {variant["const"] for variant in variants}
    return set()


def _tag(value: Any) -> str:
    return f"={value['const']}" if isinstance(value, dict) and "const" in value else ""
