"""The report in a browser: one screen, series on and off, charts as files, what opens, and what a phone shows."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import polars as pl
import pytest

from tests.report.campaigns import judge, write
from tests.report.visits import COMPUTER, PHONE, Visit, visiting
from wirelab import report
from wirelab.metrics.tables import write_table

SVG = "{http://www.w3.org/2000/svg}"
SIZES = pytest.mark.parametrize("size", [COMPUTER, PHONE], ids=["computer", "phone"])
SAVED = """(() => {
  let saved = null;
  URL.createObjectURL = (blob) => { saved = blob; return "blob:none"; };
  HTMLAnchorElement.prototype.click = function () { window.named = this.download; };
  document.querySelector(".overview .save").click();
  return saved.text();
})()"""
CUT = """(() => {
  for (const each of document.querySelectorAll("details")) each.open = true;
  const cut = [...document.querySelectorAll(".scroll")].filter((each) => each.scrollWidth > each.clientWidth + 1);
  return cut.map((each) => each.getAttribute("aria-label"));
})()"""
BOTTOM = "document.querySelector('{}').getBoundingClientRect().bottom"
HIDDEN = "[...document.querySelectorAll('.chart [data-series=\"4\"]')].every((mark) => mark.hasAttribute('data-off'))"
LEGEND = "document.querySelector('.overview [data-key=\"4\"] > button')"
EXCHANGES = 100_000
LONGEST_TASK_MS = 200
WATCH = """window.tasks = [];
const see = (list) => tasks.push(...list.getEntries().map((each) => each.duration));
new PerformanceObserver(see).observe({ type: "longtask" });
"""
SETTLED = "new Promise((done) => setTimeout(() => done(tasks.splice(0)), 1500))"
BUSY = "setTimeout(() => { const end = performance.now() + 250; while (performance.now() < end); }, 10)"

pytestmark = pytest.mark.chromium


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("visits")


@pytest.fixture(scope="module")
def visit(folder: Path) -> Iterator[Visit]:
    with visiting(folder) as found:
        yield found


@pytest.fixture(scope="module")
def quickstart(folder: Path) -> Path:
    protocols = ("raw-tcp", "http1", "h2", "h3")
    return report.write(write(folder / "quickstart", protocols=protocols, title="30-byte upload: HTTP/1.1 or HTTP/2?"))


@pytest.fixture(scope="module")
def paper(folder: Path) -> Path:
    return report.write(judge(write(folder / "paper")))


@SIZES
def test_sentence_chart_and_quality_fit_one_screen(visit: Visit, quickstart: Path, size: tuple[int, int]) -> None:
    visit.open(quickstart, size)
    bottoms = [visit.ask(BOTTOM.format(part)) for part in (".answer", ".lead .chart", ".grade")]
    assert min(bottoms) > 0
    assert max(bottoms) <= size[1]
    shown = visit.ask(
        "[...document.querySelectorAll('.lead svg[role]')].filter((s) => s.getClientRects().length).length"
    )
    assert shown == 1


@SIZES
def test_nothing_makes_the_page_scroll_sideways(visit: Visit, paper: Path, size: tuple[int, int]) -> None:
    visit.open(paper, size, anchor="#evidence")
    assert visit.ask("document.documentElement.scrollWidth") == size[0]


def test_no_table_is_cut_on_a_computer(visit: Visit, quickstart: Path, paper: Path) -> None:
    for page in (quickstart, paper):
        visit.open(page, COMPUTER)
        assert visit.ask(CUT) == []


def test_letters_of_charts_on_a_phone_are_no_smaller_than_nine_pixels(visit: Visit, quickstart: Path) -> None:
    visit.open(quickstart, PHONE)
    heights = visit.ask(
        "[...document.querySelectorAll('.chart svg')].filter((s) => s.getClientRects().length)"
        ".map((s) => 11 * s.getBoundingClientRect().width / s.getAttribute('width'))"
    )
    assert len(heights) == 5
    assert min(heights) >= 9


def test_a_legend_switches_its_series_off_and_on_in_all_charts(visit: Visit, quickstart: Path) -> None:
    visit.open(quickstart, COMPUTER)
    assert visit.ask(f"{LEGEND}.getAttribute('aria-pressed')") == "true"
    assert visit.ask("document.querySelectorAll('[data-off]').length") == 0
    visit.ask(f"{LEGEND}.click()")
    assert visit.ask(HIDDEN)
    states = visit.ask(
        "[...document.querySelectorAll('[data-key=\"4\"] > button')].map((each) => each.getAttribute('aria-pressed'))"
    )
    assert len(states) == 2
    assert set(states) == {"false"}
    others = "document.querySelectorAll('.chart [data-series]:not([data-series=\"4\"])[data-off]').length"
    assert visit.ask(others) == 0
    visit.ask(f"{LEGEND}.click()")
    assert visit.ask("document.querySelectorAll('[data-off]').length") == 0


def test_a_legend_and_a_save_button_have_names_and_take_the_keyboard(visit: Visit, quickstart: Path) -> None:
    visit.open(quickstart, COMPUTER)
    visit.ask(f"{LEGEND}.focus()")
    for kind in ("keyDown", "keyUp"):
        visit.call("Input.dispatchKeyEvent", type=kind, key=" ", code="Space", windowsVirtualKeyCode=32, text=" ")
    assert visit.ask(HIDDEN)
    names = visit.ask("[...document.querySelectorAll('.save')].map((each) => each.getAttribute('aria-label'))")
    assert names[0] == "Save as SVG: median of end-to-end delay, a row per scenario"
    assert len(names) == len(set(names)) == 5


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_saved_chart_stands_alone_with_its_colours(visit: Visit, quickstart: Path, scheme: str) -> None:
    visit.open(quickstart, COMPUTER, scheme=scheme)
    visit.ask(f"{LEGEND}.click()")
    text = visit.ask(SAVED)
    root = ElementTree.fromstring(text)
    assert root.tag == f"{SVG}svg"
    assert "var(" not in text
    assert "currentColor" not in text
    assert "#c65200" in text, "the colour of http1 on paper, also of a dark page"
    keys = {each.get("data-series") for each in root.iter() if each.get("data-series")}
    assert keys == {"0", "2", "6"}, "a series that is off is left out"
    assert any("h3: median" in (title.text or "") for title in root.iter(f"{SVG}title"))
    assert visit.ask("window.named") == "median-of-end-to-end-delay-a-row-per-scenario.svg"


def test_a_link_into_the_evidence_opens_it_also_for_the_second_time(visit: Visit, quickstart: Path) -> None:
    visit.open(quickstart, COMPUTER)
    state = "[document.getElementById('evidence').open, location.hash]"
    assert visit.ask(state) == [False, ""]
    for _ in range(2):
        visit.ask("document.querySelector('.grade').click()")
        visit.ask("new Promise((done) => setTimeout(done, 100))")
        assert visit.ask(state) == [True, "#emulation-accuracy"]
        visit.ask("document.getElementById('evidence').open = false")


def test_printing_opens_the_evidence_and_closes_it_again(visit: Visit, quickstart: Path) -> None:
    visit.open(quickstart, COMPUTER)
    opened = "[...document.querySelectorAll('#evidence, .more')].map((each) => each.open)"
    visit.ask("dispatchEvent(new Event('beforeprint'))")
    assert visit.ask(opened) == [True, True]
    visit.ask("dispatchEvent(new Event('afterprint'))")
    assert visit.ask(opened) == [False, False]


def test_a_term_says_what_it_means_when_it_has_the_focus_and_escape_ends_that(visit: Visit, quickstart: Path) -> None:
    visit.open(quickstart, COMPUTER)
    visit.ask("document.querySelector('#charts .term').focus()")
    said = visit.ask("[document.querySelector('#charts .term').textContent, tip.textContent, tip.hidden]")
    assert said[0] == "exchanges"
    assert said[1].startswith("One request and its answer")
    assert not said[2]
    visit.call("Input.dispatchKeyEvent", type="keyDown", key="Escape", code="Escape", windowsVirtualKeyCode=27)
    assert visit.ask("tip.hidden")


@pytest.mark.nightly
@pytest.mark.parametrize("scheme", ["light", "dark"])
@SIZES
def test_axe_finds_no_violation(
    visit: Visit, quickstart: Path, paper: Path, size: tuple[int, int], scheme: str
) -> None:
    axe = Path(os.environ.get("WIRELAB_TOOLS", "")) / "axe-core" / "axe.min.js"
    if not axe.is_file():
        assert not os.environ.get("WIRELAB_REQUIRE_ALL"), f"no {axe}: scripts/install-test-needs axe-core"
        pytest.skip("axe-core is not installed: scripts/install-test-needs axe-core")
    for page in (quickstart, paper):
        visit.open(page, size, scheme=scheme)
        visit.ask(f"{axe.read_text(encoding='utf-8')};true")
        for opens in ("", "for (const each of document.querySelectorAll('details')) each.open = true;"):
            found = visit.ask(
                f"(async () => {{ {opens} const done = await axe.run(document, {{ resultTypes: ['violations'] }});"
                " return [done.passes.length, done.violations.map((each) => [each.id, each.nodes[0].html])]; })()"
            )
            assert found[0] > 10
            assert found[1] == []


@pytest.mark.nightly
def test_a_report_of_100_000_exchanges_blocks_the_browser_for_200_ms_at_most(visit: Visit, folder: Path) -> None:
    campaign = judge(write(folder / "large", protocols=("http1", "https1", "h2", "h3"), links=("clean", "lossy")))
    rows = pl.read_parquet(campaign / "exchanges.parquet")
    many = pl.concat([rows] * -(-EXCHANGES // rows.height)).with_columns(
        pl.col("end_to_end_delay_ns") + pl.int_range(pl.len()) * 997 % 40_000_000
    )
    assert many.height >= EXCHANGES
    write_table(many, campaign / "exchanges.parquet")
    watched = visit.call("Page.addScriptToEvaluateOnNewDocument", source=WATCH)["identifier"]
    visit.open(report.write(campaign), COMPUTER)
    loading = visit.ask(SETTLED)
    visit.ask("document.getElementById('evidence').open = true")
    opening = visit.ask(SETTLED)
    print(
        f"longest tasks: {max(loading, default=0):.0f} ms when it loads, {max(opening, default=0):.0f} ms when it opens"
    )
    assert max([*loading, *opening], default=0) <= LONGEST_TASK_MS
    visit.ask(BUSY)
    assert max(visit.ask(SETTLED)) > LONGEST_TASK_MS, "a long task is seen"
    visit.call("Page.removeScriptToEvaluateOnNewDocument", identifier=watched)
