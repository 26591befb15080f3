"""`docs/reference/`: the pages are those that the program makes, say something of each key, and show what works."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import get_type_hints

import click
import pytest
from click.testing import CliRunner
from scripts.reference import FOLDER, pages
from scripts.reference.markdown import MOST, slug

from wirelab.cli import EXIT_CODES, VERBS, main
from wirelab.experiment.schema import experiment_schema
from wirelab.metrics import dataset, trial_rows
from wirelab.metrics.documented import tables
from wirelab.metrics.levels import PROTOCOL
from wirelab.schema.files import FILES, text

CELL = 2 * MOST
"""Links are most of the longest cells, and are not read."""
EXAMPLES = [
    pytest.param(block, id=f"{path.stem}-{number}")
    for path in sorted(FOLDER.glob("*.md"))
    for number, block in enumerate(
        re.findall(r"^```toml\n(.*?)^```$", path.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    )
]
AROUND = 'title = "An example"\nworkload = { kind = "telemetry" }\n[factors]\nprotocol = ["http1", "mqtt"]\n'


@pytest.fixture(scope="module")
def written() -> dict[str, str]:
    return pages()


def test_the_pages_are_the_ones_checked_in(written: dict[str, str]) -> None:
    assert {path.name for path in FOLDER.glob("*.md")} == set(written)
    for name, page in written.items():
        assert (FOLDER / name).read_text(encoding="utf-8") == page, f"{name}: run make generate"


def test_each_page_begins_with_what_it_is_and_what_makes_it(written: dict[str, str]) -> None:
    for name, page in written.items():
        title, _, first = page.splitlines()[:3]
        assert title.startswith("# "), name
        assert "generated from" in first and "`make generate`" in first, name


def test_lines_and_cells_are_short(written: dict[str, str]) -> None:
    lines = [(name, line) for name, page in written.items() for line in page.splitlines()]
    assert not [each for each in lines if len(each[1]) >= 200 and not each[1].startswith("|") and " --" not in each[1]]
    cells = [(name, cell) for name, line in lines if line.startswith("|") for cell in line.split(" | ")]
    assert not [(name, cell) for name, cell in cells if len(re.sub(r"\]\([^)]*\)", "]", cell)) > CELL]


def test_every_link_on_a_page_leads_somewhere(written: dict[str, str]) -> None:
    for name, page in written.items():
        for target in re.findall(r"\]\(([^)\s]+)\)", page):
            path, _, anchor = target.partition("#")
            assert (FOLDER / path).exists(), (name, target)
            if anchor:
                headings = re.findall(r"^#+ (.+)$", written[path or name], re.MULTILINE)
                assert anchor in map(slug, headings), (name, target)


@pytest.mark.parametrize("schema", ["experiment", *FILES])
def test_every_key_has_a_description(schema: str) -> None:
    document = json.loads(experiment_schema() if schema == "experiment" else text(schema))
    missing = [
        f"{name}.{key}"
        for name, table in {"": document, **document.get("$defs", {})}.items()
        for key, each in table.get("properties", {}).items()
        if "const" not in each and not each.get("description", "").strip()
    ]
    assert not missing


def test_a_default_of_a_quantity_is_written_with_its_unit() -> None:
    document = json.loads(experiment_schema())
    keys = [(key, each) for table in document["$defs"].values() for key, each in table.get("properties", {}).items()]
    defaults = {key: each["default"] for key, each in keys if each.get("type") == "string" and "default" in each}
    assert defaults["stagger"] == "1 s" and defaults["payload"] == "56 B"
    assert not [key for key, default in defaults.items() if not isinstance(default, str)]


@pytest.mark.parametrize("table", tables(), ids=lambda table: str(table.file))
def test_every_column_has_a_description_once(table: object) -> None:
    found = next(each for each in tables() if each == table)
    assert found.about and found.columns
    assert not [column.name for column in found.columns if not column.about.strip()]
    assert len({column.name for column in found.columns}) == len(found.columns)


def test_a_column_of_nanoseconds_says_so() -> None:
    found = {column.name: column for table in tables() for column in table.columns}
    assert found["end_to_end_delay_ns"].unit == found["smoothed_rtt_ns"].unit == "ns"
    assert found["wire_up_bytes"].unit == "bytes"
    assert {column.unit for name, column in found.items() if name.endswith("_ns")} == {"ns"}


def test_the_trials_table_is_described_in_the_order_in_which_it_is_written() -> None:
    trials = next(each for each in tables() if each.file == dataset.TRIAL_TABLE)
    names = [column.name for column in trials.columns if column.name != PROTOCOL]
    assert names[: len(trial_rows.TRIAL_TYPES)] == list(trial_rows.TRIAL_TYPES)


@pytest.mark.parametrize("example", EXAMPLES)
def test_each_example_passes_check(example: str, tmp_path: Path) -> None:
    document = tomllib.loads(example)
    path = tmp_path / "example.toml"
    path.write_text(example if "title" in document else AROUND + example, encoding="utf-8")
    result = CliRunner().invoke(main, ["check", str(path)])
    assert result.exit_code == 0, result.output


def test_each_verb_that_returns_an_exit_code_says_what_it_means() -> None:
    for name, verb in VERBS.items():
        command = main.get_command(click.Context(main), name)
        assert command is not None
        returns = get_type_hints(command.callback).get("return") if command.callback else None
        assert (returns is int) == bool(verb.fails_if or verb.judges), name
        assert {*verb.judges} <= EXIT_CODES.keys(), name
