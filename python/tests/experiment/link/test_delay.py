from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from wirelab.experiment.link import LinkTable
from wirelab.experiment.link.delay import MAX_QUANTILES
from wirelab.experiment.link.files import Files
from wirelab.schema import JitterSpec, NormalJitter, ParetoJitter, ParetoNormalJitter, TableJitter, UniformJitter

MS = 1_000_000


def jitter(written: object, folder: Path = Path()) -> JitterSpec | None:
    return LinkTable.model_validate({"jitter": written}, context=Files(folder)).jitter


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("normal 5 ms", NormalJitter(sigma_ns=5_000_000)),
        ("uniform 5ms", UniformJitter(half_width_ns=5_000_000)),
        ("pareto 5 ms", ParetoJitter(sigma_ns=5_000_000)),
        ("pareto-normal 5 ms", ParetoNormalJitter(sigma_ns=5_000_000)),
        ({"distribution": "normal", "sigma": "5 ms"}, NormalJitter(sigma_ns=5_000_000)),
        ({"distribution": "uniform", "half-width": "5 ms"}, UniformJitter(half_width_ns=5_000_000)),
        ({"distribution": "pareto", "sigma": "5 ms"}, ParetoJitter(sigma_ns=5_000_000)),
        ({"distribution": "pareto-normal", "sigma": "5 ms"}, ParetoNormalJitter(sigma_ns=5_000_000)),
        ({"distribution": "table", "offsets": ["-1 ms", "0 ms", "2 ms"]}, TableJitter(offsets_ns=(-MS, 0, 2 * MS))),
        ("none", None),
    ],
)  # fmt: skip
def test_jitter_is_a_distribution_and_its_spread(written: object, meant: JitterSpec | None) -> None:
    assert jitter(written) == meant


def test_a_file_of_delays_becomes_quantiles_around_their_mean(tmp_path: Path) -> None:
    (tmp_path / "delays.txt").write_text("30 ms\n10 ms\n20 ms\n")
    table = {"distribution": "table", "file": "delays.txt"}
    assert jitter(table, tmp_path) == TableJitter(offsets_ns=(-10_000_000, 0, 10_000_000))


def test_the_mean_of_a_skewed_file_is_that_of_its_draws(tmp_path: Path) -> None:
    (tmp_path / "delays.txt").write_text("delay_ms\n10\n10\n10\n50\n")
    found = jitter({"distribution": "table", "file": "delays.txt"}, tmp_path)
    assert isinstance(found, TableJitter)
    low, *inner, high = found.offsets_ns
    assert low / 2 + sum(inner) + high / 2 == pytest.approx(0, abs=3)


def test_a_long_file_keeps_its_ends_and_its_middle(tmp_path: Path) -> None:
    (tmp_path / "delays.txt").write_text("delay_us\n" + "\n".join(map(str, range(100_001))))
    found = jitter({"distribution": "table", "file": "delays.txt"}, tmp_path)
    assert isinstance(found, TableJitter)
    assert len(found.offsets_ns) == MAX_QUANTILES
    assert [found.offsets_ns[index] for index in (0, MAX_QUANTILES // 2, -1)] == [-50 * MS, 0, 50 * MS]


@pytest.mark.parametrize(
    "written",
    [
        "gamma 5 ms", "normal", "pareto 5", 5, [], {}, {"distribution": "gamma"},
        {"distribution": "table"},
        {"distribution": "table", "offsets": ["1 ms"]},
        {"distribution": "table", "offsets": ["1 ms", "0 ms"]},
        {"distribution": "table", "offsets": [1, 2]},
        {"distribution": "table", "offsets": ["0 ms", "1 ms"], "file": "delays.txt"},
        {"distribution": "normal", "sigma": "5 ms", "half-width": "5 ms"},
    ],
)  # fmt: skip
def test_an_invalid_jitter_is_refused(written: object) -> None:
    with pytest.raises(ValidationError):
        jitter(written)


@pytest.mark.parametrize("written", ["101 %", 0.1, {"correlation": "1 %"}, {"probability": "1 %", "burst": 1}, []])
def test_an_invalid_probability_is_refused(written: Any) -> None:
    for key in ("duplicate", "corrupt"):
        with pytest.raises(ValidationError):
            LinkTable.model_validate({key: written})
