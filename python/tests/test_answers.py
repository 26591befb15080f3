"""`docs/answers/`: each page has a question, a command that parses, a table and a date, and the index has all ten."""

from __future__ import annotations

import json
import re
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from scripts.answers import BEGIN, END, FOLDER, INDEX, arguments, pages, with_table
from scripts.answers.tables import table_of

from wirelab.cli import main
from wirelab.errors import WirelabError

NUMBERS = range(1, 11)
UNANSWERED = {3: "WebSockets", 5: "MQTT-SN"}
"""Questions that no command answers, with what is missing."""
MISSING = {1: "no CID", 6: "no Q-Block", 7: "neither Q-Block nor BERT"}
"""What pages must say that Wirelab lacks."""
PAGES = {int(path.name.partition("-")[0]): path for path in pages()}
LEAST_SENTENCES = 3
DATE = r"\d{1,2} [A-Z][a-z]+ 20\d\d"


def _text(number: int) -> str:
    return PAGES[number].read_text(encoding="utf-8")


def _section(page: str, title: str) -> list[str]:
    """The lines of a section."""
    return page.partition(f"## {title}\n\n")[2].partition("\n\n## ")[0].rstrip().splitlines()


def test_each_question_has_a_page_unless_something_is_missing() -> None:
    assert set(PAGES) == set(NUMBERS) - set(UNANSWERED)


@pytest.mark.parametrize("number", PAGES)
def test_a_page_has_its_parts(number: int) -> None:
    page = _text(number)
    title, _, first, *_ = page.splitlines()
    assert title.startswith("# ") and first.endswith((".", "?"))
    assert re.search(r"\(https://github\.com/[\w.-]+/[\w.-]+/issues/\d+\)", page), "the thread"
    assert page.count("\n## ") == 2 and _section(page, "What would change it")
    assert len(_section(page, "Answer")) == LEAST_SENTENCES, "three sentences, one a line"
    assert number not in MISSING or MISSING[number] in page.partition("**What is missing:**")[2]


@pytest.mark.parametrize("number", PAGES)
def test_a_table_is_written_with_its_date_and_versions(number: int) -> None:
    block = _text(number).partition(BEGIN)[2].partition(END)[0]
    rows = [line for line in block.splitlines() if line.startswith("|")]
    assert len(rows) > 3 and len({line.replace("\\|", "").count("|") for line in rows}) == 1
    assert re.search(rf"^Written on {DATE} by Wirelab \d+\.\d+\.\d+ under the \w+ clock, on Linux \d", block, re.M)


@pytest.mark.parametrize("number", PAGES)
def test_a_command_parses(number: int) -> None:
    verb, *options = arguments(_text(number))
    command = main.get_command(click.Context(main), verb)
    assert command is not None
    command.make_context(verb, [*options, "--out", "results"])
    if verb == "run":
        result = CliRunner().invoke(main, ["check", *options])
        assert result.exit_code == 0, result.output


def test_the_index_has_every_question_and_what_is_missing() -> None:
    index = (FOLDER / INDEX).read_text(encoding="utf-8")
    rows = {int(row[1]): row[0] for row in re.finditer(r"^\| (\d+) \|.*$", index, re.M)}
    assert set(rows) == set(NUMBERS)
    for number, row in rows.items():
        found = UNANSWERED.get(number)
        assert (
            (f"]({PAGES[number].name})" in row) if found is None else f"Wirelab has no {found}" in row or found in row
        )
        assert found is None or "https://github.com/" in row
        assert found is not None or _text(number).splitlines()[0].removeprefix("# ") in row, "the page's title"


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.md")), ids=lambda path: str(path.stem))
def test_every_link_of_a_page_leads_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", path.read_text(encoding="utf-8")):
        assert target.startswith("https://") or (path.parent / target.partition("#")[0]).exists(), target


def test_a_backslash_continues_a_command() -> None:
    page = "```\nwirelab run message --set 'link.rtt=1 s' \\\n    --json\n```\n"
    assert arguments(page) == ["run", "message", "--set", "link.rtt=1 s", "--json"]


def test_only_what_is_between_the_markers_is_written_again() -> None:
    page = f"before\n{BEGIN}\nold \\1\n{END}\nafter\n"
    assert with_table(page, "new \\1") == f"before\n{BEGIN}\nnew \\1\n{END}\nafter\n"
    with pytest.raises(WirelabError, match="one block"):
        with_table("no markers\n", "new")


def test_a_table_of_scenarios_has_the_factors_that_vary(tmp_path: Path) -> None:
    def scenario(protocol: str, loss: str, median: float, **levels: object) -> dict[str, object]:
        estimate = {"point": median, "low": None, "high": None, "level": 0.95, "n": 9, "method": "none"}
        return {
            "levels": {"protocol": protocol, "link.loss": loss, "workload.exchanges": 3, **levels},
            "metrics": {
                "end-to-end-delay": {"median": estimate},
                "retransmissions": {"mean": estimate | {"point": 0.5}},
            },
            "denominators": {"exchanges": 9, "completed": 9, "sent": 0, "exchanges_of_failed_trials": 0},
        }

    scenarios = [scenario("coap", "0%", 0.02), scenario("mqtt", "2%", 0.3, **{"protocols.mqtt.qos": 1})]
    (tmp_path / "estimates.json").write_text(json.dumps({"scenarios": scenarios}), encoding="utf-8")
    head, _, *rows = table_of("run", tmp_path).splitlines()
    assert head.startswith("| `protocol` | `link.loss` | delay, median [95 %] | packets retransmitted | completed")
    assert rows == ["| coap | 0% | 20.0 ms | 0.5 | 9/9 |", "| mqtt | 2% | 300 ms | 0.5 | 9/9 |"]
