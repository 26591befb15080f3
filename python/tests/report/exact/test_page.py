"""What `exact` found, as words and as a page."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import cast

import pytest

from tests.browser import browse, require
from tests.enumeration.toy import grown, in_a_row
from tests.report.html_checks import Page
from wirelab.enumeration import answer
from wirelab.enumeration.answer import Grown, both
from wirelab.enumeration.search import Asked
from wirelab.report.exact import words
from wirelab.report.exact.page import write_exact
from wirelab.schema.exact import EXACT, Exact, PacketPrice, read_exact

NARROW, WIDE = 390, 1280


def _record(losses: int = 4) -> Exact:
    made = [
        Grown(
            name=name, protocol=name, client="builtin", server="nginx", seed=1, trial="t",
            asked={"1 %": Asked(both(0.01), 0.001)}, beyond_s=(0.1, 0.25), tree=tree, rests={}, whole=dict(tree.runs),
        )
        for name, toy in (("coap", in_a_row(2, 0.26)), ("h2", in_a_row(8, 0.1)))
        for tree in [grown(toy, losses, 0.3)]
    ]  # fmt: skip
    scenarios = [answer.scenario(each, [f"data {at}" for at in range(9)]) for each in made]
    return Exact(
        schema_version=1, version="0.1.0", experiment="message", title="One message", links=["each way 10 ms"],
        workloads=["30 B"], kernel="7.2",
        losses=[{"name": name, "within": 0.001 if name == "1 %" else None} for name in answer.models(made[0])],
        bounded=all(answer.bounded(each) for each in made), horizon_s=0.3,
        rates=[*answer.RATES], delays_s=answer.delays_s(0.3), radios=[], runs=50,
        seconds=3.0, scenarios=scenarios, over_seeds=[],
        crossovers=answer.crossed({each.name: each.tree for each in made}, (0.1, 0.25)),
    )  # fmt: skip


def test_the_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    record = _record()
    text = write_exact(record, tmp_path, "exact.html")
    assert json.loads(text) == record == read_exact(tmp_path / EXACT)


def test_the_page_is_whole_and_offline_with_a_picture_of_each_delay_and_scenario(tmp_path: Path) -> None:
    write_exact(_record(), tmp_path, "exact.html")
    source = (tmp_path / "exact.html").read_text(encoding="utf-8")
    page = Page(source)
    assert len(page.ids) == len(set(page.ids))
    assert not [value for _, name, value in page.attributes if name == "src" or (name == "href" and "://" in value)]
    assert len(re.findall(r'<svg role="img" aria-label="P\(delay', source)) == 2
    assert len(re.findall(r'<svg role="img" aria-label="cost of each packet', source)) == 2
    said = page.words()
    assert "takes so long more often than" in said
    assert "builtin to nginx" in said and "emulation only" in said


@pytest.mark.chromium
@pytest.mark.parametrize("width", [NARROW, WIDE])
def test_the_page_is_not_cut_off(tmp_path: Path, width: int) -> None:
    require()
    write_exact(_record(), tmp_path, "exact.html")
    path = tmp_path / "exact.html"
    script = (
        "<script>addEventListener('load',()=>{document.title=document.documentElement.scrollWidth-innerWidth})</script>"
    )
    path.write_text(path.read_text().replace("</body>", f"{script}</body>"))
    done = browse(tmp_path, f"--window-size={width},1600", "--dump-dom", path.as_uri())
    found = re.search(r"<title>(-?\d+)</title>", done.stdout)
    assert found is not None
    assert int(found[1]) <= 0


def test_a_number_and_its_unit_stay_in_one_line_and_energy_is_named_with_a_radio_only(tmp_path: Path) -> None:
    record = _record()
    write_exact(record, tmp_path, "exact.html")
    page = (tmp_path / "exact.html").read_text()
    assert "0.1\u00a0%" in page
    assert "the client's radio" not in html.unescape(page)
    write_exact({**record, "radios": ["a radio"]}, tmp_path, "exact.html")
    assert "the client's radio" in html.unescape((tmp_path / "exact.html").read_text())


def test_what_is_not_bounded_warns(tmp_path: Path) -> None:
    record = _record(losses=0)
    assert not record["bounded"]
    write_exact(record, tmp_path, "exact.html")
    assert (
        "not every probability is known within 0.1 points at a loss of 1 %"
        in Page((tmp_path / "exact.html").read_text()).words()
    )


def test_lines_for_a_terminal_have_every_delay_loss_and_scenario() -> None:
    text = "\n".join(words.lines(_record()))
    for part in ("P(delay > 100 ms)", "P(delay > 250 ms)", "0.5 %", "coap", "h2", "1 loss", "of loss on, "):
        assert part in text
    assert words.losses(_record()) == ["0.1 %", "0.5 %", "1 %", "2 %", "5 %"]


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (0.0199, 0.0199, "1.990 %"),
        (0.0394, 0.0395, "3.940 to 3.950 %"),
        (0.02, 0.03, "2.00 to 3.00 %"),
        (0, 0, "0.000 %"),
    ],
)
def test_bounds_have_the_digits_that_they_know(low: float, high: float, text: str) -> None:
    assert words.percent({"low": low, "high": high}) == text


@pytest.mark.parametrize(
    ("run", "delay_s", "text"),
    [
        (False, None, "not run"),
        (True, None, "no end"),
        (True, 0.0, "nothing"),
        (True, 1.02, "+1.02 s"),
        (True, -0.01, "-10 ms"),
    ],
)
def test_a_price_in_words(run: bool, delay_s: float | None, text: str) -> None:
    assert words.price(cast("PacketPrice", {"run": run, "delay_s": delay_s})) == text
