from pathlib import Path

import pytest

from tests.asked import ask, single_link
from wirelab.errors import WirelabError
from wirelab.experiment.library import profiles
from wirelab.experiment.link import LinkTable, link_spec, merge
from wirelab.schema import Delay, DeliveryTrace, LinkSpec, Loss, NormalJitter


def test_the_profile_clean_has_no_effects() -> None:
    assert single_link("clean") == LinkSpec(uplink=(), downlink=())


@pytest.mark.parametrize("name", profiles())
def test_a_shipped_link_is_the_same_in_an_experiment(name: str) -> None:
    assert single_link(name) == link_spec(LinkTable.model_validate(merge([profiles()[name].link])), ask)


def test_a_table_is_written_as_in_an_experiment() -> None:
    link = single_link('{ rtt = "50 ms", uplink = { loss = "1 %" } }')
    assert link.uplink == (Loss(probability=0.01), Delay(delay_ns=25_000_000))
    assert link.downlink == (Delay(delay_ns=25_000_000),)


def test_a_table_may_begin_with_a_profile() -> None:
    changed = single_link('{ profile = "nb-iot", nat = "none" }')
    assert changed.nat is None
    assert changed.radio == single_link("nb-iot").radio is not None


def test_each_set_overrides_the_earlier_ones() -> None:
    link = single_link("clean", ["rtt=50ms", "jitter=normal 5 ms", "rtt = 80ms", "link.uplink.loss=1%"])
    delay = Delay(delay_ns=40_000_000, jitter=NormalJitter(sigma_ns=5_000_000))
    assert link.uplink == (Loss(probability=0.01), delay)
    assert link.downlink == (delay,)


def test_a_users_profile_names_files_next_to_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "home.trace").write_text("10\n20\n")
    (tmp_path / "mine" / "home.toml").write_text('[link]\ntrace = "home.trace"\nqueue = "64 kB"\n')
    monkeypatch.chdir(tmp_path)
    stage = single_link("mine/home.toml").uplink[0]
    assert isinstance(stage, DeliveryTrace)
    assert stage.opportunities_ms == (10, 20)


@pytest.mark.parametrize(
    ("word", "sets", "said"),
    [
        ("nbiot", [], "error: unknown link 'nbiot'\nhint: did you mean 'nb-iot'?"),
        ("fti", [], "error: unknown link 'fti'\nhint: did you mean 'fit'?"),
        ("./none.toml", [], "none.toml: no such file"),
        ("{ rtt = ", [], "LINK: is not a table: invalid value (\"{ rtt = \")\nhint: such as { rtt = \"50 ms\" }"),
        ("{ rrt = '5 ms' }", [], "LINK: rrt: unknown key (\"5 ms\")\nhint: did you mean 'rtt'?"),
        ("{ rtt = '5 ms', delay = '1 ms' }", [], "LINK: delay: rtt and delay exclude one another"),
        ("clean", ["rtt"], "--set: not KEY=VALUE (rtt)\nhint: such as --set rtt=50ms"),
        ("clean", ["rtt=1ms,2ms"], "--set: rtt: needs one value, not 2\nhint: an experiment takes several"),
        (
            "clean",
            ["order=rate,delay"],
            "--set: order: needs one value, not 2\n"
            """hint: a list needs brackets: --set 'order=["rate", "delay"]'""",
        ),
        ("nb-iot", ["signal=-70dBm"], "--set: signal: signal needs a technology and a medium of kind wifi"),
        ("wifi-n", ["signal=70dBm"], "--set: signal: is not a signal that a radio receives"),
        ("clean", ["radio.buffer=1kB"], "--set: radio.sleeps: is missing"),
        ("clean", ["rrt=5ms"], "--set: rrt: unknown key (\"5ms\")\nhint: did you mean 'rtt'?"),
        ("nb-iot", ["uplink.loss=2"], "--set: uplink.loss: has no unit (2)"),
    ],
)  # fmt: skip
def test_wrong_input_is_one_clear_error(word: str, sets: list[str], said: str) -> None:
    with pytest.raises(WirelabError) as caught:
        single_link(word, sets, ["fit"])
    assert str(caught.value) == said or str(caught.value).startswith(f"{said}\n")
