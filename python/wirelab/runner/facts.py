"""The environment of a campaign: versions, machine, kernel settings (`campaign.json`)."""

from __future__ import annotations

import hashlib
import importlib.metadata
import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

import wirelab
from wirelab import agent as agents
from wirelab.clock.kernel import Kernel
from wirelab.experiment.programs.implementations import Implementation
from wirelab.runner.implementations import version
from wirelab.schema import HostFacts
from wirelab.schema.record import FACTS, AgentVersion, CampaignRecord, KernelRecord, ProgramVersion, RunRecord
from wirelab.schema.replaced import replace_file

LIBRARIES = ("numpy", "polars", "scipy", "pydantic")


def now() -> str:
    """The time of day, RFC 3339."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def collect(
    agent: Path,
    host: HostFacts,
    implementations: Mapping[str, Implementation],
    command: Sequence[str],
    kernel: Kernel | None = None,
) -> CampaignRecord:
    """The data that a reader needs to repeat the campaign elsewhere, without the user's name; no run yet."""
    return CampaignRecord(
        wirelab=wirelab.__version__,
        agent=AgentVersion(version=agents.ask(agent, ["--version"]).strip(), sha256=agents.digest(agent)),
        python=platform.python_version(),
        libraries={name: importlib.metadata.version(name) for name in LIBRARIES},
        uv_lock_sha256=_lock_digest(),
        os=_os_name(),
        host=host,
        kernel=None if kernel is None else kernel_record(kernel),
        implementations={
            name: ProgramVersion(title=program.title, homepage=program.homepage, version=version(program))
            for name, program in implementations.items()
        },
        command=tuple(_without_home(word) for word in command),
    )


def kernel_record(kernel: Kernel) -> KernelRecord:
    """A kernel without its path, which is this user's."""
    return KernelRecord(**{key: value for key, value in asdict(kernel).items() if key not in {"path", "origin"}})


def write(campaign: Path, record: CampaignRecord, runs: Iterable[RunRecord]) -> None:
    """Replace `campaign.json` in one step."""
    whole = record.model_copy(update={"runs": tuple(runs)})
    replace_file(campaign / FACTS, whole.model_dump_json(indent=1) + "\n")


def _lock_digest() -> str | None:
    path = Path(wirelab.__file__).resolve().parents[2] / "uv.lock"
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else None


def _os_name() -> str:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME", platform.system())
    except OSError:
        return platform.system()


def _without_home(word: str) -> str:
    home = f"{Path.home()}/"
    return f"~/{word.removeprefix(home)}" if word.startswith(home) and home != "//" else word
