import tomllib
from pathlib import Path

import pytest

from wirelab_energy.errors import Where, WirelabError
from wirelab_energy.toml import parse_toml, read_text


def test_a_missing_key_is_an_error_with_its_place(tmp_path: Path) -> None:
    with pytest.raises(WirelabError) as caught:
        read_text(tmp_path / "no", Where("no"))
    assert str(caught.value) == "no: cannot be read: No such file or directory"


def test_a_document_is_read_as_tomllib_reads_it() -> None:
    assert parse_toml("a = 1\n", Where("x")) == tomllib.loads("a = 1")
