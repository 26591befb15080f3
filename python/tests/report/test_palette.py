"""Colours that differ and are visible."""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path

import pytest

from wirelab.report import palette
from wirelab.report.palette import DARK, LIGHT, PARTS_DARK, PARTS_LIGHT, looks
from wirelab.schema import registered

CSS = (Path(palette.__file__).parent / "templates" / "report.css").read_text(encoding="utf-8")


def contrast(one: str, other: str) -> float:
    """WCAG 2.2's contrast ratio."""

    def luminance(color: str) -> float:
        parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def themes() -> list[dict[str, str]]:
    found = [dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6})", block)) for block in re.findall(r":root \{([^}]*)", CSS)]
    assert len(found) == 2
    return found


@pytest.mark.parametrize(("theme", "series"), [(0, LIGHT), (1, DARK)])
def test_every_series_can_be_seen_on_the_page(theme: int, series: tuple[str, ...]) -> None:
    paper = themes()[theme]["paper"]
    assert [color for color in series if contrast(color, paper) < 3] == []


@pytest.mark.parametrize(("theme", "parts"), [(0, PARTS_LIGHT), (1, PARTS_DARK)])
def test_every_part_of_a_bar_can_be_seen_on_the_page(theme: int, parts: tuple[str, ...]) -> None:
    paper = themes()[theme]["paper"]
    assert [color for color in parts if contrast(color, paper) < 2] == []


@pytest.mark.parametrize("theme", [0, 1])
def test_every_text_has_enough_contrast(theme: int) -> None:
    colors = themes()[theme]
    pairs = [("ink", "paper"), ("muted", "paper"), ("muted", "wash"), ("ink", "wash"), ("link", "paper")]
    pairs += [(tone, ground) for tone in ("good", "bad", "unsure") for ground in ("paper", f"{tone}-wash")]
    assert [pair for pair in pairs if contrast(colors[pair[0]], colors[pair[1]]) < 4.5] == []


def test_a_protocol_has_the_same_colour_in_every_comparison() -> None:
    assert looks([("h2", "builtin"), ("h3", "builtin")])[1] == looks([("h3", "builtin")])[0]


def test_no_two_series_share_shape_colour_and_dash() -> None:
    protocols = ["raw-tcp", "raw-udp", "http1", "https1", "h2", "h2c", "h3", "coap", "mqtt", "amqp"]
    series = [(protocol, variant) for protocol in protocols for variant in ("builtin", "nginx")]
    assert [pair for pair in combinations(looks(series), 2) if pair[0] == pair[1]] == []


def test_no_two_protocols_of_a_chart_share_a_colour_or_a_mark() -> None:
    protocols = [protocol.name for protocol in registered().protocols]
    assert set(protocols) >= palette.PROTOCOL_SLOTS.keys()
    for own in combinations(["mine", "yours", "ours", "dnp3", "opc-ua", "dds"], len(LIGHT) - len(protocols)):
        found = looks([(protocol, "builtin") for protocol in (*protocols, *own)])
        assert len({look.slot for look in found}) == len(found)
        assert len({(look.shape, look.dash) for look in found}) == len(found)


def test_more_user_defined_protocols_than_colours_still_differ() -> None:
    found = looks([(f"own{number}", "mine") for number in range(8)])
    assert len(set(found)) == len(found)


def test_a_user_defined_protocol_has_the_same_colour_in_every_campaign() -> None:
    for name in ("mine", "yours", "dnp3"):
        alone = looks([(name, "x")])[0]
        assert looks([("h2", "builtin"), ("coap", "builtin"), (name, "x")])[2] == alone
