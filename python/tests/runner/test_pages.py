"""Pages in a campaign's folder."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.runner.fakes import make_plan
from wirelab.errors import RunError
from wirelab.runner.pages import make_pages
from wirelab.schema import PageIdentity, PageLoads
from wirelab.schema.campaign import page_manifest
from wirelab.schema.plan import Plan
from wirelab.site import Page
from wirelab.site.synthetic import images

PAGES = {page.site.digest: page for page in (images(2, 500), images(1, 700))}


def plan_of(*pages: Page) -> Plan:
    plan = make_plan(len(pages), 1)
    scenarios = []
    for scenario, page in zip(plan.scenarios, pages, strict=True):
        identity = PageIdentity(name="a page", sha256=page.site.digest, resources=1, body_bytes=1)
        workload = PageLoads(loads=1, timeout_ns=1, page=identity)
        scenarios.append(scenario.model_copy(update={"workload": workload}))
    return plan.model_copy(update={"scenarios": tuple(scenarios)})


TWICE = plan_of(*PAGES.values(), *PAGES.values())


def written(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_each_page_is_written_once_with_its_manifest(tmp_path: Path) -> None:
    made = make_pages(tmp_path, TWICE, PAGES)
    assert made.keys() == PAGES.keys()
    for digest, page in PAGES.items():
        files = made[digest].files
        assert files.manifest == page_manifest(tmp_path, digest)
        assert json.loads(files.manifest.read_text()) == page.site.to_json()
        names = {resource.file: body for resource, body in zip(page.site.resources, page.bodies, strict=True)}
        assert written(files.folder) == names
    assert len(list((tmp_path / "pages").iterdir())) == 2


def test_a_whole_page_is_used_again_without_its_experiment(tmp_path: Path) -> None:
    first = make_pages(tmp_path, TWICE, PAGES)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    assert make_pages(tmp_path, TWICE, {}) == first
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


def change(folder: Path) -> None:
    data = bytearray((folder / "files" / "1.png").read_bytes())
    data[-20] ^= 1
    (folder / "files" / "1.png").write_bytes(data)


def lose(folder: Path) -> None:
    (folder / "files" / "1.png").unlink()


def add(folder: Path) -> None:
    (folder / "files" / "stray.html").write_text("?")


def tear(folder: Path) -> None:
    (folder / "manifest.json").write_text('{"schema_version": 1, "resou')


@pytest.mark.parametrize("harm", [change, lose, add, tear])
def test_an_incomplete_page_is_written_again_or_refused(tmp_path: Path, harm: Callable[[Path], None]) -> None:
    digest = next(iter(PAGES))
    plan = plan_of(PAGES[digest])
    make_pages(tmp_path, plan, PAGES)
    sound = written(tmp_path)
    harm(tmp_path / "pages" / digest)
    assert written(tmp_path) != sound
    with pytest.raises(RunError, match="the page a page is incomplete"):
        make_pages(tmp_path, plan, {})
    make_pages(tmp_path, plan, PAGES)
    assert written(tmp_path) == sound


def test_a_half_written_page_of_a_killed_run_is_not_used(tmp_path: Path) -> None:
    digest = next(iter(PAGES))
    half = tmp_path / "pages" / f"{digest}.partial" / "files"
    half.mkdir(parents=True)
    (half / "old.png").write_bytes(b"")
    files = make_pages(tmp_path, plan_of(PAGES[digest]), PAGES)[digest].files
    assert "old.png" not in written(files.folder)


def test_a_plan_without_pages_has_no_folder_for_them(tmp_path: Path) -> None:
    assert make_pages(tmp_path, make_plan(1, 1), {}) == {}
    assert list(tmp_path.iterdir()) == []
