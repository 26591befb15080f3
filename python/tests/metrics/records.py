"""A campaign's raw records, and an agent that knows no more than their flows."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tests.documents import whole_plan, whole_result
from wirelab.schema import MessageExchange, PageExchange, RequestExchange, ResourceTiming, workloads_with
from wirelab.schema.campaign import EntryStatus, JournalEntry

MS = 1_000_000
START = 10_000 * MS
SINCE_BOOT = 1_700_000_000 * 10**9
"""What CLOCK_REALTIME is ahead of CLOCK_MONOTONIC."""
IN_TURN = {"kind": "request-response", "upload_bytes": 0, "download_bytes": [11_000_000, 612], "timeout_ns": 10**9}
"""A workload whose downloads take turns."""


class AnyExchange(RequestExchange, MessageExchange, PageExchange):
    """A row with the columns of every workload."""


def exchange(index: int = 0, **given: Any) -> dict[str, Any]:
    """A completed upload over a fresh TLS connection; `given` replaces fields, instants in ms after the start."""
    instants = {
        "name_lookup_ns": None, "tcp_connect_ns": 20, "handshake_ns": 41, "request_start_ns": 41,
        "first_body_sent_ns": 41,
        "first_response_byte_ns": 62, "first_final_byte_ns": 62, "end_ns": 63,
    }  # fmt: skip
    start = START + index * 100 * MS
    fields = {
        "index": index, "intended_start_ns": start, "start_ns": start, "outcome": "completed", "body_sent_bytes": 30,
        "local_port": 40_000 + index, "client_retransmissions": 0,
    }  # fmt: skip
    placed = {
        name: None if at is None else start + at * MS
        for name, at in (instants | {key: value for key, value in given.items() if key in instants}).items()
    }
    plain = {key: value for key, value in given.items() if key not in instants}
    row = AnyExchange.model_validate(fields | placed | plain).model_dump(mode="json")
    return {name: value for name, value in row.items() if name in plain or not workloads_with(name)}


def later(row: Mapping[str, Any], by_ns: int) -> dict[str, Any]:
    """The same exchange so much later."""
    return {
        name: value + by_ns if name.endswith("_ns") and isinstance(value, int) and value >= START else value
        for name, value in row.items()
    }


def resource(exchange: int = 0, **given: Any) -> dict[str, Any]:
    """The document of a load on a connection of its own over TLS; `given` replaces fields, instants in ms after the
    load's start.
    """
    instants = {
        "discovered_ns": 0, "connect_start_ns": 1, "tcp_connect_ns": 21, "handshake_ns": 42, "request_start_ns": 43,
        "first_response_byte_ns": 64, "end_ns": 70,
    }  # fmt: skip
    start = START + exchange * 100 * MS
    fields = {
        "exchange": exchange, "resource": 0, "path": "/index.html", "found_by": "navigation", "connection": 0,
        "outcome": "completed", "status": 200, "body_received_bytes": 100,
    }  # fmt: skip
    placed = {
        name: None if at is None else start + at * MS
        for name, at in (instants | {key: value for key, value in given.items() if key in instants}).items()
    }
    plain = {key: value for key, value in given.items() if key not in instants}
    return ResourceTiming.model_validate(fields | placed | plain).model_dump(mode="json")


def flow(port: int | None, *, transport: str = "tcp", **given: Any) -> dict[str, Any]:
    """A flow of 7 packets up and 5 down, of which 8 go in turn."""
    return {
        "transport": transport, "client_port": port, "server_port": 8443, "first_ns": 1, "last_ns": 2,
        "packets": [7, 5],
        "bytes": [700, 500], "dropped": [1, 0], "retransmissions": [1, 0], "spurious": [0, 0], "turns": 8,
    } | given  # fmt: skip


def link() -> dict[str, Any]:
    """A link report: 100 packets each way, all 10 us late but one 3 ms."""
    direction = {
        "received": 100, "delivered": 98, "dropped": [{"cause": "loss", "packets": 2}], "held": 0,
        "received_bytes": 9000,
        "delivered_bytes": 8800,
        "lateness": {"upper_ns": [10_000, 5_000_000], "packets": [97, 1], "max_ns": 3 * MS},
    }  # fmt: skip
    return {"directions": [direction, direction], "kernel_drops": 0, "oversized": 0, "clock_step": False}


class Records:
    """Writes a campaign, trial by trial."""

    def __init__(self, folder: Path, scenarios: Mapping[str, Mapping[str, Any]]) -> None:
        self.folder = folder
        self._scenarios = [
            {
                "key": key, "identity": key, "protocol": "h2", "settings": {},
                "workload": {"kind": "request-response", "upload_bytes": 30},
                "implementation": {"client": "builtin", "server": "builtin"}, "link": {"uplink": [], "downlink": []},
            } | dict(given)
            for key, given in scenarios.items()
        ]  # fmt: skip
        self._trials: list[dict[str, Any]] = []
        self._flows: dict[str, list[dict[str, Any]]] = {}
        self.mismatches: dict[str, int] = {}
        self.ledgers: dict[str, list[dict[str, int]]] = {}
        self.radio: dict[str, list[dict[str, Any]]] = {}
        """Of a trial: its packets at the client's radio."""
        self.packets: dict[str, list[dict[str, Any]]] = {}
        """Of a trial: when packets left its link, and how late."""
        (folder / "trials").mkdir(parents=True)

    def trial(
        self,
        scenario: str,
        exchanges: Iterable[Mapping[str, Any]] = (),
        flows: Iterable[Mapping[str, Any]] = (),
        status: EntryStatus = EntryStatus.DONE,
        error: str | None = None,
        *,
        resources: Iterable[Mapping[str, Any]] = (),
        ready_ns: int | None = None,
    ) -> str:
        """Add a trial, each of whose endpoints took 4 ms of CPU time, `ready_ns` of it before it was ready; its id."""
        name = f"trial-{len(self._trials)}"
        self._trials.append({"trial": name, "scenario": scenario, "replicate": len(self._trials)})
        folder = self.folder / "trials" / name
        (folder / "client").mkdir(parents=True)
        (folder / "client" / "exchanges.jsonl").write_text("".join(json.dumps(row) + "\n" for row in exchanges))
        (folder / "client" / "resources.jsonl").write_text("".join(json.dumps(row) + "\n" for row in resources))
        endpoints = [
            {
                "name": role,
                "cpu_user_ns": 3 * MS,
                "cpu_system_ns": MS,
                "peak_memory_bytes": 5000,
                "cpu_ready_ns": ready_ns,
            }
            for role in ("server", "client")
        ]
        result = {
            "start_ns": START,
            "start_realtime_ns": START + SINCE_BOOT,
            "end_ns": START + 500 * MS,
            "endpoints": endpoints,
            "link": link(),
        }
        (folder / "result.json").write_text(json.dumps(whole_result(result)))
        log = folder / "packets.wlpl"
        log.touch()
        self._flows[str(log)] = [{"log": str(log), **row} for row in flows]
        self.entry(name, scenario, status, error)
        return name

    def restarted(self, trial: str, *restarts: tuple[int, int | None]) -> None:
        """Note restarts of a trial's server: when it was killed and when it was ready, in ms after the start."""
        path = self.folder / "trials" / trial / "result.json"
        result = json.loads(path.read_text())
        [server] = [each for each in result["endpoints"] if each["name"] == "server"]
        server["restarts"] = [
            {"stopped_ns": START + stop * MS, "ready_ns": None if ready is None else START + ready * MS}
            for stop, ready in restarts
        ]
        path.write_text(json.dumps(result))

    def entry(self, trial: str, scenario: str, status: EntryStatus, error: str | None = None, attempt: int = 1) -> None:
        """Add a journal entry."""
        line = JournalEntry(
            trial=trial, scenario=scenario, block=0, lane=1, lanes=2, status=status, error=error, attempt=attempt,
            agent="a", written="2026-01-01T00:00:00Z",
        )  # fmt: skip
        with (self.folder / "journal.jsonl").open("a") as journal:
            journal.write(line.model_dump_json() + "\n")

    def finish(self, metric: str = "end-to-end-delay", energy: Mapping[str, Any] | None = None) -> Path:
        """Write the plan, and an agent whose `dissect` prints the flows, or the radio's packets, of the logs it is
        given; its path.
        """
        plan = {
            "schema_version": 1, "identity_version": 1, "seed": 1,
            "experiment": {"name": "records", "metric": metric, "energy": energy},
            "scenarios": self._scenarios, "blocks": [{"block": 0, "trials": self._trials}],
        }  # fmt: skip
        (self.folder / "plan.json").write_text(json.dumps(whole_plan(plan)))
        agent = self.folder / "agent"
        agent.write_text(
            "#!/usr/bin/env python3\nimport json, sys\n"
            f"flows = json.loads({json.dumps(self._flows)!r})\n"
            f"mismatches = json.loads({json.dumps(self.mismatches)!r})\n"
            "if sys.argv[1] == 'replay':\n"
            "    for log in sys.argv[3:]:\n"
            "        wrong = mismatches.get(log.split('/')[-2], 0)\n"
            "        ways = [dict(packets=90, duplicated=0, corrupted=2, reordered=way) for way in (0, 1)]\n"
            "        print(json.dumps(dict(log=log, packets=200, mismatches=wrong, directions=ways)))\n"
            "    sys.exit(bool(mismatches))\n"
            f"ledgers = json.loads({json.dumps(self.ledgers)!r})\n"
            "if sys.argv[1] == 'ledger':\n"
            "    for folder in sys.argv[3:]:\n"
            "        print(json.dumps(dict(trial=folder, directions=ledgers[folder.split('/')[-1]])))\n"
            "    sys.exit()\n"
            f"radio = json.loads({json.dumps(self.radio)!r})\n"
            "if sys.argv[1:4] == ['dissect', '--radio', 'client']:\n"
            "    for log in sys.argv[5:]:\n"
            "        for row in radio.get(log.split('/')[-2], ()):\n"
            "            print(json.dumps(dict(row, log=log)))\n"
            "    sys.exit()\n"
            f"packets = json.loads({json.dumps(self.packets)!r})\n"
            "if sys.argv[1:3] == ['dissect', '--']:\n"
            "    for row in packets.get(sys.argv[3].split('/')[-2], ()):\n"
            "        print(json.dumps(row))\n"
            "    sys.exit()\n"
            "assert sys.argv[1:3] == ['dissect', '--flows']\n"
            "for log in sys.argv[4:]:\n    for row in flows[log]:\n        print(json.dumps(row))\n"
        )
        agent.chmod(agent.stat().st_mode | stat.S_IXUSR)
        return agent
