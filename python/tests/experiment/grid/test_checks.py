"""What keeps a scenario from being run although each part of it is right."""

from pathlib import Path

import pytest

from tests.asked import load_experiment
from wirelab.errors import WirelabError

HEAD = 'title = "t"\noffloads = true\n[factors]\nprotocol = ["http1"]\n[link]\n'


def written(tmp_path: Path, link: str) -> str:
    path = tmp_path / "mine.toml"
    path.write_text(HEAD + link + "\n", encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    ("link", "named"),
    [
        ('backend = "netem"', "netem"),
        ('mtu = "1280 B"', "mtu"),
        ('corrupt = "1 %"', "corrupt"),
        ('rate = "1 Mbit/s"\nburst = "10 kB"\nqueue = "64 kB"', "token-bucket"),
        ('profile = "wifi-good"', "medium"),
    ],
)
def test_offloads_are_refused_on_links_that_need_packets_as_on_the_wire(link: str, named: str, tmp_path: Path) -> None:
    with pytest.raises(WirelabError, match=f"has {named}, but with offloads") as refused:
        load_experiment(written(tmp_path, link))
    assert "offloads = false" in str(refused.value.hint)


@pytest.mark.parametrize("link", ['rtt = "20 ms"', 'loss = "1 %"', 'profile = "ethernet-100m"'])
def test_offloads_are_allowed_with_delay_loss_and_rate(link: str, tmp_path: Path) -> None:
    assert load_experiment(written(tmp_path, link)).offloads
