import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from tests.asked import ask, load_experiment
from wirelab import data
from wirelab.cli.describe.citations import split_mark
from wirelab.experiment.library import profiles, signal_tables
from wirelab.experiment.link import LinkTable, check_conflicts, link_spec, merge
from wirelab.schema import Delay, LinkSpec, Rate, Wifi
from wirelab.units import UnitError, duration_ns, level_dbm, rate_bps, share, size_bytes

FOLDER = Path(data.__path__[0]) / "profiles" / "links"
NAMES = sorted(profiles())
QUANTITY = re.compile(r"-?\d+(?:\.\d+)? (?:[kMG]?bit/s|[mu]?s|min|%|dBm|[kM]?B)(?![a-z/])")
READERS = (duration_ns, size_bytes, rate_bps, share, level_dbm)


def quantity(text: str) -> tuple[str, float] | None:
    """What a text means, whichever way it is written; None for what is no quantity."""
    for read in READERS:
        try:
            return read.__name__, float(read(text))
        except UnitError:
            continue
    return None


def resolved(name: str) -> LinkSpec:
    return link_spec(LinkTable.model_validate(merge([profiles()[name].link])), ask)


@pytest.mark.parametrize("name", NAMES)
def test_a_profile_can_be_chosen_on_the_command_line(name: str) -> None:
    experiment = load_experiment("quickstart", [f"link={name}"])
    assert {scenario.link for scenario in experiment.scenarios} == {resolved(name)}


def test_every_file_is_a_profile() -> None:
    assert sorted(path.name for path in FOLDER.iterdir()) == sorted(f"{name}.toml" for name in NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_profile_is_a_link(name: str) -> None:
    check_conflicts(profiles()[name].link)
    link = resolved(name)
    assert link.uplink or link.downlink or link.medium


@pytest.mark.parametrize("name", NAMES)
def test_each_value_has_a_source_and_each_source_a_value(name: str) -> None:
    profile = profiles()[name]
    granted = {"grants"} if profile.grants else set()
    assert set(profile.sources) == {path for path, _ in profile.values()} | granted


def test_what_an_operator_grants_instead_is_a_link_that_ships() -> None:
    assert {name for name in NAMES if profiles()[name].grants} == {
        "nb-iot-psm",
        "nb-iot-edrx",
        "lte-m-psm",
        "lte-m-edrx",
    }
    assert all(link in NAMES for name in NAMES for link in profiles()[name].grants)


@pytest.mark.parametrize("name", NAMES)
def test_a_value_lies_within_its_range(name: str) -> None:
    values = dict(profiles()[name].values())
    for path, (least, most) in profiles()[name].ranges.items():
        assert duration_ns(least) <= duration_ns(values[path]) <= duration_ns(most), path


def test_every_cellular_link_has_a_nat_with_ranges() -> None:
    cellular = [name for name in NAMES if re.match(r"[34]g-|lte-m|nb-iot", name)]
    assert len(cellular) == 15
    for name in cellular:
        assert set(profiles()[name].ranges) == {"nat.udp", "nat.tcp"}, name


@pytest.mark.parametrize("name", NAMES)
def test_a_source_names_a_place_to_look_up(name: str) -> None:
    for path, source in profiles()[name].sources.items():
        assert split_mark(source)[1].strip(" .:"), path
        assert source == source.strip()
        assert not re.match(r"(?i)(second.?hand|assumed)(?!: \S)", source), f"{path}: write the mark as the others do"


@pytest.mark.parametrize("name", NAMES)
def test_a_back_reference_refers_to_a_source(name: str) -> None:
    last = ""
    for path, source in profiles()[name].sources.items():
        mark, text = split_mark(source)
        if re.match(r"the same\b[,:;]?", text) and not re.match(r"the same \w", text):
            assert last not in ("", "assumed"), path
            assert mark in ("", last), path
        else:
            last = mark or "original"


@pytest.mark.parametrize("name", NAMES)
def test_a_title_names_no_quantity_that_the_link_does_not_have(name: str) -> None:
    profile = profiles()[name]
    had = {quantity(found) for _, value in profile.values() for found in QUANTITY.findall(str(value))}
    reported = [found for found in QUANTITY.findall(profile.title) if found not in spoken_of(profile.title)]
    assert {found for found in reported if quantity(found) not in had} == set()


def spoken_of(title: str) -> Iterable[str]:
    """What a title quotes rather than states: what follows "as"."""
    return QUANTITY.findall(title.partition(", as ")[2])


@pytest.mark.parametrize("name", NAMES)
def test_round_trips_and_rates_in_a_title_are_those_of_the_link(name: str) -> None:
    title, link = profiles()[name].title, resolved(name)
    if found := re.search(r"([\d.]+ m?s) round trip", title):
        assert _delay(link.uplink) + _delay(link.downlink) == duration_ns(found[1])
    if found := re.search(r"([\d.]+ m?s) each way", title):
        assert {_delay(link.uplink), _delay(link.downlink)} == {duration_ns(found[1])}
    for way, chain in (("up", link.uplink), ("down", link.downlink)):
        if found := re.search(rf"([\d.]+ [kMG]?bit/s) {way}\b", title):
            assert _rates(chain) == [rate_bps(found[1])]
    if found := re.search(r"([\d.]+ [kMG]?bit/s) each way", title):
        assert _rates(link.uplink) == _rates(link.downlink) == [rate_bps(found[1])]


@pytest.mark.parametrize("name", NAMES)
def test_titles_fit_one_line(name: str) -> None:
    assert len(profiles()[name].title) + max(map(len, NAMES)) <= 118


def test_a_queue_called_a_bandwidth_delay_product_is_one() -> None:
    checked = 0
    for name in NAMES:
        link = resolved(name)
        sources = profiles()[name].sources
        for way, chain in (("uplink", link.uplink), ("downlink", link.downlink)):
            if "one bandwidth-delay product" not in sources.get(f"{way}.queue", ""):
                continue
            rate = next(stage for stage in chain if isinstance(stage, Rate))
            product = rate.rate_bps / 8 * (_delay(link.uplink) + _delay(link.downlink)) / 1e9
            assert rate.queue.to_json()["bytes"] == pytest.approx(product, rel=0.04), name
            checked += 1
    assert checked > 10


@pytest.mark.parametrize(("name", "slots"), [("wifi-g", 2), ("wifi-poor", 2), ("wifi-n", 3), ("wifi-good", 3)])
def test_a_station_of_wifi_waits_sifs_and_the_slots_of_its_kind(name: str, slots: int) -> None:
    medium = resolved(name).medium
    assert isinstance(medium, Wifi)
    assert medium.difs_ns == medium.sifs_ns + slots * medium.slot_ns


def test_acks_of_the_wifi_profiles_are_those_of_the_signal_maps() -> None:
    for name, technology, rate in (("wifi-g", "802.11g", 54), ("wifi-n", "802.11n", 65), ("wifi-poor", "802.11g", 12)):
        (row,) = (row for row in signal_tables()[technology]["rates"] if row["rate"] == f"{rate} Mbit/s")
        assert dict(profiles()[name].values())["medium.ack"] == row["ack"]


def test_a_good_signal_is_the_fast_link_without_frame_errors() -> None:
    assert resolved("wifi-good") == resolved("wifi-n")


def test_long_loss_of_the_cellular_profiles_is_what_they_say() -> None:
    for name in ("good", "median", "poor"):
        profile = profiles()[f"cellular-loss-{name}"]
        (stage,) = resolved(profile.name).uplink
        chain = stage.to_json()
        loss = chain["bad_ns"] * chain["bad_loss"] / (chain["bad_ns"] + chain["good_ns"])
        said = re.search(r"([\d.]+) % in the long run", profile.about)
        assert said is not None
        assert float(said[1]) == pytest.approx(100 * loss, abs=0.05)


@pytest.mark.parametrize("technology", sorted(signal_tables()))
def test_every_number_of_a_signal_map_has_its_source(technology: str) -> None:
    table = signal_tables()[technology]
    columns = {f"rates.{key}" for row in table["rates"] for key in row}
    assert set(table["sources"]) == {"frame-error", "octets", *columns}
    assert not next(iter(table["sources"].values())).startswith("the same")


def _delay(chain: Iterable[Any]) -> int:
    return sum(stage.delay_ns for stage in chain if isinstance(stage, Delay))


def _rates(chain: Iterable[Any]) -> list[int]:
    return [stage.rate_bps for stage in chain if hasattr(stage, "rate_bps")]
