"""A request and a message of the user's own, as written."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest

from tests.asked import load_experiment
from wirelab.errors import WirelabError
from wirelab.experiment.file.request import read_headers, read_method, read_path
from wirelab.schema import RequestResponse, Telemetry
from wirelab.schema.workload import OwnMessage, OwnRequest
from wirelab.units import UnitError

EXPERIMENT = """
title = "Asked"
[factors]
protocol = ["PROTOCOL"]
[workload]
kind = "request-response"
request = REQUEST
"""


def load(folder: Path, request: str, protocol: str = "http1") -> Any:
    (folder / "item.json").write_bytes(b'{"on": true}')
    path = folder / "mine.toml"
    path.write_text(EXPERIMENT.replace("REQUEST", request).replace("PROTOCOL", protocol))
    return load_experiment(str(path))


def request(folder: Path, text: str, protocol: str = "http1") -> tuple[OwnRequest, int]:
    [scenario] = load(folder, text, protocol).scenarios
    assert isinstance(scenario.workload, RequestResponse)
    assert scenario.workload.request is not None
    return scenario.workload.request, scenario.workload.upload_bytes


def test_its_body_is_a_file_and_the_upload(tmp_path: Path) -> None:
    text = '{ method = "PUT", path = "/a?b=1", headers = { x-a = "b" }, body = "item.json" }'
    found, upload_bytes = request(tmp_path, text)
    assert (found.method, found.target, found.fields, upload_bytes) == ("PUT", "/a?b=1", (("x-a", "b"),), 12)
    assert base64.b64decode(found.body) == b'{"on": true}'


def test_the_method_follows_from_the_body(tmp_path: Path) -> None:
    assert request(tmp_path, '{ path = "/" }')[0] == OwnRequest(method="GET", target="/")
    assert request(tmp_path, '{ path = "/", body = "item.json" }')[0].method == "POST"
    (tmp_path / "empty").touch()
    assert request(tmp_path, '{ path = "/", body = "empty" }') == (OwnRequest(method="POST", target="/"), 0)


def test_without_one_the_workload_is_what_it_was(tmp_path: Path) -> None:
    [scenario] = load(tmp_path, '"none"').scenarios
    assert "request" not in scenario.workload.to_json()


def test_another_body_makes_another_scenario(tmp_path: Path) -> None:
    text = '{ path = "/", body = "item.json" }'
    first = load(tmp_path, text).scenarios[0].digest()
    (tmp_path / "other.json").write_text("{}")
    assert load(tmp_path, text.replace("item", "other")).scenarios[0].digest() != first


def test_coap_has_its_methods_and_one_header(tmp_path: Path) -> None:
    text = '{ method = "FETCH", path = "/", headers = { content-format = "50" }, body = "item.json" }'
    assert request(tmp_path, text, "coap")[0].fields == (("content-format", "50"),)


@pytest.mark.parametrize(
    ("text", "protocol", "what"),
    [('{ path = "/", body = "item.jsn" }', "http1", "did you mean 'item.json'?"),
     ('{ path = "items" }', "http1", "is not a path that begins with /"),
     ('{ method = "GET" }', "http1", "is missing"),
     ('"GET /"', "http1", "is not a request"),
     ('{ method = "TRACE", path = "/" }', "coap", "TRACE is no method of CoAP"),
     ('{ path = "/a%20b" }', "coap", "has a %"), ('{ path = "/a/" }', "coap", "an empty segment"),
     ('{ method = "CONNECT", path = "/" }', "http1", "is not a method of a path"),
     ('{ path = "/", headers = { accept = "50" } }', "coap", "CoAP has no header accept"),
     ('{ path = "/", headers = { content-format = "json" } }', "coap", "CoAP has no header content-format"),
     ('{ path = "/" }', "raw-tcp", "raw-tcp has no methods and paths"),
     ('{ path = "/" }\nupload = "3 B"', "http1", "the body of the request is the upload")],
)  # fmt: skip
def test_what_cannot_be_asked_is_refused_at_its_line(tmp_path: Path, text: str, protocol: str, what: str) -> None:
    with pytest.raises(WirelabError) as raised:
        load(tmp_path, text, protocol)
    assert what in str(raised.value)
    assert "mine.toml:" in str(raised.value)


def test_a_large_body_is_refused(tmp_path: Path) -> None:
    (tmp_path / "large").write_bytes(bytes(2**20 + 1))
    with pytest.raises(WirelabError, match="more than 1 MiB"):
        load(tmp_path, '{ path = "/", body = "large" }')


def test_parts_are_what_http_can_send() -> None:
    assert read_method("M-SEARCH") == "M-SEARCH"
    assert read_path("/a%20b?c=d") == "/a%20b?c=d"
    assert read_headers({"x-a": "b c"}) == {"x-a": "b c"}
    for read, wrong in ((read_method, "G T"), (read_path, "/a b"), (read_path, "/a#b"), (read_headers, {"a b": "c"})):
        with pytest.raises(UnitError):
            read(wrong)
    assert read_path("/a;b=[c]?d={e}|f?") == "/a;b=[c]?d={e}|f?"
    for target in ("/<a>", "/a`", '/a"', "/a?b=<c>", '/a?"b"', "/a?b#c"):
        with pytest.raises(UnitError, match="is not a path"):
            read_path(target)
    with pytest.raises(UnitError):
        read_headers({"x-a": "b\r\nc: d"})


@pytest.mark.parametrize("name", ["Host", "content-length", "Transfer-Encoding", "connection"])
def test_a_header_that_the_client_writes_is_refused(name: str) -> None:
    with pytest.raises(UnitError, match=f"the client writes {name} itself"):
        read_headers({"x-a": "b", name: "c"})


def message(folder: Path, text: str, protocol: str = "mqtt", more: str = "") -> Telemetry:
    (folder / "item.json").write_bytes(b'{"on": true}')
    path = folder / "mine.toml"
    written = EXPERIMENT.replace("request = REQUEST", f"publish = {text}{more}").replace("PROTOCOL", protocol)
    path.write_text(written.replace("request-response", "telemetry"))
    [scenario] = load_experiment(str(path)).scenarios
    assert isinstance(scenario.workload, Telemetry)
    return scenario.workload


def test_a_message_has_a_topic_and_a_file_or_random_bytes(tmp_path: Path) -> None:
    found = message(tmp_path, '{ topic = "sensors/1", body = "item.json" }')
    assert found.publish == OwnMessage(topic="sensors/1", body=base64.b64encode(b'{"on": true}').decode())
    assert found.message_bytes == 12
    found = message(tmp_path, '{ topic = "/queues/a#b" }', "amqp", '\nmessage = "30 B"')
    assert (found.publish, found.message_bytes) == (OwnMessage(topic="/queues/a#b"), 30)
    assert "publish" not in message(tmp_path, '"none"').to_json()


@pytest.mark.parametrize(
    ("text", "protocol", "what"),
    [('{ topic = "" }', "mqtt", "is not a topic"), ('"sensors/1"', "mqtt", "is not a message"),
     ('{ topic = "a/#" }', "mqtt", '"a/#" is no topic of mqtt: it has a #'),
     ('{ topic = "a" }', "http1", "http1 has no topics"),
     ('{ topic = "a", body = "item.json" }\nmessage = "3 B"', "mqtt", "the body is the message"),
     ('{ body = "item.json" }', "mqtt", "is missing")],
)  # fmt: skip
def test_what_is_no_message_is_one_error(tmp_path: Path, text: str, protocol: str, what: str) -> None:
    with pytest.raises(WirelabError) as caught:
        message(tmp_path, text, protocol)
    assert what in str(caught.value)
