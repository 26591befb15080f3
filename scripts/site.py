"""`python -m scripts.site FOLDER`: builds the documentation's site in a folder, and looks for broken links.

Pages are those of `docs/`, with what they refer to outside of it (ARCHITECTURE.md and the schemas), and lessons.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

from wirelab.lessons.lesson import lesson_names
from wirelab.lessons.shipped import shipped_page

ROOT = Path(__file__).resolve().parents[1]
CONFIGURATION = "zensical.toml"
_OUTSIDE = {"](../ARCHITECTURE.md": "](design/architecture.md", "](../../schema/": "](../schema/"}
"""Links that lead out of `docs/`, and what they become on the site."""
_ANSI = re.compile(r"\x1b\[[0-9;]*m")
_REFERENCE = re.compile(r'\b(?:href|src)="?([^"\s>]+)')


def build(folder: Path) -> Path:
    """The folder of the site. Exits with what the generator says if a page or an anchor is not there."""
    pages = folder / "pages"
    shutil.copytree(ROOT / "docs", pages)
    shutil.copytree(ROOT / "schema", pages / "schema")
    shutil.copy2(ROOT / "ARCHITECTURE.md", pages / "design" / "architecture.md")
    shutil.copy2(ROOT / CONFIGURATION, folder / CONFIGURATION)
    _lessons(pages)
    for page in pages.rglob("*.md"):
        text = page.read_text(encoding="utf-8")
        for link, moved in _OUTSIDE.items():
            text = text.replace(link, moved)
        page.write_text(text, encoding="utf-8")
    command = [str(Path(sys.executable).with_name("zensical")), "build", "--strict", "-f", str(folder / CONFIGURATION)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(_ANSI.sub("", f"{done.stdout}{done.stderr}")[-4000:])
    return folder / "site"


def _lessons(pages: Path) -> None:
    """The pages of lessons that ship, with links to them in their guide."""
    folder, guide = pages / "lessons", pages / "guide" / "lessons.md"
    folder.mkdir()
    text = guide.read_text(encoding="utf-8")
    for name in lesson_names():
        (folder / f"{name}.html").write_text(shipped_page(name), encoding="utf-8")
        text = text.replace(f"| `{name}` |", f"| [`{name}`](../lessons/{name}.html) |")
    guide.write_text(text, encoding="utf-8")


def broken(site: Path) -> Iterator[str]:
    """Each page with a file that it refers to and that is not there: a picture, a schema, a script."""
    for page in sorted(site.rglob("*.html")):
        for found in _REFERENCE.findall(page.read_text(encoding="utf-8")):
            parts = urlsplit(found)
            if parts.scheme or parts.netloc or not parts.path:
                continue
            path = unquote(parts.path)
            goal = site / path.lstrip("/") if path.startswith("/") else page.parent / path
            if not goal.exists():
                yield f"{page.relative_to(site)}: {found}"


def main(folder: Path) -> None:
    if folder.exists():
        sys.exit(f"{folder} is already there: remove it, or name another folder")
    folder.mkdir(parents=True)
    site = build(folder)
    if wrong := list(dict.fromkeys(broken(site))):
        sys.exit("\n".join(wrong))
    print(site)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
