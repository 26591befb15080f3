"""No text makes the reader of links raise anything but its own errors."""

import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.asked import load_experiment
from tests.described import BASE, KNOWN
from wirelab.errors import WirelabError
from wirelab.experiment.file.problems import field_names
from wirelab.experiment.link import LinkTable

KEYS = sorted(field_names(LinkTable))
WORDS = st.sampled_from(
    [
        *("20 ms", "-1 ms", "1 kB", "100 packets", "10 %", "1 Mbit/s", "-70 dBm", "1e99 s", "9" * 200 + " ms"),
        *("none", "normal 5 ms", "pareto 1 s", "table", "wifi", "ieee802154", "codel", "fq-codel", "drop-tail"),
        *("802.11g", "uplink", "rate", "loss", "0101", "", " "),
        *("wifi-n", "./mine.toml", "up.trace", "../up.trace", "/dev/zero", "a\0b"),
    ]
)
INNER = st.sampled_from(
    [
        *("kind", "discipline", "distribution", "sigma", "half-width", "offsets", "file", "probability", "correlation"),
        *("by", "every", "pattern", "repeat", "points", "at", "rate", "delay", "loss", "queue", "limit", "target"),
        *("transitions", "start", "duration", "hold", "sleeps", "after", "wake", "buffer", "udp", "frame-error"),
        *("p13", "1-h", "good", "bad"),
    ]
)
SCALARS = WORDS | st.text(max_size=8) | st.integers(-(2**70), 2**70) | st.booleans() | st.floats()
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(INNER, inner, max_size=4), max_leaves=8
)
LINKS = st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=5), VALUES, max_size=5)


@settings(max_examples=400, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(LINKS)
def test_any_link_is_read_or_refused_with_its_place(tmp_path: Path, link: dict[str, Any]) -> None:
    check(tmp_path, BASE.replace('[links.wire]\nrtt = "20 ms"\n', f"[links]\nwire = {toml(link)}\n"))


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(KEYS) | INNER, min_size=1, max_size=4), st.lists(VALUES, min_size=1, max_size=2))
def test_any_level_is_read_or_refused_with_its_place(tmp_path: Path, path: list[str], levels: list[Any]) -> None:
    factor = f"{toml('.'.join(['link', *path]))} = {toml(levels)}\n"
    check(tmp_path, BASE.replace("[links.wire]", f"{factor}[links.wire]"))


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=30) | st.text(alphabet="0123456789\n ", max_size=30))
def test_any_trace_is_read_or_refused_with_its_place(tmp_path: Path, text: str) -> None:
    (tmp_path / "any.trace").write_bytes(text.encode("utf-8", "surrogatepass"))
    for key in ('trace = "any.trace"', 'loss-pattern = { file = "any.trace" }', 'schedule = { file = "any.trace" }'):
        check(tmp_path, BASE.replace('rtt = "20 ms"', f'{key}\nqueue = "1 kB"' if "loss" not in key else key))


@pytest.mark.parametrize("text", ["[" * 5000, "x = " + "[" * 5000, f"x = {'9' * 5000}", "x = 1e999"])
def test_a_text_that_toml_cannot_parse_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(WirelabError):
        load_experiment(str(write(tmp_path, text)), (), KNOWN)


def check(folder: Path, text: str) -> None:
    try:
        load_experiment(str(write(folder, text)), (), KNOWN)
    except WirelabError as error:
        assert str(error).startswith(str(folder))


def write(folder: Path, text: str) -> Path:
    file = folder / "test.toml"
    file.write_text(text, encoding="utf-8", errors="replace")
    return file


def toml(value: Any) -> str:
    """A value as TOML has it."""
    match value:
        case bool():
            return str(value).lower()
        case int():
            return str(value)
        case float():
            return (
                "nan"
                if math.isnan(value)
                else f"{'-' if value < 0 else ''}inf"
                if math.isinf(value)
                else f"{value:.17e}"
            )
        case list():
            return f"[{', '.join(map(toml, value))}]"
        case dict():
            return f"{{ {', '.join(f'{toml(key)} = {toml(inner)}' for key, inner in value.items())} }}"
    return '"' + "".join(f"\\U{ord(sign):08x}" if not sign.isalnum() else sign for sign in value) + '"'
