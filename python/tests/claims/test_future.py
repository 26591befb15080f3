"""Future work of a publication: a line has what was found or why nothing was."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.claims.grids import FILE, LATE
from wirelab.claims.interpretations import digest
from wirelab.claims.load import load
from wirelab.errors import CombinedError

FUTURE = '[[future]]\ntext = "power"\n'
SHIPPED = Path(__file__).parents[2] / "wirelab" / "data" / "experiments"


def test_a_line_says_what_was_found_or_why_nothing_was(tmp_path: Path) -> None:
    path = tmp_path / "x.claims.toml"
    for more, known in (('found = "2 J"\n', ("2 J", None)), ('not-yet = "no radio"\n', (None, "no radio"))):
        path.write_text(FILE + FUTURE + more)
        [line] = load(path).file.future
        assert (line.found, line.not_yet) == known
    for more in ("", 'found = "2 J"\nnot-yet = "no radio"\n'):
        path.write_text(FILE + FUTURE + more)
        with pytest.raises(CombinedError, match="needs either `found` or `not-yet`"):
            load(path)
    digest_ = f'digest = "{"0" * 64}"\n'
    for more in (f'found = "2 J"\n{digest_}', 'not-yet = "no radio"\nrun = "x"\n'):
        path.write_text(FILE + FUTURE + more)
        with pytest.raises(CombinedError, match="`digest` needs `run`, and `run` needs `found`"):
            load(path)
    path.write_text(f'{FILE}{FUTURE}found = "2 J"\nrun = "sensor-month"\ndigest = "abc"\n')
    with pytest.raises(CombinedError, match=r"should be 64 hexadecimal digits \(\"abc\"\)"):
        load(path)
    path.write_text(f'{FILE}{FUTURE}found = "2 J"\nrun = "sensor-mnth --clock virtual"\n')
    with pytest.raises(
        CombinedError, match=r"no such experiment \(\"sensor-mnth\"\)\nhint: did you mean 'sensor-month'"
    ):
        load(path, to_run=True)
    path.write_text(f'{FILE}{FUTURE}found = "2 J"\nrun = "sensor-month"\n{digest_}')
    assert load(path).file.future[0].run == "sensor-month"


def test_it_stands_outside_the_digest(tmp_path: Path) -> None:
    path = tmp_path / "x.claims.toml"
    path.write_text(FILE)
    before = digest(load(path).file, LATE)
    path.write_text(FILE + FUTURE + 'found = "2 J"\n')
    assert digest(load(path).file, LATE) == before


@pytest.mark.parametrize("name", ["elmangoush2017", "h2window2017", "londono2016", "milosevic2021"])
def test_each_paper_that_names_future_work_has_it(name: str) -> None:
    assert load(SHIPPED / f"{name}.claims.toml").file.future
