"""What clients did when the NAT had forgotten their mapping, as a table and as counts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.metrics.records import MS, START, Records, exchange, flow
from wirelab.metrics.dataset import measure
from wirelab.metrics.nat import NAT
from wirelab.stats.dataset import Dataset
from wirelab.stats.nat import nat_responses

NAT_SPEC = {
    "mapping": "endpoint-independent", "filtering": "address-dependent", "udp_timeout_ns": MS,
    "tcp_transitory_timeout_ns": MS, "tcp_established_timeout_ns": MS, "inbound_refresh": True, "keep_port": False,
    "ports": [1024, 65_535], "table_size": 10, "unmapped_segment": "drop",
}  # fmt: skip
LINK = {"uplink": [], "downlink": [], "nat": NAT_SPEC}


def at(milliseconds: int) -> int:
    return START + milliseconds * MS


def kept(index: int, port: int = 40_000, **given: Any) -> dict[str, Any]:
    """An exchange on a connection that was there, from 100 ms times its index on."""
    return exchange(index, local_port=port, connection_reused=True, tcp_connect_ns=None, handshake_ns=None, **given)


def forgotten(port: int, *at_ms: int, treatment: str = "dropped") -> dict[str, Any]:
    expiries = [{"at_ns": at(each), "treatment": treatment} for each in at_ms]
    return flow(port, near="client", expiries=expiries)


def responses(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    exchanges: list[dict[str, Any]],
    *flows: dict[str, Any],
    **scenario: Any,
) -> list[dict[str, Any]]:
    """The rows of one trial."""
    records = Records(folder, {"s": {"protocol": "mqtts", "link": LINK, **scenario}})
    records.trial("s", exchanges, flows)
    monkeypatch.setenv("WIRELAB_AGENT", str(records.finish()))
    measure(folder)
    return pl.read_parquet(folder / NAT).to_dicts() if (folder / NAT).exists() else []


@pytest.mark.parametrize(
    ("protocol", "response"), [("coap", "continued"), ("h3", "migrated"), ("mqtt+quic", "migrated")]
)
def test_a_client_that_goes_on_over_the_same_socket(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, protocol: str, response: str
) -> None:
    exchanges = [exchange(0), kept(1), kept(2)]
    mine = forgotten(40_000, 100, 201, treatment="new-end")
    rows = responses(tmp_path, monkeypatch, exchanges, mine, protocol=protocol)
    found = [(row["response"], row["not_completed"], row["recovery_ns"]) for row in rows]
    assert found == [(response, 0, 63 * MS), (response, 0, 62 * MS)]
    assert {row["treatment"] for row in rows} == {"new-end"}
    record = nat_responses(Dataset.read(tmp_path))["s"]
    assert (record["forgotten"], record["new_end"], record["dropped"], record["responses"][response]) == (2, 2, 0, 2)


@pytest.mark.parametrize(
    ("protocol", "resumed", "response"),
    [
        ("mqtts", True, "resumed"),
        ("mqtts", False, "new handshake"),
        ("coaps", False, "new handshake"),
        ("mqtt", None, "new connection"),
    ],
)
def test_a_client_that_opens_another_connection_after_a_time_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, protocol: str, resumed: bool | None, response: str
) -> None:
    exchanges = [exchange(0), kept(1, outcome="timed-out", end_ns=90), exchange(2, resumed=resumed)]
    [row] = responses(tmp_path, monkeypatch, exchanges, forgotten(40_000, 100), protocol=protocol)
    assert (row["response"], row["not_completed"]) == (response, 1)
    assert (row["recovery_ns"], row["client"], row["local_port"]) == (163 * MS, 0, 40_000)
    record = nat_responses(Dataset.read(tmp_path))["s"]
    assert (record["not_completed"], record["dropped"]) == (1, 1)


def test_a_keep_alive_notices_between_exchanges(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    [row] = responses(tmp_path, monkeypatch, [exchange(0), exchange(1)], forgotten(40_000, 80, treatment="reset"))
    assert (row["response"], row["not_completed"], row["treatment"]) == ("new handshake", 0, "reset")


def test_what_never_completes_again_timed_out_and_what_was_not_asked_again_did_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost = [exchange(0), kept(1, outcome="timed-out", end_ns=90), kept(2, outcome="timed-out", end_ns=90)]
    [row] = responses(tmp_path / "lost", monkeypatch, lost, forgotten(40_000, 100))
    assert (row["response"], row["recovery_ns"], row["not_completed"]) == ("timed out", None, 2)
    [row] = responses(tmp_path / "last", monkeypatch, lost[:2], forgotten(40_000, 100))
    assert (row["response"], row["not_completed"]) == ("nothing sent after", 1)
    [row] = responses(tmp_path / "closing", monkeypatch, [exchange(0)], forgotten(40_000, 400))
    assert row["response"] == "nothing sent after"
    [row] = responses(tmp_path / "another's", monkeypatch, [exchange(0)], forgotten(50_000, 10))
    assert (row["response"], row["client"]) == ("nothing sent after", None)


def test_a_connection_that_was_there_before_is_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    exchanges = [exchange(0), exchange(1, local_port=41_000), kept(2, outcome="timed-out", end_ns=90), kept(3, 41_000)]
    [row] = responses(tmp_path, monkeypatch, exchanges, forgotten(40_000, 201))
    assert (row["response"], row["not_completed"]) == ("another connection", 1)


def test_a_new_connection_counts_though_its_first_exchange_timed_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost = {"outcome": "timed-out", "end_ns": 90}
    exchanges = [exchange(0), kept(1, **lost), exchange(2, local_port=41_000, **lost), kept(3, 41_000)]
    [row] = responses(tmp_path, monkeypatch, exchanges, forgotten(40_000, 100))
    assert row["response"] == "new handshake"


def test_what_a_subscriber_did_is_not_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workload = {"kind": "pubsub", "message_bytes": 12}
    [row] = responses(tmp_path, monkeypatch, [kept(0), kept(1)], forgotten(39_000, 100), workload=workload)
    assert (row["response"], row["not_completed"], row["client"]) == ("not known", None, None)
    assert nat_responses(Dataset.read(tmp_path))["s"]["responses"]["not known"] == 1


def test_what_nothing_answers_shows_no_response(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sent = [exchange(0, outcome="sent"), kept(1, outcome="sent"), kept(2, outcome="sent")]
    [row] = responses(tmp_path, monkeypatch, sent, forgotten(40_000, 100))
    assert (row["response"], row["not_completed"]) == ("not known", 0)


def test_other_clients_are_no_response_and_other_hosts_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    exchanges = [exchange(0), kept(1, outcome="timed-out", end_ns=90), exchange(0, client=1, local_port=41_000)]
    foreign = forgotten(40_000, 20) | {"near": "neighbour"}
    [row] = responses(tmp_path, monkeypatch, exchanges, forgotten(40_000, 100), foreign)
    assert row["response"] == "nothing sent after"


def test_without_a_nat_there_is_no_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = {"uplink": [], "downlink": []}
    assert responses(tmp_path, monkeypatch, [exchange(0)], forgotten(40_000, 10), link=plain) == []
    assert nat_responses(Dataset.read(tmp_path)) == {}
