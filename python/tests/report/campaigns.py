"""Campaigns to report: the synthetic one with phases, bytes, errors, a journal, facts and verdicts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl

from tests.synthetic import write_campaign
from wirelab.stats.analyze import analyze

PRINTED_MS = {"http1": (65.4, 50.5), "h2": (96.6, 31.4), "h3": (67.5, 51.1)}
BYTES = {"http1": 72.0, "h2": 210.0, "h3": 310.0}


def analysed(folder: Path, *, failing: bool = True, **options: Any) -> Path:
    """A finished campaign with estimates and without verdicts."""
    write_campaign(folder, **options)
    plan = read(folder, "plan.json")
    plan["experiment"]["title"] = "Small uploads over lossy links"
    for scenario in plan["scenarios"]:
        scenario["workload"] |= {
            "download_bytes": 0, "exchanges": 20, "arrival": {"process": "closed"}, "concurrency": 1,
            "timeout_ns": 10_000_000_000, "connection": {"policy": "fresh"},
        }  # fmt: skip
    store(folder, "plan.json", plan)
    _enrich(folder, plan, failing)
    journal = [
        {
            "trial": trial["trial"], "scenario": trial["scenario"], "block": block["block"], "lane": block["block"] % 2, "lanes": 2,
            "status": "done", "error": None, "attempt": 1, "agent": "0" * 64, "written": "2026-11-21T12:00:00.000Z",
        }
        for block in plan["blocks"]
        for trial in block["trials"]
    ]  # fmt: skip
    (folder / "journal.jsonl").write_text("".join(json.dumps(entry) + "\n" for entry in journal))
    facts = {
        "schema_version": 1, "wirelab": "0.1.0", "agent": {"version": "wirelab-agent 0.1.0", "sha256": "0" * 64},
        "os": "Debian", "host": {"kernel": "6.1.0", "sysctl": {"net.ipv4.tcp_no_metrics_save": "1"}},
        "command": ["wirelab", "run", "synthetic"],
    }  # fmt: skip
    store(folder, "campaign.json", facts)
    analyze(folder)
    return folder


def judged(folder: Path, choices: list[dict[str, str]] | None = None) -> Path:
    """Add verdicts: a count claim, a claim in parts that contradicts itself, one undecided."""
    ratio = {"point": 0.82, "low": 0.8, "high": 0.84, "level": 0.95, "n": 6000, "method": "bootstrap of trials"}
    count = {"point": 17, "low": 15, "high": 19, "level": 0.95, "n": 24, "method": "bootstrap of the count"}

    def claim(id_: str, text: str, form: str, verdict: str, **more: Any) -> dict[str, Any]:
        every = [
            {"levels": levels, "verdict": verdict if i % 2 else "undecided"} for i, levels in enumerate(choices or [])
        ]
        return {
            "id": id_, "text": text, "form": form, "verdict": verdict, "why": "The interval says so.", "paper": 1.43, "ours": ratio,
            "n": 6000, "parts": [], "published": {"verdict": "held", "why": "by its own table"}, "contradiction": None,
            "under_published_rule": "held", "choices": every, **more,
        }  # fmt: skip

    def part(id_: str, text: str, form: str, verdict: str) -> dict[str, Any]:
        whole = claim(id_, text, form, verdict)
        return {key: value for key, value in whole.items() if key not in {"choices", "under_published_rule"}}

    claims = [
        claim("M1", "HTTP/3 outperforms HTTP/2 in 19 of 24 comparisons", "count", "held", paper=19, ours=count),
        claim(
            "M2", "HTTP/1 shortest, HTTP/3 close behind", "order", "refuted", paper="order", ours=None,
            contradiction="Its own table counts 11.",
            parts=[part("M2a", "HTTP/1 below HTTP/3", "order", "held"), part("M2b", "HTTP/3 below HTTP/2", "ratio", "refuted")],
        ),
        claim("M3", "Bursts cost less than random loss", "ratio", "undecided", under_published_rule=None),
    ]  # fmt: skip
    printed = [
        {"metric": "end-to-end-delay", "levels": {"stack": stack, "link": "lossless", "workload.upload": "30 B"},
         "statistic": statistic, "value": value / 1e3}
        for stack, pair in PRINTED_MS.items()
        for statistic, value in zip(("mean", "sd"), pair, strict=True)
    ]  # fmt: skip
    family = {"error_rate": 0.05, "claims": 3, "method": "Holm"}
    store(
        folder, "verdicts.json", {"schema_version": 1, "family": family, "claims": claims, "published_numbers": printed}
    )
    return folder


def read(folder: Path, name: str) -> Any:
    """A JSON file of a campaign."""
    return json.loads((folder / name).read_text())


def store(folder: Path, name: str, value: Any) -> None:
    """Write a JSON file of a campaign."""
    (folder / name).write_text(json.dumps(value))


def _enrich(folder: Path, plan: dict[str, Any], failing: bool) -> None:
    stack = {scenario["key"]: scenario["stack"] for scenario in plan["scenarios"]}
    rtt = {scenario["key"]: 2 * scenario["link"]["uplink"][0]["delay_ns"] for scenario in plan["scenarios"]}
    delay, name = pl.col("end_to_end_delay_ns"), pl.col("scenario").replace_strict(stack)
    trip = pl.col("scenario").replace_strict(rtt)
    failed = (pl.col("index") == 3) & (pl.col("block") == 0) & (name == "h2") & pl.lit(failing)
    frame = pl.read_parquet(folder / "exchanges.parquet").with_columns(
        outcome=pl.when(failed).then(pl.lit("failed")).otherwise("outcome"),
        error=pl.when(failed).then(pl.lit("connection reset <by peer>")),
    )
    kept = pl.col("outcome") == "completed"
    bytes_each = pl.col("wire_up_packets") * name.replace_strict(BYTES, default=60.0)
    columns = {
        "phase_connect_ns": pl.when(kept & (name != "h3")).then(trip),
        "phase_handshake_ns": pl.when(kept & name.is_in(["h2", "h3"])).then(trip),
        "phase_wait_ns": pl.when(kept).then(delay - trip),
        "phase_transfer_ns": pl.when(kept).then(pl.lit(20_000)),
        "wire_up_bytes": bytes_each, "wire_down_bytes": bytes_each * 0.7,
        "end_to_end_delay_ns": pl.when(kept).then(delay),
    }  # fmt: skip
    frame.with_columns(**columns).write_parquet(folder / "exchanges.parquet")
