"""Campaigns to report; each number follows a formula, so that pages do not change with the statistics."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

import polars as pl

from tests.documents import whole_estimates, whole_plan, whole_record, whole_verdicts
from wirelab.metrics.tables import write_table

GRADED = {"flag": "good", "why": "the difference is at least 10 times the link's error"}
GOOD_LINK = {**GRADED, "error_s": 1e-5}
WHOLE = {
    "plan.json": whole_plan, "campaign.json": whole_record, "estimates.json": whole_estimates,
    "verdicts.json": whole_verdicts,
}  # fmt: skip
EXCHANGES, TRIALS = 40, 2
PRINTED_MS = {"http1": (65.4, 50.5), "h2": (96.6, 31.4)}


def write(
    folder: Path,
    *,
    protocols: tuple[str, ...] = ("http1", "h2"),
    links: tuple[str, ...] = ("clean", "lossy"),
    uploads: tuple[str, ...] = ("30 B",),
    factors: dict[str, tuple[str, ...]] | None = None,
    choices: dict[str, tuple[str, ...]] | None = None,
    title: str = "Small uploads",
) -> Path:
    """A finished campaign. `factors` and `choices` map paths to levels, of a choice the first what the others vary."""
    folder.mkdir(parents=True, exist_ok=True)
    varied = {**(factors or {}), **(choices or {})}
    extra = varied or {"link.rtt": ("20 ms",)}
    scenarios = [
        _scenario(protocol, link, upload, dict(zip(extra, levels, strict=True)))
        for levels in product(*extra.values())
        for upload, link, protocol in product(uploads, links, protocols)
    ]
    blocks = [{"block": b, "trials": [_trial(s, b) for s in scenarios]} for b in range(TRIALS)]
    experiment = {
        "name": "tiny", "title": title, "metric": "end-to-end-delay", "doi": None, "claims": None, "file": "tiny.toml",
        "factors": {"protocol": protocols, "link": links, "workload.upload": uploads, **extra},
        "choices": choices or {}, "sets": {},
        "stop": {"replicates": [TRIALS, TRIALS], "interval": None, "budget_ns": None}, "preview": None,
    }  # fmt: skip
    store(
        folder,
        "plan.json",
        whole_plan(
            {
                "schema_version": 1,
                "identity_version": 1,
                "experiment": experiment,
                "seed": 7,
                "scenarios": scenarios,
                "blocks": blocks,
            }
        ),
    )
    facts = {
        "wirelab": "0.1.0",
        "command": ["wirelab", "run", "tiny"],
        "host": {"kernel": "6.1", "oversubscribed": None},
    }
    store(folder, "campaign.json", facts)
    trials = [(block["block"], trial) for block in blocks for trial in block["trials"]]
    _write_journal(folder, trials)
    _write_tables(folder, scenarios, trials)
    estimates = {
        "level": 0.95, "metric": "end-to-end-delay", "scenarios": [_estimates(s) for s in scenarios],
        "comparisons": _comparisons(scenarios), "links": [row for link in links for row in _links(link)],
        "link_lateness": [{"lane": 0, "packets": 900, "p50_s": 5e-6, "p99_s": 9e-6, "p999_s": 2e-5, "max_s": 3e-5}],
        "notes": ["A note of the analysis."],
    }  # fmt: skip
    store(folder, "estimates.json", estimates)
    return folder


def judge(folder: Path, choices: list[dict[str, str]] | None = None) -> Path:
    """Add verdicts: a count, a claim in parts that its publication speaks against, and one inconclusive."""

    def claim(id_: str, text: str, form: str, verdict: str, **more: Any) -> dict[str, Any]:
        given = [
            {"levels": levels, "verdict": "contradicted" if i else verdict, "missing": False, "link": GRADED}
            for i, levels in enumerate(choices or [])
        ]
        return {
            "id": id_, "text": text, "form": form, "verdict": verdict, "why": "the interval says so", "paper": 1.43,
            "ours": _estimate(0.82), "n": 6000, "parts": [],
            "published": {"verdict": "confirmed", "why": "by its own table"},
            "contradiction": None, "under_published_rule": "confirmed", "choices": given, "link": GRADED, **more,
        }  # fmt: skip

    count = {"point": 17.0, "low": 15.0, "high": 19.0, "level": 0.95, "n": 24, "method": "bootstrap"}
    parts = [
        {"text": text, "form": "order", "verdict": verdict, "why": "it is", "paper": None, "ours": None, "n": 80}
        for text, verdict in (("HTTP/1 below HTTP/3", "confirmed"), ("HTTP/3 below HTTP/2", "contradicted"))
    ]
    against = "the publication's own numbers contradict it: its table counts 11"
    claims = [
        claim("M1", "HTTP/3 beats HTTP/2 in 19 of 24 comparisons", "count", "confirmed", paper=19, ours=count),
        claim(
            "M2", "HTTP/1 shortest", "order", "contradicted", paper=None, ours=None, contradiction=against, parts=parts
        ),
        claim("M3", "Bursts cost less", "ratio", "inconclusive", under_published_rule=None),
    ]
    numbers = [
        {
            "metric": "end-to-end-delay",
            "levels": {"protocol": protocol, "link": "clean"},
            "statistic": name,
            "value": v / 1e3,
        }
        for protocol, pair in PRINTED_MS.items()
        for name, v in zip(("mean", "sd"), pair, strict=True)
    ]
    family = {"error_rate": 0.05, "claims": 3, "method": "Holm's step-down"}
    store(folder, "verdicts.json", {"family": family, "claims": claims, "published_numbers": numbers})
    return folder


def read(folder: Path, name: str) -> Any:
    """A JSON file of a campaign."""
    return json.loads((folder / name).read_text(encoding="utf-8"))


def store(folder: Path, name: str, value: Any) -> None:
    """Write a JSON file of a campaign, whole."""
    whole = WHOLE[name](value) if name in WHOLE else value
    (folder / name).write_text(json.dumps(whole), encoding="utf-8")


def _scenario(protocol: str, link: str, upload: str, extra: dict[str, str]) -> dict[str, Any]:
    levels = {"protocol": protocol, "link": link, "workload.upload": upload, **extra}
    chain = [{"kind": "loss", "probability": 0.1}] if link == "lossy" else []
    chain.append({"kind": "delay", "delay_ns": 10_000_000})
    key = "-".join(levels.values()).replace(" ", "")
    return {
        "key": key, "identity": key, "name": ", ".join(levels.values()), "levels": levels,
        "points": [levels], "protocol": protocol, "settings": {"tls": "1.2"} if protocol == "h2" else {},
        "implementation": {"client": "builtin", "server": "builtin"}, "link_name": link,
        "link": {"uplink": chain, "downlink": chain}, "congestion_control": "cubic",
        "workload": {
            "kind": "request-response",
            "upload_bytes": 30, "download_bytes": 0, "exchanges": EXCHANGES // TRIALS, "concurrency": 1,
            "arrival": {"process": "closed"}, "timeout_ns": 10**10, "connection": {"policy": "new"},
        },
        "connections": {
            "at_once": 1, "congestion_control": "cubic", "constants": "C = 0.4, beta = 0.7", "packet_bytes": 1448,
            "loss_limit": {"flow_bps": 2_243_000, "link_bps": 10**7, "loss": 0.1, "rtt_ns": 20_000_000}
            if (protocol, link) == ("h2", "lossy") else None,
        },
    }  # fmt: skip


def _trial(scenario: dict[str, Any], block: int) -> dict[str, Any]:
    return {"trial": f"{block}-{scenario['key']}", "scenario": scenario["key"], "replicate": block}


def _median_ms(scenario: dict[str, Any]) -> float:
    trips = {"http1": 2, "https1": 2, "h2": 4}.get(scenario["protocol"], 3)
    return 20.0 * trips + (5.0 if scenario["link_name"] == "lossy" else 0.0)


def _delays_ms(scenario: dict[str, Any]) -> list[float]:
    slow = 4 if scenario["link_name"] == "lossy" else 10**9
    return [_median_ms(scenario) * (1 + 0.001 * i) + (1000 if i % slow == slow - 1 else 0) for i in range(EXCHANGES)]


def _write_journal(folder: Path, trials: list[tuple[int, dict[str, Any]]]) -> None:
    entries = [
        {
            "trial": trial["trial"], "scenario": trial["scenario"], "block": block, "lane": 0, "lanes": 1,
            "status": "done",
            "error": None, "attempt": 1, "agent": "0" * 64, "written": "2026-11-21T12:00:00.000Z",
        }
        for block, trial in trials
    ]  # fmt: skip
    (folder / "journal.jsonl").write_text("".join(json.dumps(entry) + "\n" for entry in entries))


def _write_tables(folder: Path, scenarios: list[dict[str, Any]], trials: list[tuple[int, dict[str, Any]]]) -> None:
    delays = {s["key"]: _delays_ms(s) for s in scenarios}
    exchanges = [
        {
            "trial": f"{i % TRIALS}-{key}", "scenario": key,
            "outcome": "failed" if i in dead else "completed", "error": "reset" if i in dead else None,
            "end_to_end_delay_ns": None if i in dead else round(delay * 1e6),
        }
        for key, values in delays.items()
        for dead in [{0} if key.startswith("h2") else set()]
        for i, delay in enumerate(values)
    ]  # fmt: skip
    pl.DataFrame(exchanges, infer_schema_length=None).pipe(write_table, folder / "exchanges.parquet")
    rows = [
        {"trial": t["trial"], "scenario": t["scenario"], "status": "done", "excluded": False, "exclusion": None}
        for _, t in trials
    ]
    pl.DataFrame(rows, schema_overrides={"exclusion": pl.String}).pipe(write_table, folder / "trials.parquet")
    for _, trial in trials:
        path = folder / "trials" / trial["trial"]
        path.mkdir(parents=True, exist_ok=True)
        (path / "result.json").write_text("{}")


def _estimate(point: float, spread: float = 0.02) -> dict[str, Any]:
    low, high = point * (1 - spread), point * (1 + spread)
    return {"point": point, "low": low, "high": high, "level": 0.95, "n": EXCHANGES, "method": "made up"}


def _metric(unit: str, point: float, modes: list[dict[str, Any]], rule: dict[str, Any] | None) -> dict[str, Any]:
    quantiles = {q: _estimate(point * factor) for q, factor in (("0.05", 0.98), ("0.25", 0.99), ("0.75", 1.01))}
    late = point + 1 if modes else point * 1.02
    return {
        "unit": unit, "n": EXCHANGES, "mean": _estimate(point * 1.1), "sd": _estimate(point / 10),
        "median": _estimate(point),
        "quantiles": {**quantiles, "0.95": _estimate(late, 0.01), "0.99": None}, "modes": modes, "published_rule": rule,
    }  # fmt: skip


def _estimates(scenario: dict[str, Any]) -> dict[str, Any]:
    median = _median_ms(scenario) / 1e3
    lossy, failed = scenario["link_name"] == "lossy", int(scenario["protocol"] == "h2")
    slow = {"low": median + 1, "high": median + 1.1, "share": _estimate(0.25)}
    modes = [{"low": median, "high": median * 1.04, "share": _estimate(0.75)}, slow] if lossy else []
    rule = {
        "removed": 10 if lossy else 0, "retransmission_hit": 10 if lossy else 0,
        "removed_retransmission_hit": 10 if lossy else 0, "mean": _estimate(median), "sd": _estimate(median / 50),
        "note": None,
    }  # fmt: skip
    phases = {"phase-wait": median - 0.02, "phase-transfer": 0.00002}
    if scenario["protocol"] != "h3":
        phases["phase-connect"] = 0.02
    if scenario["protocol"] != "http1":
        phases["phase-handshake"] = 0.02
    wire = {"wire-up-bytes": 400.0, "wire-down-bytes": 300.0, "wire-up-packets": 6.0, "wire-down-packets": 5.0}
    return {
        "key": scenario["key"], "name": scenario["name"],
        "denominators": {
            "exchanges": EXCHANGES, "completed": EXCHANGES - failed, "sent": 0, "arrived": None,
            "failed": failed, "timed-out": 0, "unsupported": 0,
            "trials": TRIALS, "failed_trials": 0, "unsupported_trials": 0, "exchanges_of_failed_trials": 0,
            "not-confirmed": 0, "excluded_trials": 0,
        },
        "metrics": {
            "end-to-end-delay": _metric("s", median, modes, rule),
            **{name: _metric("s", value, [], None) for name, value in phases.items()},
            **{name: _metric("B" if "bytes" in name else "", value, [], None) for name, value in wire.items()},
            "retransmissions": _metric("", 0.3 if lossy else 0.0, [], None),
        },
    }  # fmt: skip


def _comparisons(scenarios: list[dict[str, Any]]) -> list[dict[str, Any]]:
    found = []
    for a, b in product(scenarios, scenarios):
        rest = {path: level for path, level in a["levels"].items() if path != "protocol"}
        if a["key"] < b["key"] and all(b["levels"][path] == level for path, level in rest.items()):
            ratio = _estimate(_median_ms(a) / _median_ms(b))
            found.append(
                {
                    "metric": "end-to-end-delay", "a": a["key"], "b": b["key"], "ratio_of_means": ratio,
                    "ratio_of_medians": ratio, "shift": _estimate((_median_ms(a) - _median_ms(b)) / 1e3, -0.02),
                    "cliffs_delta": _estimate(0.9), "p": 0.0001, "p_adjusted": 0.004,
                    "family": {"name": "all comparisons of end-to-end-delay", "size": 2},
                    "link": GOOD_LINK,
                }
            )  # fmt: skip
    return found


def _links(link: str) -> list[dict[str, Any]]:
    configured = {"delay_s": 0.01, "loss": 0.1 if link == "lossy" else 0.0, "rate_bps": None}
    error = {"p50": 5e-6, "p99": 9e-6, "max": 3e-5}
    return [
        {
            "link_name": link, "direction": direction, "configured": configured, "flag": "good",
            "why": "delay and loss are as configured",
            "measured": {"delay_error_s": error, "loss": _estimate(configured["loss"]), "packets": 900},
        }
        for direction in ("uplink", "downlink")
    ]  # fmt: skip
