"""`choose.json`, read back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.report.choose.made_up import RECORD
from wirelab.errors import WirelabError
from wirelab.schema.choose import CHOSEN, CHOSEN_VERSION, read_chosen


def written(folder: Path, **changes: Any) -> Path:
    path = folder / CHOSEN
    path.write_text(json.dumps({**RECORD, **changes}), encoding="utf-8")
    return path


def test_a_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    assert read_chosen(written(tmp_path)) == RECORD


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"schema_version": CHOSEN_VERSION + 1}, str(CHOSEN_VERSION + 1)),
        ({"first": 7}, "first"),
        ({"criterion": "taste"}, "criterion"),
        ({"choices": [{"name": "coaps, new"}]}, "choices"),
    ],
)
def test_another_version_and_damage_are_one_error_with_a_cure(
    changes: dict[str, Any], words: str, tmp_path: Path
) -> None:
    with pytest.raises(WirelabError, match=words) as caught:
        read_chosen(written(tmp_path, **changes))
    assert CHOSEN in str(caught.value)
    assert caught.value.hint is not None
    assert "wirelab choose" in caught.value.hint
