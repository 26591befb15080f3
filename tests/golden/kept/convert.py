"""Kept campaigns as this build reads them: adds what their plans did not hold, and renames. Changes no raw record."""

from __future__ import annotations

import json
import re
import tarfile
from pathlib import Path
from typing import Any

from tests.asked import facts_of_plan
from wirelab.link_facts import asking

KEPT = Path(__file__).parent
RESULTS = ("estimates.json", "verdicts.json")


def unpack(name: str, folder: Path) -> Path:
    """The kept campaign of that name as a campaign's folder inside `folder`, with its plan converted."""
    campaign = folder / name
    with tarfile.open(KEPT / f"{name}.tar.xz") as archive:
        # Python 3.11.2, which is Debian 12's, has none.
        archive.extraction_filter = getattr(tarfile, "data_filter", None)
        archive.extractall(campaign)
    path = campaign / "plan.json"
    path.write_text(json.dumps(converted(json.loads(path.read_text(encoding="utf-8")))), encoding="utf-8")
    for claims in campaign.glob("*.claims.toml"):
        text = re.sub(r"\bstack(?=s?\b)", "protocol", claims.read_text(encoding="utf-8"))
        claims.write_text(text.replace("cannot_hold", "cannot_confirm"), encoding="utf-8")
    return campaign


def kept_results(name: str) -> dict[str, Any]:
    """The kept estimates and verdicts of that campaign, by file name."""
    with tarfile.open(KEPT / f"{name}.results.tar.xz") as archive:
        files = {member.name: archive.extractfile(member) for member in archive}
        return {file: json.load(stream) for file, stream in files.items() if stream is not None}


def keep_results(name: str, campaign: Path) -> None:
    """Keep the campaign's estimates and verdicts instead; the same text gives the same bytes."""
    with tarfile.open(KEPT / f"{name}.results.tar.xz", "w:xz", preset=9) as archive:
        for path in (campaign / file for file in RESULTS):
            if path.exists():
                member = tarfile.TarInfo(path.name)
                member.size = path.stat().st_size
                with path.open("rb") as stream:
                    archive.addfile(member, stream)


def converted(plan: dict[str, Any]) -> dict[str, Any]:
    """The plan with its old keys, and with what the agent says of its links.

    Random numbers were drawn from the keys, so each is its scenario's identity as well.
    """
    plan = with_protocols(plan)
    scenarios = [
        {**scenario, "identity": scenario["key"], "workload": _renamed(scenario["workload"])}
        for scenario in plan["scenarios"]
    ]
    with asking() as ask:
        facts = facts_of_plan(plan, ask)
    return {**plan, "identity_version": 0, "scenarios": scenarios, "link_facts": facts}


def with_protocols(document: Any) -> Any:
    """A document in which a protocol was called a stack, in keys and in paths of factors."""
    if isinstance(document, dict):
        return {_path(key): with_protocols(value) for key, value in document.items()}
    if isinstance(document, list):
        return [with_protocols(value) for value in document]
    return _path(document) if isinstance(document, str) else document


def _path(text: str) -> str:
    return re.sub(r"^stack(?=s?$)|\bstack(?=s?\.[a-z])", "protocol", text)


KINDS = {"deliver": "telemetry", "notify": "pubsub"}
POLICIES = {"fresh": "new", "kept": "persistent"}


def _renamed(workload: dict[str, Any]) -> dict[str, Any]:
    """A workload whose kind and connection policy have today's names."""
    found = {**workload, "kind": KINDS.get(workload["kind"], workload["kind"])}
    if (connection := workload.get("connection")) is not None:
        found["connection"] = {**connection, "policy": POLICIES.get(connection["policy"], connection["policy"])}
    return found
