"""The pages of a campaign: each is written once below its folder, where servers and clients find it."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from wirelab.errors import RunError, Where, WirelabError
from wirelab.schema import PageFiles, PageLoads
from wirelab.schema.campaign import PAGE_FILES, PAGES, page_manifest
from wirelab.schema.plan import Plan
from wirelab.site import Page, Site


@dataclass(frozen=True)
class MadePage:
    """A page that lies in the campaign."""

    site: Site
    files: PageFiles


def make_pages(campaign: Path, plan: Plan, pages: Mapping[str, Page]) -> dict[str, MadePage]:
    """The pages that a plan's scenarios load, by digest; those of an earlier run stay if no byte of them differs."""
    workloads = [scenario.workload for scenario in plan.scenarios]
    digests = {each.page.sha256: each.page.name for each in workloads if isinstance(each, PageLoads)}
    return {digest: _made(campaign, digest, name, pages.get(digest)) for digest, name in digests.items()}


def _made(campaign: Path, digest: str, name: str, page: Page | None) -> MadePage:
    manifest = page_manifest(campaign, digest)
    files = PageFiles(manifest=manifest, folder=manifest.parent / PAGE_FILES)
    if (site := _whole(files, digest)) is not None:
        return MadePage(site, files)
    if page is None:
        raise RunError(f"the page {name} is incomplete", Where(str(manifest.parent)), "run its experiment again")
    partial = campaign / PAGES / f"{digest}.partial"
    for folder in (partial, manifest.parent):
        shutil.rmtree(folder, ignore_errors=True)
    page.write(partial / PAGE_FILES)
    (partial / manifest.name).write_text(json.dumps(page.site.to_json(), indent=1) + "\n", encoding="utf-8")
    partial.rename(manifest.parent)
    return MadePage(page.site, files)


def _whole(files: PageFiles, digest: str) -> Site | None:
    """The manifest, if it is that page's and exactly its files are present and unchanged."""
    try:
        site = Site.from_json(files.manifest.read_bytes(), Where(str(files.manifest)))
        there = {path.relative_to(files.folder).as_posix() for path in files.folder.rglob("*") if path.is_file()}
        if site.digest != digest or there != {resource.file for resource in site.resources}:
            return None
        bodies = ((files.folder / resource.file).read_bytes() for resource in site.resources)
        same = (
            hashlib.sha256(body).hexdigest() == resource.sha256
            for resource, body in zip(site.resources, bodies, strict=True)
        )
        return site if all(same) else None
    except (OSError, WirelabError):
        return None
