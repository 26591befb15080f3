"""What an archive says of itself: an RO-Crate 1.1 (https://w3id.org/ro/crate/1.1), with the run as a process."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from wirelab.schema.plan import Plan
from wirelab.schema.record import CampaignRecord

METADATA = "ro-crate-metadata.json"
_SPECIFICATION, _PROFILE = "https://w3id.org/ro/crate/1.1", "https://w3id.org/ro/wfrun/process/0.5"
_KINDS = {
    ".json": "application/json", ".jsonl": "application/x-ndjson", ".parquet": "application/vnd.apache.parquet",
    ".csv": "text/csv", ".html": "text/html", ".toml": "application/toml", ".txt": "text/plain",
    ".svg": "image/svg+xml", ".pdf": "application/pdf", ".pcapng": "application/vnd.tcpdump.pcap",
    ".arrow": "application/vnd.apache.arrow.file",
}  # fmt: skip
_ABOUT = {
    "plan.json": "What was to run: scenarios, blocks, trials, seeds.",
    "campaign.json": "What ran it: versions, machine, kernel, command line, digest of the records.",
    "journal.jsonl": "A line for each trial, with the digests of its records.",
    "exchanges.parquet": "A row for each exchange.",
    "trials.parquet": "A row for each trial.",
    "estimates.json": "Estimates with intervals, and comparisons.",
    "verdicts.json": "Verdicts on claims.",
    "report.html": "The report.",
}


@dataclass(frozen=True)
class Content:
    """A file of an archive."""

    name: str
    size: int
    sha256: str


def metadata(plan: Plan, record: CampaignRecord, contents: Sequence[Content], licence: str | None) -> str:
    """`ro-crate-metadata.json`. The same files give the same text."""
    last = record.runs[-1]
    title = plan.experiment.title or plan.experiment.name
    about = (
        f"A campaign of Wirelab {record.wirelab}: {len(plan.scenarios)} scenarios over an emulated link, "
        f"seed {plan.seed}."
    )
    root: dict[str, object] = {
        "@id": "./", "@type": "Dataset", "name": title, "description": about, "datePublished": last.began[:10],
        "license": {"@id": "#licence"}, "hasPart": [{"@id": each.name} for each in contents],
        "mentions": {"@id": "#run"}, "conformsTo": {"@id": _PROFILE},
    }  # fmt: skip
    if plan.experiment.doi is not None:
        root["citation"] = {"@id": f"https://doi.org/{plan.experiment.doi}"}
    graph = [
        {"@id": METADATA, "@type": "CreativeWork", "conformsTo": {"@id": _SPECIFICATION}, "about": {"@id": "./"}},
        root, _licence(licence), _profile(), *_run(record, contents), *map(_file, contents),
        *_citation(plan.experiment.doi),
    ]  # fmt: skip
    document = {
        "@context": [f"{_SPECIFICATION}/context", {"sha256": "https://w3id.org/ro/terms/sha256"}],
        "@graph": graph,
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def digests(text: str) -> Mapping[str, str]:
    """The SHA-256 of each file that metadata name. Raises `ValueError` or `KeyError` for what has another shape."""
    graph = json.loads(text)["@graph"]
    return {str(each["@id"]): str(each["sha256"]) for each in graph if "sha256" in each}


def _licence(licence: str | None) -> dict[str, object]:
    if licence is None:
        words = "The authors of this archive name no licence."
        return {"@id": "#licence", "@type": "CreativeWork", "name": "No licence", "description": words}
    return {"@id": "#licence", "@type": "CreativeWork", "name": licence, "description": f"Licensed under {licence}."}


def _profile() -> dict[str, object]:
    return {"@id": _PROFILE, "@type": "CreativeWork", "name": "Process Run Crate", "version": "0.5"}


def _run(record: CampaignRecord, contents: Iterable[Content]) -> list[dict[str, object]]:
    last = record.runs[-1]
    names = {each.name for each in contents}
    run: dict[str, object] = {
        "@id": "#run", "@type": "CreateAction", "name": "The run", "description": " ".join(record.command),
        "instrument": {"@id": "#wirelab"}, "startTime": record.runs[0].began,
        "object": {"@id": "plan.json"},
        "result": [{"@id": name} for name in ("journal.jsonl", "exchanges.parquet", "estimates.json") if name in names],
    }  # fmt: skip
    if last.ended is not None:
        run["endTime"] = last.ended
    kernel: dict[str, object] = {
        "@id": "#kernel", "@type": "SoftwareApplication", "name": "Linux", "softwareVersion": record.emulated_by,
        "url": "https://kernel.org",
    }  # fmt: skip
    return [
        run,
        {
            "@id": "#wirelab", "@type": "SoftwareApplication", "name": "Wirelab", "softwareVersion": record.wirelab,
            "softwareRequirements": {"@id": "#kernel"}, "description": f"agent with SHA-256 {record.agent.sha256}",
        },
        kernel,
    ]  # fmt: skip


def _file(content: Content) -> dict[str, object]:
    suffix = content.name[content.name.rfind(".") :] if "." in content.name else ""
    return {
        "@id": content.name, "@type": "File", "name": content.name.rpartition("/")[2],
        "description": _ABOUT.get(content.name, f"A file of the campaign: {content.name}."),
        "contentSize": str(content.size), "encodingFormat": _KINDS.get(suffix, "application/octet-stream"),
        "sha256": content.sha256,
    }  # fmt: skip


def _citation(doi: str | None) -> list[dict[str, object]]:
    if doi is None:
        return []
    return [{"@id": f"https://doi.org/{doi}", "@type": "ScholarlyArticle", "name": f"doi:{doi}"}]
