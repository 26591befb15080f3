"""The browser's endpoint and its DevTools, with a pipe in the browser's place."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from tests.browser import shipped

DEVTOOLS = shipped("devtools")
SOON_S = 5


class Pipes:
    """Both ends of a browser's pipe."""

    def __init__(self) -> None:
        self.reported, writing = os.pipe()
        reading, self.tell = os.pipe()
        self.ends = [self.reported, writing, reading, self.tell]
        self.devtools = DEVTOOLS.DevTools(reading, writing)

    def say(self, *messages: dict[str, Any]) -> None:
        os.write(self.tell, b"".join(json.dumps(message).encode() + b"\0" for message in messages))

    def heard(self) -> dict[str, Any]:
        text = os.read(self.reported, 1 << 16)
        assert text.endswith(b"\0")
        found: dict[str, Any] = json.loads(text[:-1])
        return found

    def next(self) -> Any:
        return self.devtools.event(time.monotonic() + SOON_S)


@pytest.fixture
def pipes() -> Iterator[Pipes]:
    pipes = Pipes()
    yield pipes
    for end in pipes.ends:
        try:
            os.close(end)
        except OSError:
            continue


def test_a_call_is_answered_and_earlier_events_keep_their_order(pipes: Pipes) -> None:
    pipes.say({"method": "A"}, {"method": "B"}, {"id": 1, "result": {"x": 2}}, {"method": "C"})
    assert pipes.devtools.call("Page.enable", "session", y=3) == {"x": 2}
    assert pipes.heard() == {"id": 1, "method": "Page.enable", "params": {"y": 3}, "sessionId": "session"}
    assert [pipes.next()["method"] for _ in range(3)] == ["A", "B", "C"]


def test_a_message_may_come_in_pieces(pipes: Pipes) -> None:
    os.write(pipes.tell, b'{"method"')
    assert pipes.devtools.event(time.monotonic()) is None
    os.write(pipes.tell, b': "A"}\0{"meth')
    assert pipes.next() == {"method": "A"}
    os.write(pipes.tell, b'od": "B"}\0')
    assert pipes.next() == {"method": "B"}


def test_a_refused_call_has_the_browsers_message(pipes: Pipes) -> None:
    pipes.say({"id": 1, "error": {"code": -32601, "message": "'Page.fly' wasn't found"}})
    with pytest.raises(DEVTOOLS.DevToolsError, match=r"Page\.fly: 'Page\.fly' wasn't found"):
        pipes.devtools.call("Page.fly")


def test_a_dead_browser_is_an_error_for_waits_and_calls(pipes: Pipes) -> None:
    os.close(pipes.tell)
    with pytest.raises(DEVTOOLS.DevToolsError, match="gone"):
        pipes.next()
    os.close(pipes.reported)
    with pytest.raises(DEVTOOLS.DevToolsError, match="gone"):
        pipes.devtools.send("Page.enable")


@pytest.mark.parametrize("kind", ["ecdsa", "rsa"])
def test_the_digest_is_of_the_first_certificates_public_key(tmp_path: Path, kind: str) -> None:
    keys = [_key(kind), _key("ecdsa")]
    chain = tmp_path / "chain.pem"
    chain.write_bytes(b"".join(_certificate(key).public_bytes(serialization.Encoding.PEM) for key in keys))
    public = (
        keys[0].public_key().public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    )
    assert shipped("spki").spki_sha256(chain) == base64.b64encode(hashlib.sha256(public).digest()).decode()


def _key(kind: str) -> Any:
    return ec.generate_private_key(ec.SECP256R1()) if kind == "ecdsa" else rsa.generate_private_key(65537, 2048)


def _certificate(key: Any) -> x509.Certificate:
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "server.test")])
    now = datetime.now(UTC)
    builder = x509.CertificateBuilder(name, name, key.public_key(), 300, now, now + timedelta(days=1))
    return builder.sign(key, hashes.SHA256())
