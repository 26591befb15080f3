from pathlib import Path

import pytest

from wirelab.errors import WirelabError
from wirelab.experiment.library import find_profile, is_profile_file, profile_file, profiles

LINK = '[link]\nrtt = "20 ms"\n'


def test_a_profile_is_named_by_its_file_relative_to_a_folder(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(f'title = "Mine"\n{LINK}[sources]\nrtt = "my desk"\n')
    profile = find_profile("./mine.toml", tmp_path)
    assert (profile.name, profile.title, profile.link, profile.sources) == (
        "mine", "Mine", {"rtt": "20 ms"}, {"rtt": "my desk"},
    )  # fmt: skip


def test_a_link_alone_is_a_profile(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(LINK)
    profile = profile_file(tmp_path / "mine.toml")
    assert (profile.title, profile.about, profile.sources) == ("mine", "", {})


def test_names_without_a_path_are_shipped_links(tmp_path: Path) -> None:
    assert find_profile("starlink", tmp_path) == profiles()["starlink"]
    assert [is_profile_file(name) for name in ("starlink", "mine.toml", "../mine")] == [False, True, True]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('title = "Mine"\n', "is not a link profile: it has no [link]\nhint: wirelab link fit FILE writes one"),
        (
            f"{LINK}[source]\n",
            "unknown key 'source'\nhint: did you mean 'sources'? (known: about, grants, link, ranges, sources, title)",
        ),
        ("link = 5\n", ": link: should be a table"),
        (f'{LINK}[ranges]\nrtt = ["1 s"]\n', ": ranges.rtt: should be the least and the most, two strings"),
        (f"title = 5\n{LINK}", ": title: should be a string"),
        ("[link\n", "is not TOML: "),
    ],
)
def test_an_invalid_profile_is_refused_with_the_reason(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(WirelabError) as error:
        profile_file(path)
    assert str(error.value).startswith(str(path))
    assert message in str(error.value)


def test_a_missing_file_is_refused_with_the_nearest(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(LINK)
    with pytest.raises(WirelabError, match=r"no such file\nhint: did you mean 'mine.toml'\?"):
        profile_file(tmp_path / "min.toml")
