"""The loaded pages: the size of each, its digest, and references that are not loaded."""

from __future__ import annotations

from wirelab.errors import Where
from wirelab.report.blocks import Cell, Column, Prose, Section, Table, dash, number
from wirelab.report.campaign import Campaign
from wirelab.schema.campaign import page_manifest
from wirelab.schema.workload import PageIdentity, PageLoads
from wirelab.site import Site, left_out_words

COLUMNS = (
    Column("page", numeric=False), Column("resources"), Column("bodies", "B"),
    Column("SHA-256 of the manifest", numeric=False), Column("referenced, not loaded", numeric=False),
)  # fmt: skip


def section(campaign: Campaign) -> Section | None:
    """A row for each page; None if none is loaded."""
    workloads = (scenario.plan.workload for scenario in campaign.scenarios)
    pages = {each.page.sha256: each.page for each in workloads if isinstance(each, PageLoads)}
    if not pages:
        return None
    note = (
        "The manifest has the digest of every file of its page: the same page has the same one on every machine, and "
        "one that has changed is another page."
    )
    table = Table("Pages", COLUMNS, [_row(campaign, page) for page in pages.values()])
    return Section("pages", "Pages", [Prose(note), table])


def _row(campaign: Campaign, page: PageIdentity) -> list[Cell]:
    manifest = page_manifest(campaign.folder, page.sha256)
    not_loaded = dash("its manifest is not in the campaign")
    if manifest.is_file():
        not_loaded = Cell(left_out_words(Site.from_json(manifest.read_bytes(), Where(str(manifest)))) or "nothing")
    return [
        Cell(page.name),
        number(page.resources, 0),
        number(page.body_bytes, 0),
        Cell(page.sha256),
        not_loaded,
    ]
