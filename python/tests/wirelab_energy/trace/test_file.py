"""Meters' files as they export them, and what is refused of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from wirelab_energy.errors import WirelabError
from wirelab_energy.trace import Trace, read_trace

# FIT IoT-LAB's tutorial on consumption monitoring prints this one.
OML = """protocol: 4
domain: 1621
start-time: 1379945917
sender-id: m3-3
app-name: control_node_measures
schema: 0 _experiment_metadata subject:string key:string value:string
schema: 1 control_node_measures_consumption timestamp_s:uint64 timestamp_us:uint32 power:double voltage:double \
current:double
content: text

1.2\t0\t1\t.\tkey\tvalue
1.341009\t1\t1\t1379945918\t303436\t0.053461\t3.272500\t0.016347
1.341392\t1\t2\t1379945918\t307892\t0.053232\t3.273750\t0.016270
1.341448\t1\t3\t1379945918\t312317\t0.053384\t3.272500\t0.016322
"""


def read(folder: Path, text: str, voltage_v: float | None = None) -> Trace:
    path = folder / "power.csv"
    path.write_text(text)
    return read_trace(path, voltage_v)


def refused(folder: Path, text: str, voltage_v: float | None = None) -> str:
    with pytest.raises(WirelabError) as error:
        read(folder, text, voltage_v)
    return str(error.value).replace(str(folder), "")


def test_power_profilers_export_takes_its_voltage_from_outside(tmp_path: Path) -> None:
    for header, rest in (("Timestamp(ms),Current(uA)", ""), ("Timestamp(ms),Current(uA),D0-D7", ",00000000")):
        text = f"{header}\n0,1000{rest}\n0.01,2000{rest}\n0.02,-1{rest}\n"
        trace = read(tmp_path, text, 3.0)
        assert trace.times_s == pytest.approx([0, 1e-5, 2e-5])
        assert trace.watts == pytest.approx([3e-3, 6e-3, -3e-6])
        assert not trace.since_1970
        assert refused(tmp_path, text).startswith("/power.csv: has a current and no voltage\nhint: --voltage")


def test_otiis_export_has_its_voltage_and_its_clock(tmp_path: Path) -> None:
    text = (
        '"Wall-clock time (UTC)","Arc Main Current (A)","Arc Main Voltage (V)","Arc Main Energy (J)"\n'
        '"2026-03-01T12:00:00.000Z","0.01","3.3","0"\n"2026-03-01 12:00:00.250","0.02","3.0","0.01"\n'
    )
    trace = read(tmp_path, text)
    assert trace.watts == pytest.approx([0.033, 0.06])
    assert (trace.start_s, trace.duration_s, trace.since_1970) == (1772366400.0, pytest.approx(0.25), True)
    assert read(tmp_path, text, 2.0).watts == pytest.approx([0.02, 0.04])
    relative = read(tmp_path, '"Timestamp (S)","File Main Current (mA)"\n"0","10"\n"0.5","20"\n', 3.0)
    assert (relative.watts[1], relative.since_1970) == (pytest.approx(0.06), False)


def test_iot_labs_files_are_read_as_they_are(tmp_path: Path) -> None:
    trace = read(tmp_path, OML)
    assert trace.watts == pytest.approx([0.053461, 0.053232, 0.053384])
    assert np.diff(trace.times_s) == pytest.approx([4456e-6, 4425e-6], abs=1e-6)
    assert (int(trace.start_s), trace.since_1970) == (1379945918, True)


def test_plain_columns_are_recognized_by_their_names_and_units(tmp_path: Path) -> None:
    assert read(tmp_path, "time (s);power (mW)\n1;500\n2;700\n").watts == pytest.approx([0.5, 0.7])
    assert read(
        tmp_path, "voltage [mV]\ttime [us]\tcurrent [mA]\n5000\t0\t100\n5000\t10\t200\n"
    ).watts == pytest.approx([0.5, 1.0])
    assert read(tmp_path, "\ufefftime (s),power (W)\n1700000000.5,1\n1700000001.5,1\n").since_1970


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "/power.csv: is empty"),
        ("time (s),power (W)\n", "/power.csv: has 0 samples"),
        ("time (s),power (W)\n1,2\n", "/power.csv: has 1 samples"),
        ("a,b\n1,2\n", "/power.csv: is not a trace of power: its first line is 'a,b'"),
        ("[" * 100_000, "/power.csv: is not a trace of power: its first line is '[[["),
        ("time,power (W)\n1,2\n2,3\n", "/power.csv: column 'time' has no unit"),
        ("time (h),power (W)\n1,2\n2,3\n", "/power.csv: column 'time (h)' has unknown unit 'h'"),
        ("time (s),power (mA)\n1,2\n2,3\n", "/power.csv: column 'power (mA)' has unknown unit 'mA'"),
        ("time (s),power (W)\n1,2\n2,x\n", "/power.csv:3: power: is not a number ('x')"),
        ("time (s),power (W)\n1,2\n2,\n3,1\n", "/power.csv:3: power: is missing"),
        ("time (s),power (W)\n1,2\n2,nan\n", "/power.csv:3: power: is not a number ('nan')"),
        ("time (s),power (W)\n1,2\n3,2\n2,2\n", "/power.csv:4: time goes back from 3 s to 2 s"),
        ("time (s),power (W)\n1,2\n1,3\n", "/power.csv: all 2 samples are of one instant"),
        ("time (s),power (W)\n1,2\n2,-2e9\n", "/power.csv: has a power of 2e+09 W"),
        ("time (UTC),power (W)\n1,2\n2,2\n", "/power.csv: '1' is not a time"),
        ("protocol: 4\nschema: 1 radio rssi:int32\n\n", "/power.csv: has no schema with timestamp_s and power"),
        ("protocol: 4\nschema: 1\nschema:\n\n", "/power.csv: has no schema with timestamp_s and power"),
    ],
)  # fmt: skip
def test_what_is_no_trace_is_refused_where_it_is_wrong(tmp_path: Path, text: str, expected: str) -> None:
    assert refused(tmp_path, text).startswith(expected)


def test_the_line_of_a_wrong_row_of_oml_is_its_own(tmp_path: Path) -> None:
    back = OML.replace("1379945918\t312317", "1379945917\t312317")
    assert refused(tmp_path, back).startswith("/power.csv:13: time goes back from 1379945918.")
    assert refused(tmp_path, OML.replace("0.053232", "?")).startswith("/power.csv:12: power: is not a number ('?')")


def test_a_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(WirelabError, match="no such file"):
        read_trace(tmp_path / "none.csv")
