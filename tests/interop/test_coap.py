"""Our CoAP against libcoap and aiocoap, both ways."""

from __future__ import annotations

import struct
import time
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from tests.interop.coap_peers import (
    IDENTITY,
    KEY,
    aiocoap_client,
    aiocoap_server,
    exchanges,
    libcoap_client,
    libcoap_post,
    libcoap_put,
    libcoap_server,
    lossy_path,
    notify,
)
from tests.interop.conftest import built_agent
from tests.interop.endpoints import Endpoints

# Quick retransmissions, so that losses cost little time.
QUICK = {"ack-timeout": 100, "max-retransmit": 10, "backoff": "linear"}


@pytest.fixture
def ours(tmp_path: Path) -> Iterator[Endpoints]:
    agent = built_agent()
    if agent is None:
        pytest.skip("no wirelab-agent is built")
    endpoints = Endpoints(agent, tmp_path)
    yield endpoints
    endpoints.end()


def every_third(number: int) -> bool:
    return number % 3 == 1


def check(rows: pl.DataFrame, upload: int, download: int, status: int) -> None:
    assert rows["error"].drop_nulls().to_list() == []
    assert set(rows["outcome"]) == {"completed"}
    assert set(rows["status"]) == {status}
    assert set(rows["body_sent_bytes"]) == {upload}
    assert set(rows["body_received_bytes"]) == {download}


@pytest.mark.libcoap
@pytest.mark.parametrize("settings", [{}, {"block-size": "64"}, {"confirmable": False}], ids=["1024", "64", "NON"])
def test_our_client_gets_and_posts_with_libcoap(ours: Endpoints, tmp_path: Path, settings: dict[str, object]) -> None:
    with libcoap_server(tmp_path) as port:
        for size in (30, 3_000):
            libcoap_put(tmp_path, port, f"/bytes/{size}", bytes(size))
            check(ours.start("coap", "client", port, exchanges(0, size), **settings).rows(), 0, size, 205)
        libcoap_put(tmp_path, port, "/upload", b"-")
        for size in (30, 3_000):
            check(ours.start("coap", "client", port, exchanges(size, 0), **settings).rows(), size, 0, 204)
        assert libcoap_client(tmp_path, f"coap://127.0.0.1:{port}/upload", "-o", "-").rstrip(b"\n")


@pytest.mark.libcoap
def test_our_client_gets_through_losses_with_libcoap(ours: Endpoints, tmp_path: Path) -> None:
    with libcoap_server(tmp_path) as port:
        libcoap_put(tmp_path, port, "/bytes/3000", bytes(3_000))
        libcoap_put(tmp_path, port, "/upload", b"-")
        for upload, download, status in [(0, 3_000, 205), (3_000, 0, 204)]:
            with lossy_path(port, every_third) as lossy:
                rows = ours.start("coap", "client", lossy, exchanges(upload, download), **QUICK).rows()
            check(rows, upload, download, status)
            assert rows["client_retransmissions"].sum() > 0


@pytest.mark.libcoap
def test_our_client_observes_libcoap(ours: Endpoints, tmp_path: Path) -> None:
    with libcoap_server(tmp_path) as port:
        libcoap_put(tmp_path, port, "/changes", struct.pack(">IQ", 0, time.monotonic_ns()))
        client = ours.ready("coap", "client", port, notify(12, 4))
        for index in range(1, 4):
            libcoap_put(tmp_path, port, "/changes", struct.pack(">IQ", index, time.monotonic_ns()))
        rows = client.rows().sort("index")
        assert set(rows["outcome"]) == {"completed"}, rows
        assert rows["copies"].to_list() == [1] * 4


@pytest.mark.libcoap
@pytest.mark.parametrize("settings", [{}, {"dtls-cookie": False}], ids=["cookie", "no-cookie"])
def test_our_client_talks_coaps_to_libcoap(ours: Endpoints, tmp_path: Path, settings: dict[str, object]) -> None:
    with libcoap_server(tmp_path) as port:
        libcoap_put(tmp_path, port, "/bytes/3000", bytes(3_000))
        rows = ours.start("coaps", "client", port + 1, exchanges(0, 3_000), **settings).rows()
        check(rows, 0, 3_000, 205)
        assert rows["handshake_ns"].null_count() == 2


@pytest.mark.libcoap
def test_our_client_talks_coap_over_tcp_to_libcoap(ours: Endpoints, tmp_path: Path) -> None:
    with libcoap_server(tmp_path) as port:
        libcoap_put(tmp_path, port, "/bytes/3000", bytes(3_000))
        libcoap_put(tmp_path, port, "/upload", b"-")
        check(ours.start("coap+tcp", "client", port, exchanges(0, 3_000)).rows(), 0, 3_000, 205)
        check(ours.start("coap+tcp", "client", port, exchanges(3_000, 0)).rows(), 3_000, 0, 204)


@pytest.mark.libcoap
@pytest.mark.parametrize("separate", [False, True])
@pytest.mark.parametrize("options", [(), ("-b", "64"), ("-N",), ("-l", "2")], ids=["1024", "64", "NON", "loss"])
def test_libcoap_gets_and_posts_with_our_server(
    ours: Endpoints, tmp_path: Path, separate: bool, options: tuple[str, ...]
) -> None:
    settings = {"separate-response": separate}
    port = ours.ready("coap", "server", 0, exchanges(3_000, 0), **settings).port
    url = f"coap://127.0.0.1:{port}"
    # libcoap 4.3.1's client drops the first block of a separate response: "large body receive internal issue".
    for size in (30, 60 if separate else 3_000):
        assert len(libcoap_client(tmp_path, f"{url}/bytes/{size}", "-o", "-", *options)) >= size
    # Octets, not our own payload: checked by its length.
    assert libcoap_post(tmp_path, f"{url}/upload", 3_000, *options) == "2.04"
    assert libcoap_post(tmp_path, f"{url}/upload", 2_999, *options) == "4.00"


@pytest.mark.libcoap
def test_libcoap_observes_our_server(ours: Endpoints, tmp_path: Path) -> None:
    port = ours.ready("coap", "server", 0, notify(30, 5)).port
    said = libcoap_client(tmp_path, f"coap://127.0.0.1:{port}/changes", "-s", "2", "-o", "-")
    positions = [said.find(struct.pack(">I", index) + said[4:6]) for index in range(5)]
    assert -1 not in positions and positions == sorted(positions), said


@pytest.mark.libcoap
def test_libcoap_talks_coaps_to_our_server(ours: Endpoints, tmp_path: Path) -> None:
    port = ours.ready("coaps", "server", 0, exchanges(0, 3_000)).port
    url = f"coaps://127.0.0.1:{port}/bytes/3000"
    assert len(libcoap_client(tmp_path, url, "-k", KEY, "-u", IDENTITY, "-o", "-")) >= 3_000


@pytest.mark.libcoap
def test_libcoap_talks_coap_over_tcp_to_our_server(ours: Endpoints, tmp_path: Path) -> None:
    port = ours.ready("coap+tcp", "server", 0, exchanges(3_000, 0)).port
    url = f"coap+tcp://127.0.0.1:{port}"
    assert len(libcoap_client(tmp_path, f"{url}/bytes/3000", "-o", "-")) >= 3_000
    assert libcoap_post(tmp_path, f"{url}/upload", 3_000) == "2.04"
    assert libcoap_post(tmp_path, f"{url}/upload", 2_999) == "4.00"


@pytest.mark.parametrize("delay_s", [0.0, 0.3], ids=["piggybacked", "separate"])
def test_our_client_gets_and_posts_with_aiocoap(ours: Endpoints, tmp_path: Path, delay_s: float) -> None:
    with aiocoap_server(tmp_path, delay_s) as port:
        for size in (30, 3_000):
            check(ours.start("coap", "client", port, exchanges(0, size, 2)).rows(), 0, size, 205)
            check(ours.start("coap", "client", port, exchanges(size, 0, 2)).rows(), size, 0, 204)


def test_our_client_gets_through_losses_with_aiocoap(ours: Endpoints, tmp_path: Path) -> None:
    with aiocoap_server(tmp_path) as port, lossy_path(port, every_third) as lossy:
        rows = ours.start("coap", "client", lossy, exchanges(3_000, 0), **QUICK).rows()
        check(rows, 3_000, 0, 204)
        assert rows["client_retransmissions"].sum() > 0


def test_our_client_observes_aiocoap(ours: Endpoints, tmp_path: Path) -> None:
    with aiocoap_server(tmp_path) as port:
        rows = ours.start("coap", "client", port, notify(12, 5)).rows().sort("index")
        assert set(rows["outcome"]) == {"completed"}, rows
        assert rows["copies"].to_list() == [1] * 5


@pytest.mark.parametrize("separate", [False, True])
@pytest.mark.parametrize("kind", ["CON", "NON"])
def test_aiocoap_gets_and_posts_with_our_server(ours: Endpoints, separate: bool, kind: str) -> None:
    port = ours.ready("coap", "server", 0, exchanges(3_000, 0), **{"separate-response": separate}).port
    url = f"coap://127.0.0.1:{port}"
    for size in (30, 3_000):
        assert aiocoap_client(f"{url}/bytes/{size}", kind=kind) == {"code": "2.05", "bytes": size}
    assert aiocoap_client(f"{url}/upload", "POST", 3_000, kind) == {"code": "2.04", "bytes": 0}
    assert aiocoap_client(f"{url}/upload", "POST", 2_999, kind)["code"] == "4.00"


def test_aiocoap_gets_through_losses_with_our_server(ours: Endpoints) -> None:
    port = ours.ready("coap", "server", 0, exchanges(3_000, 0)).port
    with lossy_path(port, lambda number: number == 1) as lossy:
        assert aiocoap_client(f"coap://127.0.0.1:{lossy}/bytes/3000") == {"code": "2.05", "bytes": 3_000}


def test_aiocoap_observes_our_server(ours: Endpoints) -> None:
    port = ours.ready("coap", "server", 0, notify(30, 5)).port
    assert aiocoap_client(f"coap://127.0.0.1:{port}/changes", messages=5) == {"heard": [30] * 5}
