"""Whatever is in a file, a trace comes of it or an error in words."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wirelab_energy.errors import Where, WirelabError
from wirelab_energy.trace import find_idle, read_trace, work

CELLS = st.one_of(
    st.floats().map(str),
    st.integers().map(str),
    st.sampled_from(
        ["", "-", "1e999", "2026-03-01T12:00:00", "9999-12-31T23:59:59", "0001-01-01T00:00:00", '"', "1,5"]
    ),
    st.text(max_size=5),
)
HEADERS = st.sampled_from(
    [
        "time (s),power (W)",
        "Timestamp(ms),Current(uA)",
        '"Wall-clock time (UTC)","Arc Main Current (A)"',
        "time (s),power",
        "time (s);current (mA);voltage (V)",
        '"time (s),power (W)',
        "protocol: 4\nschema: 1 m timestamp_s:uint32 power:double\n",
    ]
)


@st.composite
def files(draw: st.DrawFn) -> bytes:
    """A table under a header, with anything in its cells; or any bytes."""
    if draw(st.integers(0, 4)) == 0:
        return draw(st.binary(max_size=200))
    separator = draw(st.sampled_from([",", ";", "\t"]))
    rows = draw(st.lists(st.lists(CELLS, min_size=1, max_size=6), max_size=8))
    lines = [draw(HEADERS), *(separator.join(row) for row in rows)]
    return "\n".join(lines).encode(errors="surrogatepass")


@given(content=files(), voltage=st.sampled_from([None, 3.0]))
@settings(deadline=None)
def test_any_file_is_a_trace_in_order_or_is_refused(
    content: bytes, voltage: float | None, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path: Path = tmp_path_factory.getbasetemp() / "any.csv"
    path.write_bytes(content)
    try:
        trace = read_trace(path, voltage)
    except WirelabError as error:
        assert error.what
        return
    assert len(trace.times_s) == len(trace.watts) >= 2
    assert all(math.isfinite(each) for each in (*trace.times_s, *trace.watts))
    assert all(trace.times_s[1:] >= trace.times_s[:-1])


@given(
    watts=st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=300),
    gap=st.floats(0, 1e4),
)
@settings(deadline=None)
def test_any_trace_has_an_idle_section_or_is_refused_and_its_work_is_a_number(
    watts: list[float], gap: float, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path: Path = tmp_path_factory.getbasetemp() / "made.csv"
    half = len(watts) // 2
    rows = [f"{at + (gap if at > half else 0)!r},{each!r}" for at, each in enumerate(watts)]
    path.write_text("\n".join(["time (s),power (W)", *rows]))
    trace = read_trace(path)
    try:
        idle = find_idle(trace, Where("made.csv"))
    except WirelabError:
        return
    assert trace.start_s <= idle.from_s < idle.to_s <= trace.end_s
    done = work(trace, idle, trace.start_s, trace.end_s)
    above = done.above_idle_j
    assert above.low <= above.typical <= above.high
    assert 0 <= done.missing_s <= trace.duration_s
