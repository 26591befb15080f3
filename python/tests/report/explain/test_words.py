"""What an explanation says."""

from __future__ import annotations

import pytest

from tests.explained import EXPLANATION, mean, share
from wirelab.report.explain import words
from wirelab.schema.explain import Explained


def test_the_first_two_sentences_have_the_difference_its_largest_share_and_what_is_left() -> None:
    assert words.lead(EXPLANATION) == (
        "h3 takes 30.3 ms less than h2 on average (-41.4 to -19.2 ms): 91.6 ms instead of 121.9 ms."
    )
    assert words.cause(EXPLANATION) == (
        "The largest share is connection set-up, by lost packets: -40.7 ms. "
        "Against it stands TLS or QUIC handshake, by lost packets: +29.7 ms. Unexplained: +0.03 ms."
    )


def test_a_difference_of_nothing_is_said_so() -> None:
    same: Explained = {**EXPLANATION, "difference_s": mean(0.0), "second": EXPLANATION["first"]}
    assert words.lead(same) == "h2 and h2 take equally long, 121.9 ms."
    assert [row[6] for row in words.shares(same)[1:4]] == ["–"] * 3


def test_noise_is_not_explained() -> None:
    noise: Explained = {**EXPLANATION, "difference_s": mean(-0.0303, -0.09, 0.03)}
    assert words.lead(noise) == (
        "No difference is shown between h2 and h3: 121.9 ms and 91.6 ms, -90.0 to 30.0 ms apart."
    )
    assert words.cause(noise).startswith("The largest share is connection set-up, by lost packets")
    assert [row[6] for row in words.shares(noise)[1:4]] == ["–"] * 3
    unsure: Explained = {**noise, "shares": [share("connection set-up", "propagation", 0.1, 0.2, ends=(-1, 1))]}
    assert words.cause(unsure) == "No share of it is shown either. Unexplained: 0.00 ms."


def test_a_table_has_every_visible_share_and_their_sum() -> None:
    head, *body, last = words.shares(EXPLANATION)
    assert [row[:2] for row in body] == [
        ["connection set-up", "lost packets"],
        ["TLS or QUIC handshake", "lost packets"],
        ["–", "left over a link that does nothing"],
    ]
    assert body[0][2:] == ["40.7 ms", "0.00 ms", "-40.7 ms", "-48.5 to -32.8", "134%", "caused"]
    assert last[:6] == ["total", "", "51.8 ms", "40.8 ms", "-30.3 ms", "-41.4 to -19.2"]
    assert len(head) == len(last)


def test_levels_changes_and_resources_are_listed() -> None:
    assert [*words.levels(EXPLANATION)] == [
        "protocol: h2 becomes h3: -30.3 ms (-41.4 to -19.2 ms), the only thing that differs."
    ]
    assert next(words.levels({**EXPLANATION, "levels": []})).startswith("What each factor contributes is not known")
    assert [*map(words.what_if, EXPLANATION["what_ifs"])] == ["h2 with a persistent connection: 35.8 ms, -86.1 ms."]
    [(title, rows)] = words.resources(EXPLANATION)
    assert title.startswith("IP bytes")
    assert rows == [
        ["", "A", "B", "B − A"],
        ["handshakes of TLS, DTLS and QUIC", "1,441 B", "4,173 B", "+2,732 B"],
        ["opening and closing of TCP connections", "308 B", "0 B", "-308 B"],
        ["total", "1,749 B", "4,173 B", "+2,424 B"],
    ]


def test_sides_say_what_their_means_are_of() -> None:
    first, second = words.sides(EXPLANATION)
    assert first == "A is h2: 1,000 exchanges, 10 trials, 5 not completed. Its link: each way 10 ms."
    assert "not completed" not in second


@pytest.mark.parametrize(
    ("seconds", "words_of_it"),
    [(0.0, "0.00 ms"), (1.2345, "1,234 ms"), (0.01234, "12.3 ms"), (0.000004, "0.00 ms"), (0.00123, "1.23 ms")],
)
def test_milliseconds_have_three_digits(seconds: float, words_of_it: str) -> None:
    assert words.ms(seconds) == words_of_it


def test_one_trial_has_no_interval() -> None:
    assert words.interval(share("connection set-up", "propagation", 0.1, 0.2)["difference_s"]) == "–"
