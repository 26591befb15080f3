"""The whole page: well-formed, offline, complete, and useful even when files are missing."""

from __future__ import annotations

import functools
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.report.campaigns import judge, read, store, write
from tests.report.html_checks import Page
from tests.snapshots import FOLDER, assert_golden
from wirelab import __version__, report
from wirelab.errors import WirelabError
from wirelab.report.campaign import load
from wirelab.report.figures import svg
from wirelab.report.page import header, options, render
from wirelab.report.sections import SECTIONS, reuse

SOURCE = Path(report.__file__).parents[2]
HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)> & \" ' {{ 7*7 }}"


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return judge(write(tmp_path_factory.mktemp("campaign")))


def page_of(folder: Path) -> Page:
    return Page(report.write(folder).read_text(encoding="utf-8"))


SECTION = re.compile(r'<section id="([\w-]+)".*?</section>\n', re.DOTALL)


def test_the_text_of_a_small_report_matches_the_golden_files(campaign: Path) -> None:
    source = page_of(campaign).source
    parts = {found[1]: found[0] for found in SECTION.finditer(source)}
    loaded = load(campaign, campaign)
    built = [section.id for build in SECTIONS if (section := build(loaded)) is not None]
    assert [*parts] == [each for each in built if each != "glance"], "the chart of the answer is drawn again"
    contents = re.compile(r"<nav.*?</nav>", re.DOTALL)
    parts["page"] = contents.sub("", SECTION.sub("", source))
    updated = os.environ.get("WIRELAB_UPDATE_GOLDEN") == "1"
    for name in parts if updated else [path.stem for path in (FOLDER / "report-tiny").glob("*.txt")]:
        words = Page(parts[name]).words().replace(str(campaign), "CAMPAIGN")
        # A new version must not change the golden files.
        words = words.replace(f"Made by Wirelab {__version__}", "Made by Wirelab VERSION")
        assert_golden(f"report-tiny/{name}.txt", words)


def test_the_contents_name_every_section_in_its_order(campaign: Path) -> None:
    source = page_of(campaign).source
    titles = re.findall(r'<h3 class="title" id="[\w-]+-title">(.*?)</h3>', source)
    assert re.findall(r'<li><a href="#[\w-]+">(.*?)</a></li>', source) == ["Answer", "Charts", "Evidence", *titles]


def test_the_same_files_give_the_same_page(campaign: Path) -> None:
    assert report.write(campaign).read_bytes() == report.write(campaign).read_bytes()


def test_nothing_is_loaded_from_elsewhere(campaign: Path) -> None:
    page = page_of(campaign)
    for tag, name, value in page.attributes:
        if name in {"src", "srcset", "action", "data", "poster"} or (tag == "link" and name == "href"):
            raise AssertionError(f"<{tag} {name}={value}>")
        if name == "href" and "://" in value:
            assert value.startswith("https://doi.org/")
    assert "url(http" not in page.source
    assert "@import" not in page.source


def test_every_chart_has_its_data_table(campaign: Path) -> None:
    charts = [figure for figure in page_of(campaign).figures if "svg" in figure]
    assert len(charts) >= 5
    assert all(figure.get("details") and figure.get("table") and figure.get("caption") for figure in charts)


def test_every_id_is_unique_and_every_inner_link_has_a_target(campaign: Path) -> None:
    page = page_of(campaign)
    assert len(page.ids) == len(set(page.ids))
    targets = {value[1:] for _, name, value in page.attributes if name == "href" and value.startswith("#")}
    assert targets <= set(page.ids)


def test_every_scenario_appears_with_its_trials_and_their_files(campaign: Path) -> None:
    page = page_of(campaign)
    for scenario in read(campaign, "plan.json")["scenarios"]:
        assert scenario["name"] in page.words()
    hrefs = {value for _, name, value in page.attributes if name == "href"}
    assert "trials/0-http1-clean-30B-20ms/result.json" in hrefs
    assert "trials/0-http1-clean-30B-20ms/packets.wlpl" not in hrefs


def test_links_follow_a_page_that_is_written_elsewhere(campaign: Path, tmp_path: Path) -> None:
    path = report.write(campaign, tmp_path / "elsewhere" / "page.html")
    hrefs = {value for _, name, value in Page(path.read_text()).attributes if name == "href"}
    link = next(href for href in hrefs if href.endswith("exchanges.parquet"))
    assert (path.parent / link).resolve() == campaign / "exchanges.parquet"


def test_a_verdict_on_an_unusable_link_is_marked_on_the_first_screen_too(tmp_path: Path) -> None:
    folder = judge(write(tmp_path))
    chip = header(load(folder, folder)).verdicts[0]
    assert (chip.tone, chip.weak) == ("good", False)
    verdicts = read(folder, "verdicts.json")
    verdicts["claims"][0]["link"] = {"flag": "unusable", "why": "late"}
    verdicts["claims"][1]["link"] = None
    verdicts["claims"][2] |= {"verdict": "confirmed", "link": {"flag": "limited", "why": "late"}}
    store(folder, "verdicts.json", verdicts)
    chips = header(load(folder, folder)).verdicts
    assert [(chip.text, chip.tone, chip.weak) for chip in chips] == [
        ("M1 confirmed (unusable)", "unsure", True),
        ("M2 contradicted", "bad", True),
        ("M3 confirmed (limited)", "good", True),
    ]


def test_names_with_markup_are_escaped(tmp_path: Path) -> None:
    folder = judge(write(tmp_path, links=(HOSTILE, "lossy"), title=HOSTILE))
    verdicts = read(folder, "verdicts.json")
    verdicts["claims"][0] |= {"text": HOSTILE, "why": HOSTILE, "contradiction": HOSTILE}
    store(folder, "verdicts.json", verdicts)
    page = page_of(folder)
    assert page.source.count("<script") == 1
    assert "onerror" not in {name for _, name, _ in page.attributes}
    assert "49" not in page.words().splitlines()[0]
    assert HOSTILE in page.words()


def test_a_campaign_in_progress_says_so(tmp_path: Path) -> None:
    folder = write(tmp_path)
    lines = (folder / "journal.jsonl").read_text().splitlines(keepends=True)
    (folder / "journal.jsonl").write_text("".join(lines[:5]) + lines[5][:20])
    words = page_of(folder).words()
    assert "Not finished: 3 of 4 scenarios have fewer than 2 finished trials; 5 of 8 planned trials are" in words
    assert "not run" in words
    facts = read(folder, "campaign.json") | {"runs": [{"ended": None}, {"ended": "2026-11-21T12:00:00.000Z"}]}
    store(folder, "campaign.json", facts)
    assert "The budget ended the run early: 3 of 4 scenarios" in page_of(folder).words()


def test_a_budget_that_left_intervals_wider_than_asked_is_reported(tmp_path: Path) -> None:
    folder = write(tmp_path)
    plan = read(folder, "plan.json")
    plan["experiment"]["stop"] = {
        "replicates": [1, 2], "interval": {"relative": 0.1, "of": "median"}, "budget_ns": 45 * 10**9,
    }  # fmt: skip
    store(folder, "plan.json", plan)
    run = {"ended": "2026-11-21T12:00:00.000Z", "cut_after_blocks": 1, "cut_scenarios": 3}
    store(folder, "campaign.json", {"runs": [run]})
    assert (
        "The budget of 45 s ended after block 1 of 2: intervals of 3 of 4 scenarios are wider than asked (10% of the "
        "median)."
    ) in page_of(folder).words()
    plan["experiment"]["stop"] = {"replicates": [2, 2], "interval": None, "budget_ns": 45 * 10**9}
    store(folder, "plan.json", plan)
    assert load(folder, folder).unfinished == (
        "The budget of 45 s ended after block 1 of 2: 3 of 4 scenarios have fewer trials than planned, so their "
        "intervals are wider."
    )
    store(folder, "campaign.json", {"runs": [run, {"ended": "2026-11-21T13:00:00.000Z", "cut_after_blocks": None}]})
    assert load(folder, folder).unfinished is None


def test_a_run_that_a_stopping_rule_ended_is_finished_and_one_that_was_killed_is_not(tmp_path: Path) -> None:
    folder = write(tmp_path)
    plan = read(folder, "plan.json")
    plan["experiment"]["stop"]["replicates"] = [1, 2]
    store(folder, "plan.json", plan)
    (folder / "journal.jsonl").write_text("".join((folder / "journal.jsonl").read_text().splitlines(keepends=True)[:4]))
    store(folder, "campaign.json", {"runs": [{"ended": "2026-11-21T12:00:00.000Z"}]})
    assert load(folder, folder).unfinished is None
    store(folder, "campaign.json", {"runs": [{"ended": None}]})
    assert str(load(folder, folder).unfinished).startswith("Not finished: the last run did not end; 4 of 8")


def test_a_quick_run_says_that_it_is_not_conclusive(tmp_path: Path) -> None:
    folder = write(tmp_path)
    plan = read(folder, "plan.json")
    plan["experiment"]["preview"] = {"budget_ns": 120_000_000_000, "replicates": [30, 2], "exchanges": [100, 5]}
    store(folder, "plan.json", plan)
    assert "Quality quick run, not conclusive" in page_of(folder).words()
    assert (
        "A quick run in 2 min, not conclusive: 2 of 30 trials of each scenario, 5 of 100 exchanges"
        in page_of(folder).words()
    )


def test_a_scenario_without_a_completed_exchange_is_shown_as_such(tmp_path: Path) -> None:
    folder = write(tmp_path, links=("clean",))
    estimates = read(folder, "estimates.json")
    dead = estimates["scenarios"][0]
    dead["metrics"] = {}
    dead["denominators"] |= {"completed": 0, "timed-out": 40}
    estimates["comparisons"] = []
    store(folder, "estimates.json", estimates)
    words = page_of(folder).words()
    assert "0/40" in words
    assert "no exchange completed" in words
    assert "exchanges failed or timed out" in words


def test_a_campaign_without_any_completed_exchange_still_has_a_page(tmp_path: Path) -> None:
    folder = write(tmp_path)
    estimates = read(folder, "estimates.json")
    for scenario in estimates["scenarios"]:
        scenario["metrics"] = {}
        scenario["denominators"] |= {"completed": 0, "failed": 40}
    store(folder, "estimates.json", estimates | {"comparisons": [], "links": [], "link_lateness": []})
    (folder / "exchanges.parquet").unlink()
    (folder / "trials.parquet").unlink()
    words = page_of(folder).words()
    assert "Quality not graded" in words
    assert "160 of 160 exchanges failed or timed out" in words


def test_one_scenario_alone_makes_a_page(tmp_path: Path) -> None:
    folder = write(tmp_path, protocols=("h2",), links=("clean",))
    (folder / "campaign.json").unlink()
    words = page_of(folder).words()
    assert "1 scenario\n" in words.replace(" 2 trials", "\n")
    assert "its machine is unknown" in words


def test_two_hundred_scenarios_are_grouped_by_choices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The groups' figures are alike, and an equal chart need not be drawn again.
    draw = svg.vl_convert.vegalite_to_svg
    drawn = functools.cache(lambda spec, version: draw(json.loads(spec), vl_version=version))
    monkeypatch.setattr(svg.vl_convert, "vegalite_to_svg", lambda spec, vl_version: drawn(json.dumps(spec), vl_version))
    protocols = ("http1", "https1", "h2", "h3", "raw-tcp")
    levels = tuple(f"{10 * i} ms" for i in range(1, 21))
    folder = write(tmp_path, protocols=protocols, choices={"link.rtt": levels})
    page = page_of(folder)
    assert "200 scenarios" in page.words()
    assert page.words().count("link.rtt 200 ms\n") >= 5
    # Not all of them are drawn: from the first to the last. Other tables have all, and so each link its target.
    assert "Drawn: 6 of 20 combinations, evenly spaced. estimates.csv has the numbers of all of them." in page.words()
    counts = {level: page.words().count(f"link.rtt {level}\n") for level in ("30 ms", "40 ms", "200 ms")}
    assert counts["40 ms"] == counts["200 ms"] > counts["30 ms"] >= 3
    targets = {value[1:] for _, name, value in page.attributes if name == "href" and value.startswith("#")}
    assert targets <= {value for _, name, value in page.attributes if name == "id"}
    opened = sum(1 for tag, name, _ in page.attributes if tag == "details" and name == "open")
    assert opened < 12
    assert len(page.source) < 8_000_000


def test_a_folder_that_is_no_campaign_is_refused_with_a_hint(tmp_path: Path) -> None:
    with pytest.raises(WirelabError, match=r"no plan\.json") as none:
        report.write(tmp_path)
    assert "wirelab run" in str(none.value)
    store(
        tmp_path,
        "plan.json",
        {
            "schema_version": 1,
            "identity_version": 1,
            "experiment": {"name": "a", "metric": "m"},
            "seed": 1,
            "scenarios": [],
            "blocks": [],
        },
    )
    with pytest.raises(WirelabError, match=r"no estimates\.json") as unread:
        report.write(tmp_path)
    assert unread.value.hint == f"wirelab run a --out {tmp_path}"
    (tmp_path / "estimates.json").write_text("{")
    with pytest.raises(WirelabError, match="not JSON"):
        report.write(tmp_path)


def test_a_page_that_cannot_be_written_leaves_the_old_one(campaign: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("old")
    with pytest.raises(WirelabError, match="cannot write"):
        report.write(campaign, tmp_path / "file" / "page.html")
    assert (tmp_path / "file").read_text() == "old"


def test_importing_the_report_imports_no_large_library() -> None:
    code = "import sys, wirelab.report, wirelab.cli.report, json; print(json.dumps([m for m in sys.modules]))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, cwd=SOURCE)
    assert not {"altair", "polars", "numpy", "jinja2", "pydantic"} & set(json.loads(done.stdout))


def test_an_option_is_code_that_no_line_breaks_and_other_words_are_escaped(tmp_path: Path) -> None:
    assert options("run fewer trials (--jobs), <b>") == "run fewer trials (<code>--jobs</code>), &lt;b&gt;"
    folder = write(tmp_path)
    estimates = read(folder, "estimates.json")
    for scenario in estimates["scenarios"]:
        scenario["endpoints"] = {"flag": "unusable", "share": 0.2, "why": "it waited", "cure": "fewer (--jobs)"}
    store(folder, "estimates.json", estimates)
    html = render(load(folder, folder))
    assert "fewer (<code>--jobs</code>)" in html
    assert "fewer (--jobs)" not in html


def test_what_stands_between_backticks_is_code() -> None:
    assert options("with `retry --all` <i>") == "with <code>retry --all</code> &lt;i&gt;"


def test_a_report_names_no_folder_of_the_machine_that_wrote_it(tmp_path: Path) -> None:
    folder = write(tmp_path / "campaign")
    command = ["wirelab", "run", f"{tmp_path}/mine.toml", f"--out={folder}", "--set", "workload.request=/api/items"]
    store(folder, "campaign.json", read(folder, "campaign.json") | {"command": command})
    source = page_of(folder).source
    assert str(tmp_path) not in source
    assert "wirelab show . 0-http1-clean-30B-20ms" in source
    assert "wirelab run mine.toml --out=campaign --set workload.request=/api/items" in source


@pytest.mark.parametrize(
    ("word", "shown"),
    [
        ("/home/someone/a/mine.toml", "mine.toml"), ("'python3 /root/app.py' x", "'python3 app.py' x"),
        ("https://example.org/a/b", "https://example.org/a/b"), ("results/mine", "results/mine"),
        ("/nowhere-here/items", "/nowhere-here/items"), ("/Users/someone/site/", "site"),
    ],
)  # fmt: skip
def test_a_command_has_files_without_their_folders(word: str, shown: str) -> None:
    assert reuse.without_folders(word) == shown


def test_each_part_has_its_value_interval_n_and_quality(tmp_path: Path) -> None:
    folder = judge(write(tmp_path))
    verdicts = read(folder, "verdicts.json")
    held, contradicted = next(claim["parts"] for claim in verdicts["claims"] if claim["parts"])
    ours = {"point": 1.2, "low": 1.1, "high": 1.3, "level": 0.95, "n": 80, "method": "made up"}
    held |= {"ours": ours, "judged": [{"of": "", **ours, "low": 1.05, "high": 1.35, "level": 0.9875}]}
    held["link"] = {"flag": "limited", "why": "it is late"}
    contradicted["judged"] = [{"of": "more, by ms", **ours, "low": None, "level": 0.998}]
    store(folder, "verdicts.json", verdicts)
    words = Page(render(load(folder, tmp_path))).words()
    assert "1.20 [1.10, 1.30]\n[1.05, 1.35] at 98.75 %\n80\nlimited\n" in words
    assert "more, by ms: ≤ 1.30 at 99.8 %\n80\ngood\n" in words
    assert words.count("“Judged by” is the interval that decided the part") == 1
