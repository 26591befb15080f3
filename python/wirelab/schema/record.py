"""`campaign.json`: what ran a campaign (`docs/reference/campaign.md`)."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from wirelab.launcher import launched
from wirelab.schema.base import SCHEMA_VERSION, Border, Unsigned, is_default
from wirelab.schema.document import read_document
from wirelab.schema.host import HostFacts

FACTS = "campaign.json"


class AgentVersion(Border):
    """The agent that measured."""

    version: str
    """Version of the agent."""
    sha256: str
    """Digest of its file."""


class ProgramVersion(Border):
    """A third-party program that plays a role."""

    title: str
    """Name for people."""
    homepage: str | None
    """Where it comes from; null if not known."""
    version: str | None
    """What the program says of its version; null if it says nothing."""


class KernelRecord(Border):
    """The kernel of the virtual clock."""

    version: str
    """Version of its source."""
    recipe: str
    """Digest of its source, configuration and patches, on which results depend."""
    hertz: Unsigned
    """Ticks of its timers in a second."""
    compiler: str
    """What compiled it, on which results do not depend."""
    sha256: str
    """Digest of the program."""


class RunRecord(Border):
    """What one command did to the campaign; what follows `claims_sha256` is known when it ends."""

    began: str
    """RFC 3339, as all times."""
    ended: str | None
    """RFC 3339; null if the run was stopped."""
    claims_sha256: str | None
    """Digest of the claims at that time; null without claims."""
    total: Unsigned | None = None
    """Trials of the plan."""
    run: Unsigned | None = None
    """Trials that this command ran."""
    reused: Unsigned | None = None
    """Trials that an earlier run finished."""
    failed: Unsigned | None = None
    """Trials that failed."""
    not_confirmed: Unsigned = 0
    """Failed trials with exchanges that the packets of the link do not confirm."""
    discarded: Unsigned | None = None
    """Attempts that were discarded and run again."""
    flagged_blocks: Unsigned | None = None
    """Blocks that were kept although the emulator was late."""
    lanes: Unsigned | None = None
    """Parallel trials at the end."""
    elapsed_s: float | None = None
    """Duration of the run in seconds."""
    cut_after_blocks: Unsigned | None = None
    """Blocks that had begun when the budget ended the run with trials left; null if it did not."""
    cut_scenarios: Unsigned = 0
    """How many scenarios that left with fewer trials than asked for."""
    not_run: Unsigned = 0
    """Trials that were not run: a program did not become ready, or somebody ended their guest."""
    digest: str | None = None
    """SHA-256 of all records of finished trials under the virtual clock, where it is the same in each run."""
    shard: tuple[Unsigned, Unsigned] | None = Field(default=None, exclude_if=is_default)
    """Which part of the plan it ran: number of the shard, from 1, and how many there are. Absent if it ran all."""


class CampaignRecord(Border):
    """`campaign.json`: versions, machine, kernel settings, command line, and a record of each run."""

    schema_version: int = SCHEMA_VERSION
    """Version of the format."""
    wirelab: str
    """Version of Wirelab."""
    agent: AgentVersion
    """The agent that measured."""
    python: str
    """Version of Python."""
    libraries: dict[str, str]
    """Version of each Python library that takes part in a number."""
    uv_lock_sha256: str | None
    """Digest of `uv.lock` in a checkout; null of an installed wheel."""
    os: str
    """Name and version of the operating system."""
    host: HostFacts
    """The machine: kernel, CPU, memory, kernel settings read back, scheduling of the link process, and addresses of
    every host.
    """
    kernel: KernelRecord | None = None
    """The kernel of the virtual clock; null if this machine's clock was used."""
    implementations: dict[str, ProgramVersion]
    """Each third-party program that plays a role."""
    command: tuple[str, ...]
    """Command line of the last run; the home folder is `~`."""
    runs: tuple[RunRecord, ...] = ()
    """One entry for each run."""

    @property
    def emulated_by(self) -> str:
        """The kernel of the emulation: of this machine, or of the virtual clock."""
        return self.host.kernel if self.kernel is None else f"{self.kernel.version} (virtual clock)"


def read_record(campaign: Path) -> CampaignRecord | None:
    """What ran a campaign; None if nothing did yet.

    Raises `WirelabError` if the file is damaged, or of another version.
    """
    path = campaign / FACTS
    if not path.exists():
        return None
    hint = f"run the campaign again: {launched(f'run FILE --out {campaign} --fresh')}"
    return read_document(path, CampaignRecord, SCHEMA_VERSION, hint)
