"""The page in a browser: it draws something, and its script says nothing on the console."""

from __future__ import annotations

import struct
import subprocess
import zlib
from pathlib import Path

import pytest

from tests.browser import browse, require
from tests.report.campaigns import judge, write
from wirelab import report

DARK = "--blink-settings=preferredColorScheme=0"

pytestmark = pytest.mark.chromium


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    require()
    return report.write(judge(write(tmp_path_factory.mktemp("campaign"))))


@pytest.mark.parametrize(("width", "flags"), [(1360, ()), (1360, (DARK,)), (420, ())], ids=["light", "dark", "narrow"])
def test_the_page_is_drawn_without_console_messages(
    page: Path, tmp_path: Path, width: int, flags: tuple[str, ...]
) -> None:
    done, picture = visit(page, tmp_path, width, *flags)
    assert [line for line in done.stderr.splitlines() if "CONSOLE" in line] == []
    rows = pixels(picture)
    assert len(rows) >= 1500
    assert len(set(rows)) > len(rows) // 3, "the page is nearly blank"


def test_the_page_follows_the_dark_and_light_scheme(page: Path, tmp_path: Path) -> None:
    light = corner(visit(page, tmp_path / "light", 800)[1])
    dark = corner(visit(page, tmp_path / "dark", 800, DARK)[1])
    assert min(light) > 200
    assert max(dark) < 60


def test_the_script_unfolds_the_target_of_a_link(page: Path, tmp_path: Path) -> None:
    anchor = "scenario-http1-clean-30B-"
    dom = browse(tmp_path, "--dump-dom", f"{page.as_uri()}#{anchor}").stdout
    start = dom.index(f'id="{anchor}')
    assert "open" in dom[start : dom.index(">", start)]


def visit(page: Path, folder: Path, width: int, *flags: str) -> tuple[subprocess.CompletedProcess[str], Path]:
    folder.mkdir(exist_ok=True)
    picture = folder / "page.png"
    done = browse(folder, f"--screenshot={picture}", f"--window-size={width},1600", *flags, page.as_uri())
    return done, picture


def corner(picture: Path) -> bytes:
    """Red, green and blue of the first pixel."""
    return pixels(picture)[0][1:4]


def pixels(picture: Path) -> list[bytes]:
    """The rows of a PNG as stored, each after its filter byte."""
    data, parts, at = picture.read_bytes(), b"", 8
    width, height = struct.unpack(">II", data[16:24])
    channels = {2: 3, 6: 4}[data[25]]
    while at < len(data):
        (length,) = struct.unpack(">I", data[at : at + 4])
        if data[at + 4 : at + 8] == b"IDAT":
            parts += data[at + 8 : at + 8 + length]
        at += 12 + length
    raw, stride = zlib.decompress(parts), width * channels + 1
    return [raw[row * stride : (row + 1) * stride] for row in range(height)]
