"""A campaign as its runner and its metrics would leave it, with simulated values: for tests of what reads it."""

from __future__ import annotations

import hashlib
import json
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from tests.documents import whole_plan, whole_result
from wirelab.metrics.exchange_rows import EXCHANGE_TYPES
from wirelab.metrics.tables import write_table
from wirelab.metrics.trial_rows import TRIAL_TYPES
from wirelab.schema import exchange_columns

ROUND_TRIPS = {"http1": 2, "h2": 4, "h3": 2, "raw-tcp": 2}
PACKETS = {"http1": 10, "h2": 18, "h3": 11, "raw-tcp": 8}
LINKS: dict[str, dict[str, Any] | None] = {
    "lossless": None,
    "random": {"kind": "loss", "probability": 0.1},
    "burst": {"kind": "gilbert-elliott", "p": 0.01, "r": 0.1, "bad_loss": 0.7, "good_loss": 0.001},
}
MEAN_LOSS = {"lossless": 0.0, "random": 0.1, "burst": 0.064545}
SPREAD_NS = 300_000


def write_campaign(
    folder: Path,
    *,
    protocols: tuple[str, ...] = ("http1", "h2", "h3"),
    links: tuple[str, ...] = ("lossless", "random", "burst"),
    uploads: tuple[str, ...] = ("30 B", "3.5 kB"),
    factors: dict[str, list[str]] | None = None,
    trials: int = 10,
    exchanges: int = 20,
    timed_out: float = 0.0,
    claims: str | None = None,
    seed: int = 1,
) -> Path:
    """Write plan, tables and the trials' results; `factors` adds levels, of which `link.rtt` changes the delays."""
    rng = np.random.default_rng(seed)
    extra = factors or {"link.rtt": ["20 ms"]}
    scenarios = [
        _scenario(protocol, link, upload, dict(zip(extra, levels, strict=True)))
        for levels in product(*extra.values())
        for protocol, link, upload in product(protocols, links, uploads)
    ]
    blocks = [{"block": b, "trials": [_trial(s, b) for s in scenarios]} for b in range(trials)]
    experiment = {
        "name": "synthetic", "title": "Synthetic", "metric": "end-to-end-delay", "doi": None, "claims": claims,
        "file": "synthetic.toml", "sets": {},
        "factors": {"protocol": list(protocols), "link": list(links), "workload.upload": list(uploads), **extra},
        "stop": {"replicates": [trials, trials], "interval": None, "budget_ns": None},
    }  # fmt: skip
    plan = {
        "schema_version": 1, "identity_version": 1, "experiment": experiment, "seed": 7, "scenarios": scenarios,
        "blocks": blocks,
    }  # fmt: skip
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "plan.json").write_text(json.dumps(whole_plan(plan)))
    rows: list[dict[str, Any]] = []
    table: list[dict[str, Any]] = []
    for scenario in scenarios:
        for replicate in range(trials):
            trial = _trial(scenario, replicate)["trial"]
            made = _exchanges(scenario, trial, replicate, exchanges, timed_out, rng)
            rows += made
            table.append(_trial_row(scenario, trial, replicate, made, rng))
            _write_result(folder, trial, table[-1])
    columns = (name for name in exchange_columns(["request-response"]) if name not in rows[0])
    unseen = [pl.lit(None, dtype=EXCHANGE_TYPES[name]).alias(name) for name in columns]
    unseen.append(pl.lit(None, dtype=pl.Boolean).alias("disturbed"))
    pl.DataFrame(rows, infer_schema_length=None).with_columns(unseen).pipe(write_table, folder / "exchanges.parquet")
    absent = [pl.lit(None, dtype=kind).alias(name) for name, kind in TRIAL_TYPES.items() if name not in table[0]]
    pl.DataFrame(table, infer_schema_length=None).with_columns(absent).pipe(write_table, folder / "trials.parquet")
    return folder


def _scenario(protocol: str, link: str, upload: str, extra: dict[str, str]) -> dict[str, Any]:
    levels = {"protocol": protocol, "link": link, "workload.upload": upload, **extra}
    rtt = int(float(extra.get("link.rtt", "20 ms").split()[0]) * 1e6)
    loss = LINKS[link]
    chain = [{"kind": "delay", "delay_ns": rtt // 2}, *([loss] if loss else [])]
    number, unit = upload.split()
    key = hashlib.sha256(json.dumps(levels, sort_keys=True).encode()).hexdigest()
    return {
        "key": key, "identity": key, "name": " ".join(levels.values()), "levels": levels, "protocol": protocol,
        "settings": {},
        "implementation": {"client": "builtin", "server": "builtin"},
        "link": {"uplink": chain, "downlink": chain}, "link_name": link,
        "workload": {"kind": "request-response", "upload_bytes": int(float(number) * (1000 if unit == "kB" else 1))},
        "congestion_control": "cubic", "expected_exchange_ns": 1,
    }  # fmt: skip


def _trial(scenario: dict[str, Any], replicate: int) -> dict[str, Any]:
    trial = f"{replicate:03}-{scenario['key'][:12]}"
    return {"trial": trial, "scenario": scenario["key"], "replicate": replicate, "link_seed": 1, "endpoint_seed": 2}


def _exchanges(  # noqa: PLR0917
    scenario: dict[str, Any], trial: str, replicate: int, count: int, timed_out: float, rng: np.random.Generator
) -> list[dict[str, Any]]:
    protocol, link = scenario["protocol"], scenario["link_name"]
    rtt = 2 * scenario["link"]["uplink"][0]["delay_ns"]
    packets = PACKETS[protocol] + (4 if scenario["workload"]["upload_bytes"] > 1000 else 0)
    base = ROUND_TRIPS[protocol] * rtt + 500_000
    lost = rng.binomial(packets, MEAN_LOSS[link], count)
    late = rng.random(count) < timed_out
    delays = base + lost * (200_000_000 + rtt) + np.abs(rng.normal(0, SPREAD_NS, count))
    return [
        {
            "trial": trial, "scenario": scenario["key"], "block": replicate, "replicate": replicate,
            "lane": replicate % 2, "index": i, "start_ns": i * 10**10, "end_ns": i * 10**10 + int(delays[i]),
            "outcome": "timed-out" if late[i] else "completed", "client_retransmissions": int(lost[i]),
            "end_to_end_delay_ns": None if late[i] else int(delays[i]),
            "response_time_ns": None if late[i] else int(delays[i]) - 20_000,
            "response_time_curl_ns": None if late[i] else int(delays[i] if protocol == "http1" else delays[i] - rtt),
            "wire_up_packets": float(packets // 2 + lost[i]), "wire_down_packets": float(packets - packets // 2),
            "retransmissions": float(lost[i]), "lost_packets": float(lost[i]),
        }
        for i in range(count)
    ]  # fmt: skip


def _trial_row(
    scenario: dict[str, Any], trial: str, replicate: int, made: list[dict[str, Any]], rng: np.random.Generator
) -> dict[str, Any]:
    completed = sum(row["outcome"] == "completed" for row in made)
    row: dict[str, Any] = {
        "trial": trial, "scenario": scenario["key"], "block": replicate, "replicate": replicate, "lane": replicate % 2,
        "status": "done", "error": None, "excluded": False, "exclusion": None, "completed": completed, "failed": 0,
        "timed_out": len(made) - completed, "unsupported": 0, "kernel_drops": 0, "oversized": 0, "clock_step": False,
        "left_out_of_captures": 0, "uncounted": 0,
    }  # fmt: skip
    for side in ("up", "down"):
        received = int(sum(r[f"wire_{side}_packets"] for r in made))
        lost = int(rng.binomial(received, MEAN_LOSS[scenario["link_name"]]))
        row |= {
            f"{side}_received": received, f"{side}_delivered": received - lost, f"{side}_lost": lost,
            f"{side}_queue_full": 0, f"{side}_held": 0, f"{side}_received_bytes": 100 * received,
        }  # fmt: skip
    return row


def _write_result(folder: Path, trial: str, row: dict[str, Any]) -> None:
    directions = [
        {"lateness": {"upper_ns": [4757, 5657, 16000], "packets": [row[f"{s}_delivered"] - 1, 1, 0], "max_ns": 5600}}
        for s in ("up", "down")
    ]
    path = folder / "trials" / trial
    path.mkdir(parents=True, exist_ok=True)
    (path / "result.json").write_text(json.dumps(whole_result({"link": {"directions": directions}})))
