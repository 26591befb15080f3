"""Kept campaigns as this build reads them: adds what their plans did not hold. Changes no raw record."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import Any

from tests.asked import facts_of_plan
from wirelab.link_facts import asking

KEPT = Path(__file__).parent


def unpack(name: str, folder: Path) -> Path:
    """The kept campaign of that name as a campaign's folder inside `folder`, with its plan converted."""
    campaign = folder / name
    with tarfile.open(KEPT / f"{name}.tar.xz") as archive:
        archive.extractall(campaign, filter="data")
    path = campaign / "plan.json"
    path.write_text(json.dumps(converted(json.loads(path.read_text(encoding="utf-8")))), encoding="utf-8")
    return campaign


def converted(plan: dict[str, Any]) -> dict[str, Any]:
    """The plan with its old keys, and with what the agent says of its links.

    Random numbers were drawn from the keys, so each is its scenario's identity as well.
    """
    scenarios = [
        {**scenario, "identity": scenario["key"], "workload": _renamed(scenario["workload"])}
        for scenario in plan["scenarios"]
    ]
    with asking() as ask:
        facts = facts_of_plan(plan, ask)
    return {**plan, "identity_version": 0, "scenarios": scenarios, "link_facts": facts}


KINDS = {"deliver": "telemetry", "notify": "pubsub"}
POLICIES = {"fresh": "new", "kept": "persistent"}


def _renamed(workload: dict[str, Any]) -> dict[str, Any]:
    """A workload whose kind and connection policy have today's names."""
    found = {**workload, "kind": KINDS.get(workload["kind"], workload["kind"])}
    if (connection := workload.get("connection")) is not None:
        found["connection"] = {**connection, "policy": POLICIES.get(connection["policy"], connection["policy"])}
    return found
