"""What four users want, from a fresh clone, in five commands at most."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl
import pytest

pytestmark = [pytest.mark.nightly, pytest.mark.guest, pytest.mark.xdist_group("users")]

ROOT = Path(__file__).parents[2]
MOST = 5
APP = """\
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

class Items(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200 if self.path == "/api/items" else 404)
        self.send_header("content-length", "SIZE")
        self.end_headers()
        self.wfile.write(b"x" * SIZE)

HTTPServer(("", int(sys.argv[1])), Items).serve_forever()
"""


@dataclass
class Clone:
    """A checkout of what is committed, and the commands that were run in it."""

    folder: Path
    commands: list[str] = field(default_factory=list)

    def run(self, *words: str, code: int = 0) -> str:
        """What a command prints, which must exit with this code."""
        self.commands.append(words[0])
        done = subprocess.run(
            ["./wirelab", *words], cwd=self.folder, capture_output=True, text=True, check=False, timeout=300
        )
        assert done.returncode == code, done.stderr or done.stdout
        return done.stdout


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With the agent that was built for the tests: only its build takes longer than a task."""
    folder = tmp_path_factory.mktemp("clone") / "wirelab"
    subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", str(ROOT), str(folder)], check=True, timeout=120)
    assert os.environ.get("WIRELAB_AGENT")
    return folder


@pytest.fixture
def clone(checkout: Path) -> Iterator[Clone]:
    found = Clone(checkout)
    yield found
    assert 0 < len(found.commands) <= MOST


def test_an_engineer_asks_which_protocol_a_sensor_should_speak(clone: Clone) -> None:
    """First in one sentence; then energy, battery life, money and the tail."""
    said = clone.run(
        "choose", "--send", "64B", "--every", "10min", "--link", "nb-iot-psm", "--battery", "2400mAh 3.6V",
        "--base-current", "20uA", "--price", "0.50EUR/MB", "--auth", "psk", "--protocols", "coaps,mqtts",
        "--budget", "2min",
    )  # fmt: skip
    assert said.startswith("First: ")
    for words in ("Battery, modelled", "EUR", "p95", "lost"):
        assert words in said


def test_a_maintainer_keeps_a_test_in_ci(clone: Clone) -> None:
    """A bound, a baseline, and a change that the baseline shows, as Markdown for the pull request."""
    app = clone.folder / "app.py"
    app.write_text(APP.replace("SIZE", "2000"))
    test = ("test", "python3 app.py {port}", "--get", "/api/items", "--link", "wifi-poor", "--clock", "virtual")
    clone.run(*test, "--fail-if", "p95 > 10s", "--keep", "baseline.tar.xz")
    clone.run(*test, "--fail-if", "p95 > 1ms", code=4)
    clone.run(*test, "--against", "baseline.tar.xz")
    app.write_text(APP.replace("SIZE", "200000"))
    said = clone.run(*test, "--against", "baseline.tar.xz", "--markdown", "change.md", code=4)
    assert "Worse" in said
    assert "Worse" in (clone.folder / "change.md").read_text()


def test_a_researcher_has_a_paper_s_claims_as_a_page_and_the_numbers_as_tables(clone: Clone) -> None:
    said = clone.run("replicate", "milosevic2021", "--kept", "--out", "paper")
    assert re.search(r"Of 14 claims of milosevic2021, \d+ confirmed", said)
    page = clone.folder / "paper"
    assert [*page.rglob("*.html")]
    clone.run("run", "quickstart", "--clock", "virtual", "--out", "mine")
    table = pl.read_parquet(clone.folder / "mine" / "exchanges.parquet")
    medians = table.group_by("scenario").agg(pl.col("end_to_end_delay_ns").median() / 1e9)
    scenarios = json.loads((clone.folder / "mine" / "estimates.json").read_text())["scenarios"]
    ours = {each["key"]: each["metrics"]["end-to-end-delay"]["median"]["point"] for each in scenarios}
    assert dict(medians.iter_rows()) == pytest.approx(ours)


def test_a_teacher_shows_head_of_line_blocking(clone: Clone) -> None:
    """A page with charts, packets, a question and a lab sheet, whose effect `tests/interop/test_lessons.py` asserts."""
    assert "head-of-line" in clone.run("lesson", "list")
    clone.run("lesson", "head-of-line")
    folder = clone.folder / "results" / "lesson-head-of-line"
    page = (folder / "lesson.html").read_text(encoding="utf-8")
    for words in ("Head-of-line blocking", "retransmission", "Lab sheet", "Key of the lab sheet"):
        assert words in page
    assert "lost" in clone.run("show", str(folder), "--protocol", "h2", "--slowest")
