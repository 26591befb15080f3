"""Files of a campaign for tests, whole: what a test leaves out has a plain value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.asked import ask, facts_of_plan

Json = Mapping[str, Any]

_EXPERIMENT: Json = {
    "name": "mine", "title": "Mine", "metric": "end-to-end-delay", "doi": None, "claims": None, "file": "mine.toml",
    "factors": {}, "choices": {}, "sets": {}, "stop": {"replicates": [1, 1], "interval": None, "budget_ns": None},
    "preview": None,
}  # fmt: skip
_SCENARIO: Json = {
    "name": "a scenario", "levels": {}, "points": [], "protocol": "http1", "settings": {},
    "implementation": {"client": "builtin", "server": "builtin"}, "link": {"uplink": [], "downlink": []},
    "link_name": "clean", "congestion_control": "cubic", "expected_exchange_ns": 1, "expected_trial_ns": 1,
}  # fmt: skip
_ASKING: Json = {
    "exchanges": 1, "concurrency": 1, "arrival": {"process": "closed"}, "timeout_ns": 10**10,
    "connection": {"policy": "new"},
}  # fmt: skip
_TELLING: Json = {"message_bytes": 30, "messages": 1, "timeout_ns": 10**10}
_WORKLOADS: Mapping[str, Json] = {
    "request-response": {**_ASKING, "upload_bytes": 30, "download_bytes": 0},
    "telemetry": {**_ASKING, "message_bytes": 30},
    "pubsub": {**_TELLING, "arrival": {"process": "fixed", "rate_hz": 1.0}},
    "stream": {**_TELLING, "rate_hz": 1.0, "playout_delay_ns": 10**8},
    "page": {"loads": 1, "timeout_ns": 10**10},
}
_PAGE: Json = {"name": "a page", "sha256": "0" * 64, "resources": 1, "body_bytes": 100}
_TRIAL: Json = {"replicate": 0, "link_seed": 1, "endpoint_seed": 2}
_RECORD: Json = {
    "schema_version": 1, "wirelab": "0.1.0", "agent": {"version": "wirelab-agent 0.1.0", "sha256": "0" * 64},
    "python": "3.11.2", "libraries": {}, "uv_lock_sha256": None, "os": "Debian", "implementations": {},
    "command": ["wirelab", "run", "tiny"],
}  # fmt: skip
_HOST: Json = {
    "kernel": "6.1", "cpu": "a CPU", "cpus": 2, "memory_bytes": 2**30, "rootless": True, "link_scheduling": "fair",
    "settings": {}, "links": [],
}  # fmt: skip
_RUN: Json = {"began": "2026-11-21T11:00:00.000Z", "ended": None, "claims_sha256": None}
_DIRECTION: Json = {
    "received": 0, "delivered": 0, "dropped": [], "held": 0, "received_bytes": 0, "delivered_bytes": 0,
    "lateness": {"upper_ns": [], "packets": [], "max_ns": 0},
}  # fmt: skip
_ENDPOINT: Json = {"cpu_user_ns": 1, "cpu_system_ns": 1, "peak_memory_bytes": 1, "stderr_tail": ""}
_ESTIMATES: Json = {
    "schema_version": 1, "level": 0.95, "metric": "end-to-end-delay", "seed": 7, "scenarios": [], "comparisons": [],
    "links": [], "link_lateness": [], "replay": None, "certificates": [], "notes": [],
}  # fmt: skip
OUTCOMES: Json = dict.fromkeys(
    ("exchanges", "completed", "sent", "arrived", "failed", "timed-out", "unsupported",
     "trials", "failed_trials", "unsupported_trials", "exchanges_of_failed_trials", "not-confirmed",
     "excluded_trials"), 0,
)  # fmt: skip
_ANALYSED: Json = {
    "name": "a scenario", "levels": {}, "protocol": "http1",
    "implementation": {"client": "builtin", "server": "builtin"},
    "metrics": {}, "endpoints": None,
}  # fmt: skip
_OF_A_RADIO = ("radio", "device", "links")
_ENERGY: Json = {
    "with_cpu_time": None, "interval_s": None, "interval_j": None, "setup_j": None, "setups": 0, "parts": None,
    "days": 1, "no_day": None,
}  # fmt: skip
_SETTING: Json = {
    "setting": "window", "configured": 1, "unit": "bytes", "end": None, "announced": None, "effective": None,
    "used": None, "source": None, "trials": 0, "connections": 0, "in_force": None, "why": "it is not known",
}  # fmt: skip
_WAITS: Json = {"wait_s": None, "share": None, "steal": None, "why": "it is so", "cure": None}
_FAMILY: Json = {"name": "all comparisons", "size": 1, "method": "Benjamini-Hochberg", "error_rate": 0.05}
_LINK: Json = {"backend": "wirelab", "why": "it is so"}
_CONFIGURED: Json = {"delay_s": 0.01, "loss": 0.0, "rate_bps": None}
_CERTIFICATE: Json = {
    "link_names": [], "topology_links": [], "flag": "good", "why": "", "probes": "probes/0", "backend": "wirelab",
    "grade": "good", "lines": [],
}  # fmt: skip
_VERDICTS: Json = {
    "schema_version": 1, "claims_file": "mine.claims.toml", "claims_sha256": "0" * 64, "claims": [],
    "published_numbers": [],
}  # fmt: skip
_CLAIMS_FAMILY: Json = {"error_rate": 0.05, "claims": 1, "method": "Holm", "published_level": None}
_PART: Json = {"form": "order", "why": "it is so", "paper": None, "ours": None, "judged": [], "n": 1, "parts": []}
_CLAIM: Json = {
    **_PART, "published": {"verdict": "inconclusive", "why": "it is not printed"}, "contradiction": None,
    "under_published_rule": None, "at_published_level": None, "choices": [], "link": None,
}  # fmt: skip
EXACT: Json = {"low": None, "high": None, "level": 0.95, "n": 1, "method": "made up"}
"""Of an estimate without an interval."""


def whole_plan(plan: Json) -> dict[str, Any]:
    """The JSON of a plan, with the facts of its links."""
    scenarios = [whole_scenario(each) for each in plan["scenarios"]]
    blocks = [
        {**block, "block": block.get("block", number), "trials": [_trial(each) for each in block["trials"]]}
        for number, block in enumerate(plan.get("blocks", ()))
    ]
    found = {"schema_version": 1, "identity_version": 1, "seed": 7, **plan, "scenarios": scenarios, "blocks": blocks}
    experiment = {**_EXPERIMENT, **plan.get("experiment", {})}
    experiment["stop"] = {**_EXPERIMENT["stop"], **experiment["stop"]}
    return {**found, "experiment": experiment, "link_facts": facts_of_plan(found, ask)}


def whole_scenario(scenario: Json) -> dict[str, Any]:
    """One of a plan."""
    workload = scenario.get("workload", {})
    kind = workload.get("kind", "request-response")
    workload = {"kind": kind, **_WORKLOADS[kind], **workload}
    if kind == "page":
        workload["page"] = {**_PAGE, **workload.get("page", {})}
    return {"identity": scenario["key"], **_SCENARIO, **scenario, "workload": workload}


def _trial(trial: Json) -> dict[str, Any]:
    return {**_TRIAL, **trial}


def whole_record(record: Json) -> dict[str, Any]:
    """The JSON of `campaign.json`."""
    programs = {
        name: {"title": name, "homepage": None, "version": None, **program}
        for name, program in record.get("implementations", {}).items()
    }
    more = {"host": {**_HOST, **record.get("host", {})}, "implementations": programs}
    return {**_RECORD, **record, **more, "runs": [{**_RUN, **run} for run in record.get("runs", ())]}


def whole_report(report: Json) -> dict[str, Any]:
    """The JSON of a link's report."""
    directions = [{**_DIRECTION, **each} for each in report.get("directions", ())]
    return {"kernel_drops": 0, "oversized": 0, "clock_step": False, **report, "directions": directions}


def whole_result(result: Json) -> dict[str, Any]:
    """The JSON of a trial's `result.json`."""
    endpoints = [{**_ENDPOINT, **each} for each in result.get("endpoints", ())]
    instants = {"start_ns": 1, "end_ns": 2, "start_realtime_ns": 1}
    whole = {"trial": "t", "status": "done", **instants, **result, "endpoints": endpoints}
    return {**whole, "link": whole_report(result.get("link", {}))}


def whole_estimate(value: Any) -> Any:
    """An estimate; a number is a point without interval."""
    return {**EXACT, **value} if isinstance(value, Mapping) else {"point": value, **EXACT}


def whole_metric(metric: Json) -> dict[str, Any]:
    """What is estimated of one metric."""
    moments = {name: whole_estimate(metric.get(name, 1.0)) for name in ("mean", "sd", "median")}
    quantiles = {q: value and whole_estimate(value) for q, value in metric.get("quantiles", {}).items()}
    modes = [{**mode, "share": whole_estimate(mode.get("share", 0.5))} for mode in metric.get("modes", ())]
    whole = {"unit": "s", "n": 1, "published_rule": None, **metric, **moments}
    return {**whole, "quantiles": quantiles, "modes": modes}


def whole_estimates(estimates: Json) -> dict[str, Any]:
    """The JSON of `estimates.json`."""
    found = {**_ESTIMATES, **estimates}
    if "energy" in found:
        found["energy"] = whole_energy(found["energy"])
    return {
        **found,
        "scenarios": [whole_analysed(each) for each in found["scenarios"]],
        "comparisons": [whole_comparison(each) for each in found["comparisons"]],
        "links": [whole_link(each) for each in found["links"]],
        "certificates": [{**_CERTIFICATE, **each} for each in found["certificates"]],
    }


def whole_energy(model: Json) -> dict[str, Any]:
    """The JSON of `energy.json`. `radio`, `device` and `links` stand for the only radio."""
    part = {"name": "r", "title": "A radio", "validated": True, "sources": []}
    one = {"radio": {}, "device": None, "links": ["clean"], **{key: model[key] for key in _OF_A_RADIO if key in model}}
    found = {
        "schema_version": 2, "radios": [one], "measured_on_device": False, "battery": None, "no_day": {}, "notes": [],
        **{key: value for key, value in model.items() if key not in _OF_A_RADIO},
    }  # fmt: skip
    radios = [
        {
            **each,
            "radio": {"inputs": {}, **part, **each["radio"]},
            "device": each["device"] and {**part, **each["device"]},
        }
        for each in found["radios"]
    ]
    return {**found, "radios": radios}


def whole_analysed(scenario: Json) -> dict[str, Any]:
    """A scenario of `estimates.json`."""
    found = {**_ANALYSED, **scenario}
    found["denominators"] = {**OUTCOMES, **found.get("denominators", {})}
    found["metrics"] = {name: whole_metric(metric) for name, metric in found["metrics"].items()}
    found["endpoints"] = found["endpoints"] and {**_WAITS, **found["endpoints"]}
    if "energy" in found:
        found["energy"] = {**_ENERGY, **found["energy"]}
    if "settings" in found:
        found["settings"] = [{**_SETTING, **each} for each in found["settings"]]
    if "ledger" in found:
        found["ledger"] = {**found["ledger"], "total": whole_estimate(found["ledger"]["total"])}
        found["ledger"].setdefault("connections", found["ledger"]["exchanges"])
    return found


def whole_comparison(comparison: Json) -> dict[str, Any]:
    """A comparison of `estimates.json`."""
    values = {
        name: whole_estimate(comparison.get(name, 1.0))
        for name in ("ratio_of_means", "ratio_of_medians", "shift", "cliffs_delta")
    }
    link = {"flag": "good", "why": "it is so", "causes": [], "error_s": None, **comparison.get("link", {})}
    found = {"metric": "end-to-end-delay", "p": 0.5, "p_adjusted": 0.5, **comparison, **values, "link": link}
    return {**found, "family": {**_FAMILY, **comparison.get("family", {})}}


def whole_link(link: Json) -> dict[str, Any]:
    """One direction of a link of `estimates.json`."""
    measured = {"packets": 0, **link.get("measured", {})}
    errors = {"p50": None, "p99": None, "max": None, **(measured.get("delay_error_s") or {})}
    shares = ("duplicated", "corrupted", "reordered")
    measured |= {name: whole_estimate(measured[name]) for name in shares if name in measured}
    measured |= {"delay_error_s": errors, "loss": whole_estimate(measured.get("loss", 0.0))}
    return {**_LINK, **link, "configured": {**_CONFIGURED, **link.get("configured", {})}, "measured": measured}


def whole_verdicts(verdicts: Json) -> dict[str, Any]:
    """The JSON of `verdicts.json`."""
    found = {**_VERDICTS, **verdicts}
    claims = [_claim(each) for each in found["claims"]]
    return {**found, "family": {**_CLAIMS_FAMILY, **verdicts.get("family", {})}, "claims": claims}


def _claim(claim: Json) -> dict[str, Any]:
    found = {**_CLAIM, **claim}
    choices = [{"missing": False, "link": None, **each} for each in found["choices"]]
    return {**found, "parts": [{**_PART, **part} for part in found["parts"]], "choices": choices}
