"""Terms of the glossary where texts use them."""

from __future__ import annotations

import re
from pathlib import Path

from tests.report.campaigns import judge, write
from tests.report.html_checks import Page
from wirelab import report
from wirelab.report.campaign import load
from wirelab.report.sections import glossary
from wirelab.report.terms import Term, Terms

TRIAL, DELAY = Term("Trial, block", "One run.", ("trials?",)), Term("Delay", "A time.", ("delay", "delay of a trial"))


def link(term: Term, word: str) -> str:
    return f'<a class="term" href="#{term.id}" aria-describedby="about-{term.id}">{word}</a>'


def test_the_first_use_of_a_term_in_each_part_is_a_link_to_the_glossary() -> None:
    terms = Terms([TRIAL, DELAY])
    assert terms.marked("Trials and a trial.") == f"{link(TRIAL, 'Trials')} and a trial."
    assert terms.marked("a trial") == "a trial"
    assert terms.reset() == ""
    assert terms.marked("a trial") == f"a {link(TRIAL, 'trial')}"


def test_parts_of_words_tags_and_links_are_left_alone() -> None:
    terms = Terms([TRIAL])
    for text in ("industrial", "trial-file", '<i title="trial">x</i>', '<a href="#a">a trial</a>'):
        assert terms.marked(text) == text
    assert terms.marked("<code>a</code> trial") == f"<code>a</code> {link(TRIAL, 'trial')}"


def test_the_longest_spelling_wins_and_without_terms_nothing_changes() -> None:
    assert Terms([TRIAL, DELAY]).marked("delay of a trial") == link(DELAY, "delay of a trial")
    assert Terms([]).marked("a trial") == "a trial"


def test_the_glossary_is_closed_and_each_link_on_a_term_says_what_it_means(tmp_path: Path) -> None:
    source = report.write(write(tmp_path)).read_text(encoding="utf-8")
    described = set(re.findall(r'<a class="term" href="#([\w-]+)" aria-describedby="about-\1">', source))
    assert {"term-scenario", "term-exchange", "term-interval", "term-end-to-end-delay"} <= described
    page = Page(source)
    assert {f"about-{each}" for each in described} | described <= set(page.ids)
    assert "Confirmed, contradicted, inconclusive" not in page.words()
    assert re.search(r'<details class="group">\s*<summary>\d+ terms and metrics</summary>', source)


def test_terms_of_claims_are_explained_where_there_are_claims(tmp_path: Path) -> None:
    titles = [term.title for term in glossary.terms(load(judge(write(tmp_path)), tmp_path))]
    assert "Confirmed, contradicted, inconclusive" in titles
    assert "Offered, served" not in titles
    assert len(titles) == len(set(titles))
