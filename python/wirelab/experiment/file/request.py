"""`workload.request` and `workload.publish` as written: the user's own request, or message."""

from __future__ import annotations

import base64
import re
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, ValidationInfo, WithJsonSchema

from wirelab.experiment.file.quantities import Table
from wirelab.experiment.link.files import Files
from wirelab.schema.request import default_method
from wirelab.schema.workload import OwnMessage, OwnRequest
from wirelab.units import UnitError

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
"""RFC 9110, section 5.6.2."""
_TARGET = re.compile(r"/[!$-;=@-_a-z|~]*(\?[!$-;=?-~]*)?")
"""What the built-in clients send as it is."""
_VALUE = re.compile(r"[\t -~]*")
_OF_CLIENT = frozenset(
    {"host", "content-length", "transfer-encoding", "connection", "keep-alive", "proxy-connection", "upgrade"}
)
"""Fields of the connection, and those that would stand twice (RFC 9110, sections 7.2 and 8.6; RFC 9113, 8.2.2)."""
_TOPIC = re.compile(r"[^\x00-\x1f\x7f]{1,1024}")
COAP_FIELD = "content-format"
"""The one header that CoAP has."""


def read_method(value: object) -> str:
    """`"PUT"`."""
    if not isinstance(value, str) or _TOKEN.fullmatch(value) is None or value == "CONNECT":
        raise UnitError("is not a method of a path", hint='such as "GET", "POST" or "PUT"')
    return value


def read_path(value: object) -> str:
    """`"/api/items?first=1"`."""
    if not isinstance(value, str) or _TARGET.fullmatch(value) is None:
        raise UnitError("is not a path that begins with /", hint='such as "/api/items"; write a space as %20')
    return value


def read_headers(value: object) -> dict[str, str]:
    """`{ accept = "application/json" }`."""
    if not isinstance(value, dict):
        raise UnitError("is not a table of headers", hint='such as { accept = "application/json" }')
    for name, text in value.items():
        if _TOKEN.fullmatch(name) is None:
            raise UnitError(f"'{name}' is not the name of a header", hint="letters, digits and -")
        if name.lower() in _OF_CLIENT:
            raise UnitError(f"the client writes {name} itself", hint="remove it")
        if not isinstance(text, str) or _VALUE.fullmatch(text) is None:
            raise UnitError(f"{name} is not a line of ASCII text", hint="write its value as one string")
    return dict(value)


def read_body(value: object, info: ValidationInfo) -> bytes:
    """The content of a file next to the experiment."""
    return Files.of(info).content(value)


def read_message(value: object, info: ValidationInfo) -> bytes:
    """The same of a message, which is not empty."""
    found = read_body(value, info)
    if not found:
        raise UnitError(f"{value} is empty", hint="a message has 1 B or more; without a body its bytes are random")
    return found


class RequestTable(Table):
    """A request of HTTP or CoAP. Every response with a status of success is right, whatever its body."""

    method: Annotated[str, BeforeValidator(read_method)] = Field(
        default="", description="The method. Without it GET, or POST with a body.", examples=["PUT"],
        validate_default=False,
    )  # fmt: skip
    path: Annotated[str, BeforeValidator(read_path)] = Field(
        description="Path and query of the resource.", examples=["/api/items?first=1"]
    )
    headers: Annotated[dict[str, str], BeforeValidator(read_headers)] = Field(
        default_factory=dict,
        description="Header fields of HTTP, in addition to those that the protocol needs. CoAP has `content-format` "
        "alone, a number.",
        examples=[{"accept": "application/json"}],
    )
    body: Annotated[bytes, BeforeValidator(read_body), WithJsonSchema({"type": "string"})] = Field(
        default=b"", description="File with the body, next to the experiment file.", examples=["item.json"],
        validate_default=False,
    )  # fmt: skip

    def request(self) -> OwnRequest:
        """As the data plane gets it."""
        return OwnRequest(
            method=self.method or default_method(has_body="body" in self.model_fields_set),
            target=self.path,
            fields=tuple(self.headers.items()),
            body=base64.b64encode(self.body).decode(),
        )


def read_topic(value: object) -> str:
    """`"sensors/1"`."""
    if not isinstance(value, str) or _TOPIC.fullmatch(value) is None:
        raise UnitError("is not a topic", hint='such as "sensors/1"; of AMQP an address, such as "/queues/sensors"')
    return value


class PublishTable(Table):
    """A message of MQTT or AMQP. Its acknowledgement completes the exchange."""

    topic: Annotated[str, BeforeValidator(read_topic)] = Field(
        description="Topic of MQTT, or address of AMQP as the broker knows it. `address-prefix` is not put before it.",
        examples=["sensors/1"],
    )
    body: Annotated[bytes, BeforeValidator(read_message), WithJsonSchema({"type": "string"})] = Field(
        default=b"", description="File with the message, next to the experiment file. Without it `message` random "
        "bytes are sent.", examples=["reading.json"], validate_default=False,
    )  # fmt: skip

    def message(self) -> OwnMessage:
        """As the data plane gets it."""
        return OwnMessage(topic=self.topic, body=base64.b64encode(self.body).decode())


def read_publish(value: object, info: ValidationInfo) -> Any:
    """`{ topic = "sensors/1" }`, or `"none"`."""
    if value == "none":
        return None
    if not isinstance(value, dict):
        raise UnitError("is not a message", hint='such as { topic = "sensors/1" }, or "none"')
    return PublishTable.model_validate(value, context=info.context)


def read_request(value: object, info: ValidationInfo) -> Any:
    """`{ path = "/api/items" }`, or `"none"`."""
    if value == "none":
        return None
    if not isinstance(value, dict):
        raise UnitError("is not a request", hint='such as { path = "/api/items" }, or "none"')
    return RequestTable.model_validate(value, context=info.context)


WrittenPublish = Annotated[PublishTable | None, BeforeValidator(read_publish)]
WrittenRequest = Annotated[RequestTable | None, BeforeValidator(read_request)]
