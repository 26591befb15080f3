from pathlib import Path

import pytest

from tests.described import BASE, load
from wirelab.errors import WirelabError

LOSSY = BASE + '[links.lossy]\nloss = "10 %"\n'


def with_factors(*lines: str, text: str = BASE) -> str:
    return text.replace("[links.wire]", "".join(f"{line}\n" for line in lines) + "[links.wire]", 1)


def test_equivalent_levels_are_one_scenario(tmp_path: Path) -> None:
    assert len(load(tmp_path, with_factors('"link.rtt" = ["2 ms", "0.002 s"]')).scenarios) == 2


def test_a_level_given_twice_is_refused_once(tmp_path: Path) -> None:
    with pytest.raises(WirelabError) as caught:
        load(tmp_path, with_factors('"link.rtt" = ["2 ms", "2 ms"]'))
    assert str(caught.value).endswith('factors."link.rtt": occurs twice ("2 ms")\nhint: each level has one place')


def test_two_equivalent_links_are_refused_with_both_places(tmp_path: Path) -> None:
    text = with_factors('link = ["wire", "cable"]') + '[links.cable]\nrtt = "0.02 s"\n'
    with pytest.raises(WirelabError) as caught:
        load(tmp_path, text)
    shown = str(tmp_path / "test.toml")
    lines = [number for number, line in enumerate(text.splitlines(), 1) if line.startswith("[links.")]
    assert str(caught.value) == (
        f"{shown}:{lines[1]}:1: links.cable: link 'cable' is equivalent to link 'wire' at "
        f"{shown}:{lines[0]}:1: links.wire\nhint: leave one of them out"
    )


def test_links_that_are_equivalent_at_one_level_only_stay_two(tmp_path: Path) -> None:
    text = with_factors('link = ["wire", "cable"]', '"links.cable.loss" = ["0 %", "1 %"]')
    experiment = load(tmp_path, text + '[links.cable]\nrtt = "20 ms"\n')
    assert len(experiment.scenarios) == 4


def test_a_factor_over_a_setting_applies_only_to_protocols_that_have_it(tmp_path: Path) -> None:
    experiment = load(tmp_path, with_factors('"protocol.tls" = ["1.2", "1.3"]'))
    assert [scenario.name for scenario in experiment.scenarios] == ["http1", "h2, 1.2", "h2, 1.3"]
    http1 = experiment.scenarios[0]
    assert "protocol.tls" not in http1.levels
    assert [point["protocol.tls"] for point in http1.points] == ["1.2", "1.3"]


def test_a_setting_of_one_protocol_does_not_change_the_others(tmp_path: Path) -> None:
    experiment = load(tmp_path, with_factors('"protocols.h2.tls" = ["1.2", "1.3"]'))
    assert [scenario.settings.get("tls") for scenario in experiment.scenarios] == [None, "1.2", "1.3"]


def test_a_workload_of_one_protocol_does_not_change_the_others(tmp_path: Path) -> None:
    experiment = load(tmp_path, with_factors('"protocols.h2.workload.exchanges" = [1, 2]'))
    assert [scenario.name for scenario in experiment.scenarios] == ["http1", "h2, 1", "h2, 2"]
    assert [scenario.workload.rows for scenario in experiment.scenarios] == [10, 1, 2]
    http1 = experiment.scenarios[0]
    assert [point["protocols.h2.workload.exchanges"] for point in http1.points] == [1, 2]


def test_a_workload_of_one_protocol_overrides_a_named_one(tmp_path: Path) -> None:
    text = with_factors('workload = ["few", "many"]', '"protocols.h2.workload.exchanges" = [3]')
    experiment = load(tmp_path, text + "[workloads]\nfew.exchanges = 1\nmany.exchanges = 9\n")
    rows = {(s.protocol, s.workload.rows) for s in experiment.scenarios}
    assert rows == {("http1", 1), ("http1", 9), ("h2", 3)}


def test_a_part_of_one_protocols_page_can_be_varied(tmp_path: Path) -> None:
    text = with_factors('"protocols.h2.workload.page.objects" = [1, 2]').replace(
        'upload = "30 B"', 'kind = "page"\npage = { objects = 3, object-size = "1 kB" }'
    )
    resources = [scenario.workload.page.resources for scenario in load(tmp_path, text).scenarios]  # type: ignore[union-attr]
    assert resources == [4, 2, 3]


def test_a_choice_for_all_protocols_and_one_for_a_protocol_exclude_each_other_only_if_they_meet(tmp_path: Path) -> None:
    text = BASE + '[choices]\n"protocol.tls" = ["1.2"]\n"protocols.h2.tls" = ["1.2"]\n'
    assert len(load(tmp_path, text).scenarios) == 3
    with pytest.raises(WirelabError, match=r'choices."protocols.h2.tls": varies what protocol.tls varies too'):
        load(tmp_path, text, "vary-choices=together")


def test_a_direction_without_loss_changes_nothing(tmp_path: Path) -> None:
    text = with_factors('link = ["wire", "lossy"]', '"link.direction" = ["both", "uplink"]', text=LOSSY)
    experiment = load(tmp_path, text)
    points = {
        scenario.link_name: len(scenario.points) for scenario in experiment.scenarios if scenario.protocol == "h2"
    }
    assert (len(experiment.scenarios), points["wire"]) == (6, 2)


def test_a_value_of_one_link_is_varied_alone(tmp_path: Path) -> None:
    text = with_factors('link = ["wire", "lossy"]', '"links.lossy.loss" = ["1 %", "2 %"]', text=LOSSY)
    assert len(load(tmp_path, text).scenarios) == 6


def test_a_level_of_link_may_be_a_shipped_profile(tmp_path: Path) -> None:
    experiment = load(tmp_path, with_factors('link = ["wire", "geo-satellite"]'))
    assert experiment.scenarios[1].link.uplink[0].kind == "rate"


def test_a_profile_is_overridden_by_the_links_own_values(tmp_path: Path) -> None:
    text = BASE.replace('rtt = "20 ms"', 'profile = "geo-satellite"\nrtt = "500 ms"')
    link = load(tmp_path, text).scenarios[0].link
    assert [stage.kind for stage in link.uplink] == ["rate", "delay"]
    assert link.uplink[1].delay_ns == 250_000_000  # type: ignore[union-attr]


def test_link_defaults_apply_to_every_link(tmp_path: Path) -> None:
    text = with_factors('link = ["wire", "lossy"]', text='link.rtt = "6 ms"\n' + LOSSY)
    delays = [scenario.link.uplink[-1].delay_ns for scenario in load(tmp_path, text).scenarios]  # type: ignore[union-attr]
    assert delays == [10_000_000, 3_000_000, 10_000_000, 3_000_000]


def test_an_implementation_takes_the_roles_that_it_has(tmp_path: Path) -> None:
    experiment = load(tmp_path, with_factors('implementation = ["builtin", "curl"]').replace('"h2"]', '"h3"]'))
    assert [(scenario.protocol, dict(scenario.implementation)) for scenario in experiment.scenarios] == [
        ("http1", {"client": "builtin", "server": "builtin"}),
        ("http1", {"client": "curl", "server": "builtin"}),
        ("h3", {"client": "builtin", "server": "builtin"}),
    ]


def test_a_role_can_be_given_its_implementation(tmp_path: Path) -> None:
    for path in ("server.implementation", "endpoints.server.implementation"):
        experiment = load(tmp_path, with_factors(f'"{path}" = ["nginx"]'))
        assert dict(experiment.scenarios[0].implementation) == {"client": "builtin", "server": "nginx"}


def test_an_implementation_next_to_the_file_is_known(tmp_path: Path) -> None:
    entry = 'title = "mine"\nhomepage = "here"\ninstall = "it lies here"\nversion_command = ["true"]\n'
    client = 'protocols = ["h2"]\ncommand = ["true"]\n'
    (tmp_path / "implementations.toml").write_text(f"[mine]\n{entry}[mine.roles.client]\n{client}")
    experiment = load(tmp_path, BASE + '[protocols.h2]\nimplementation = "mine"\n')
    assert experiment.scenarios[1].implementation["client"] == "mine"


def test_congestion_control_is_varied(tmp_path: Path) -> None:
    experiment = load(tmp_path, with_factors('congestion-control = ["cubic", "reno"]'))
    assert [scenario.congestion_control for scenario in experiment.scenarios] == ["cubic", "reno"] * 2


def test_a_choice_on_a_factor_of_several_levels_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WirelabError, match="is already a factor"):
        load(tmp_path, BASE + '[choices]\nprotocol = ["h3"]\n')


@pytest.mark.parametrize(
    ("line", "option", "reported"),
    [
        (
            '"protocol.tls" = ["1.2", "1.3"]',
            "protocols.h2.tls=1.3",
            "--set: protocols.h2.tls: varies what protocol.tls varies too",
        ),
        (
            '"protocols.h2.tls" = ["1.2", "1.3"]',
            "protocol.tls=1.2",
            "--set: protocol.tls: varies what protocols.h2.tls varies too",
        ),
        (
            '"links.wire.rtt" = ["2 ms", "9 ms"]',
            "link.rtt=3ms",
            "--set: link.rtt: varies what links.wire.rtt varies too",
        ),
    ],
)  # fmt: skip
def test_a_factor_that_another_one_overrides_is_refused(tmp_path: Path, line: str, option: str, reported: str) -> None:
    with pytest.raises(WirelabError) as caught:
        load(tmp_path, with_factors(line), option)
    assert str(caught.value).splitlines()[0] == reported
    assert "or leave it out" in str(caught.value)


def test_a_link_named_after_a_profile_uses_it_despite_the_default_of_every_link(tmp_path: Path) -> None:
    text = BASE.replace('"h2"]', '"h2"]\nlink = ["nb-iot", "wire"]', 1) + '[link]\nprofile = "ethernet-100m"\n'
    named, default = (each.link for each in load(tmp_path, text).scenarios[:2])
    alone = load(tmp_path, BASE.replace('"h2"]', '"h2"]\nlink = ["nb-iot"]', 1)).scenarios[0].link
    assert named == alone
    assert default != alone
