"""A profile of the user's own, named by its file."""

from pathlib import Path

import pytest

from tests.described import BASE, load
from wirelab.errors import WirelabError
from wirelab.schema import Delay, Loss

MINE = BASE.replace('rtt = "20 ms"', 'profile = "./mine.toml"')


def test_the_links_own_keys_override_its_profile(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text('[link]\nrtt = "20 ms"\nloss = "10 %"\n')
    link = load(tmp_path, MINE.replace("[workload]", 'delay = "1 ms"\n[workload]')).scenarios[0].link
    assert link.uplink == (Loss(probability=0.1), Delay(delay_ns=1_000_000))


def test_a_users_profile_can_be_a_level(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text('[link]\nrtt = "20 ms"\n')
    experiment = load(tmp_path, BASE.replace('rtt = "20 ms"\n', ""), "link.profile=./mine.toml,starlink")
    assert {scenario.link.uplink for scenario in experiment.scenarios} == {
        (Delay(delay_ns=10_000_000),), (Delay(delay_ns=25_000_000),),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('[link]\nrtt = "20"\n', './mine.toml: link.rtt: has no unit ("20")'),
        ('[link]\nuplink = { rrt = "20 ms" }\n', './mine.toml: link.uplink.rrt: unknown key ("20 ms")'),
        (
            '[link]\nloss = "1 %"\nloss-pattern = { every = 3 }\n',
            "./mine.toml: link.loss-pattern: loss and loss-pattern exclude one another",
        ),
        ("[link\n", "mine.toml: is not TOML"),
        (f"x = {'9' * 5000}\n", "mine.toml: is not TOML: Exceeds the limit"),
    ],
)
def test_an_error_in_a_users_profile_is_reported_with_its_file(text: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(text)
    with pytest.raises(WirelabError) as error:
        load(tmp_path, MINE)
    assert says in str(error.value)


def test_a_missing_profile_is_reported_at_the_key(tmp_path: Path) -> None:
    (tmp_path / "mine.tml.toml").touch()
    with pytest.raises(WirelabError, match=r'test\.toml:5:1: links\.wire\.profile: no such file \("\./mine\.toml"\)'):
        load(tmp_path, MINE)
