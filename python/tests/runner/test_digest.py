from __future__ import annotations

from pathlib import Path

from wirelab.runner.digest import campaign_digest, trial_digests


def campaign(folder: Path, packets: bytes = b"packets") -> Path:
    for trial in ("b-0000", "a-0000"):
        place = folder / "trials" / trial / "client"
        place.mkdir(parents=True)
        (place.parent / "packets.wlpl").write_bytes(packets)
        (place / "parameters.json").write_text("{}")
    return folder


def test_the_same_records_have_the_same_digest_in_any_folder_and_order(tmp_path: Path) -> None:
    one, other = campaign(tmp_path / "one"), campaign(tmp_path / "another-folder")
    assert campaign_digest(one, ["a-0000", "b-0000"]) == campaign_digest(other, ["b-0000", "a-0000"])
    assert campaign_digest(one, ["a-0000"]) != campaign_digest(one, ["a-0000", "b-0000"])


def test_one_other_byte_makes_another_digest_and_its_file_is_known(tmp_path: Path) -> None:
    one, other = campaign(tmp_path / "one"), campaign(tmp_path / "other", b"packetz")
    assert campaign_digest(one, ["a-0000"]) != campaign_digest(other, ["a-0000"])
    first, second = trial_digests(one, "a-0000"), trial_digests(other, "a-0000")
    assert list(first) == ["client/parameters.json", "packets.wlpl"]
    assert [name for name in first if first[name] != second[name]] == ["packets.wlpl"]
