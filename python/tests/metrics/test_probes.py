"""Probes are measured once, with the agent; their analysis needs no agent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.documents import whole_result
from wirelab import agent
from wirelab.errors import RunError, WirelabError
from wirelab.metrics.probes import measure_all_probes, read_probes
from wirelab.schema.link import ReplayReport
from wirelab.schema.probe import ProbePlan

PACKET = {
    "sequence": 0, "uplink": True, "size_bytes": 44, "arrival_ns": 1000, "departure_ns": 2000, "lateness_ns": 7,
    "fate": "delivered", "copy": False, "corrupted": False, "client_port": 41_010,
}  # fmt: skip


def probed(campaign: Path) -> Path:
    folder = campaign / "probes" / "0123456789abcdef"
    folder.mkdir(parents=True)
    plan = ProbePlan(start_ns=0, duration_ns=1, server_port=1, flows=())
    (folder / "request.json").write_text(json.dumps({"link": {"uplink": [], "downlink": []}}))
    (folder / "probe-plan.json").write_text(plan.model_dump_json())
    (folder / "result.json").write_text(json.dumps(whole_result({})))
    (folder / "client.txt").write_text("sent 41010 1\n")
    (folder / "server.txt").write_text("received 41010 0 900 2100\n")
    return folder


def test_what_is_measured_is_read_without_the_agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = probed(tmp_path)
    (tmp_path / "probes" / "unfinished").mkdir()
    with pytest.raises(RunError, match=r"packets\.parquet") as raised:
        read_probes(folder)
    assert raised.value.hint == "wirelab measure CAMPAIGN"

    def ask(_agent: Path, arguments: list[str], *_rest: Any, files: list[str], **_more: Any) -> str:
        assert files == [str(folder / "packets.wlpl")]
        return json.dumps(PACKET if arguments[0] == "dissect" else {"packets": 1, "mismatches": 0})

    monkeypatch.setattr(agent, "find_agent", lambda: Path("/agent"))
    monkeypatch.setattr(agent, "ask", ask)
    measure_all_probes(tmp_path)
    monkeypatch.undo()
    monkeypatch.setenv("WIRELAB_AGENT", "/no/agent")
    probes = read_probes(folder)
    assert probes.packets.rows(named=True) == [PACKET]
    assert probes.replay == ReplayReport(packets=1, mismatches=0)
    assert probes.sent == {(True, 41_010): 1}
    assert probes.received.rows() == [(True, 41_010, 0, 900, 2100)]


def test_a_damaged_request_is_one_error_with_its_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = probed(tmp_path)
    (folder / "request.json").write_text(json.dumps({"link": {"uplink": 3, "downlink": []}}))
    monkeypatch.setattr(agent, "find_agent", lambda: Path("/agent"))
    monkeypatch.setattr(agent, "ask", lambda *_words, **_more: json.dumps(PACKET))
    with pytest.raises(WirelabError, match=r"request\.json was written by another build, or damaged: link\.uplink: "):
        measure_all_probes(tmp_path)
