import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.asked import load_experiment
from tests.described import BASE, load
from wirelab.errors import WirelabError
from wirelab.experiment.experiment import Experiment
from wirelab.experiment.grid.scenario import Scenario, shorten
from wirelab.experiment.library import experiment_names
from wirelab.plan import expected_ns, make_plan
from wirelab.schema import (
    Delay,
    Fixed,
    GilbertElliott,
    Loss,
    NewConnection,
    Persistent,
    Rate,
    Schedule,
    SchedulePoint,
    Serialiser,
    Wifi,
)


def test_a_file_is_resolved_with_its_defaults(tmp_path: Path) -> None:
    experiment = load(tmp_path)
    assert (experiment.name, experiment.title, experiment.metric, experiment.seed) == (
        "test",
        "Test",
        "end-to-end-delay",
        1,
    )
    assert experiment.fixed()
    scenario = experiment.scenarios[1]
    assert (scenario.name, scenario.link_name, scenario.congestion_control) == ("h2", "wire", "cubic")
    assert scenario.settings == {"nagle": False, "tls": "1.3", "initial-window": 65535, "streams": 1}
    assert scenario.implementation == {"client": "builtin", "server": "builtin"}


def test_settings_of_one_protocol_win_over_those_of_every_protocol(tmp_path: Path) -> None:
    experiment = load(tmp_path, BASE + '[protocol]\nnagle = true\ntls = "1.2"\n[protocols.h2]\ntls = "1.3"\n')
    assert [scenario.settings["nagle"] for scenario in experiment.scenarios] == [True, True]
    assert experiment.scenarios[1].settings["tls"] == "1.3"


def test_an_experiment_without_links_has_one_without_effects(tmp_path: Path) -> None:
    text = BASE.replace('[links.wire]\nrtt = "20 ms"\n', "")
    scenario = load(tmp_path, text).scenarios[0]
    assert (scenario.link_name, scenario.link.uplink) == ("link", ())


def test_quickstart_compares_four_protocols_on_two_links() -> None:
    experiment = load_experiment("quickstart")
    assert len(experiment.scenarios) == 8
    assert experiment.fixed()
    assert (experiment.stop.replicates, experiment.stop.budget) == ((8, 8), 75 * 10**9)


def test_milosevic2021_has_the_papers_18_cases_of_3000_uploads() -> None:
    experiment = load_experiment("milosevic2021")
    assert len(experiment.scenarios) == 18
    assert experiment.fixed()
    assert {scenario.workload.exchanges * experiment.stop.replicates[1] for scenario in experiment.scenarios} == {3000}
    assert {scenario.workload.upload_bytes for scenario in experiment.scenarios} == {30, 3500}
    assert {scenario.settings.get("tls") for scenario in experiment.scenarios if scenario.protocol == "h2"} == {"1.2"}
    stages = {stage.kind: stage for scenario in experiment.scenarios for stage in scenario.link.downlink}
    assert stages["loss"] == Loss(probability=0.1)
    assert stages["gilbert-elliott"] == GilbertElliott(p=0.01, r=0.1, bad_loss=0.7, good_loss=0.001)
    assert stages["delay"].delay_ns == 10_000_000  # type: ignore[union-attr]


def test_clock_agreement_has_the_18_cases_of_milosevic2021_with_new_and_with_persistent_connections() -> None:
    paper, ours = load_experiment("milosevic2021"), load_experiment("clock-agreement")
    assert len(ours.scenarios) == 36
    assert ours.stop.replicates == paper.stop.replicates
    new = [scenario for scenario in ours.scenarios if scenario.levels["workload.connection"] == "new"]
    for mine, theirs in zip(new, paper.scenarios, strict=True):
        assert (mine.link, mine.workload, mine.settings) == (theirs.link, theirs.workload, theirs.settings)


@pytest.mark.parametrize(("name", "cases"), [("milosevic2021-choices", 18), ("elmangoush2017-choices", 36)])
def test_the_choices_hold_a_complete_grid_for_each_level_and_each_interpretation(name: str, cases: int) -> None:
    experiment = load_experiment(name)
    around = [{path: level} for path, levels in experiment.choices.items() for level in levels]
    around += map(dict, experiment.interpretations.values())
    open_paths = {path for levels in around for path in levels}
    base = {path: levels[0] for path, levels in experiment.factors.items() if path in open_paths}
    grids: dict[frozenset[tuple[str, str]], int] = {}
    for scenario in experiment.scenarios:
        for point in scenario.points:
            choice = frozenset((path, str(level)) for path, level in point.items() if path in open_paths)
            grids[choice] = grids.get(choice, 0) + 1
    assert set(grids.values()) == {cases}
    named = [{path: str(shorten(level)) for path, level in {**base, **levels}.items()} for levels in ({}, *around)]
    assert grids.keys() == {frozenset(levels.items()) for levels in named}


def test_the_inferred_connections_of_elmangoush2017_are_scenarios_of_the_base_and_of_new_connections() -> None:
    experiment = load_experiment("elmangoush2017-choices")
    inferred = experiment.interpretations["http1-new-http2-persistent"]
    scenarios = [s for s in experiment.scenarios if any(inferred.items() <= point.items() for point in s.points)]
    policies = {(s.protocol, s.workload.to_json()["connection"]["policy"]) for s in scenarios}
    assert policies == {("http1", "new"), ("https1", "new"), ("h2", "persistent")}
    new = [s for s in scenarios if s.protocol != "h2"]
    apart = experiment.interpretations["new-connections"]
    assert all(any(apart.items() <= point.items() for point in s.points) for s in new)
    assert all("connection" not in s.name for s in scenarios if s.protocol == "h2")


def test_the_calibration_of_milosevic2021_loses_uplink_and_delays_half_of_the_downlink() -> None:
    experiment = load_experiment("milosevic2021-choices")
    [links] = [[s.link for s in experiment.scenarios if s.name.endswith(", calibration")]]
    assert len(links) == 18
    for link in links:
        [delay] = [stage for stage in link.downlink if isinstance(stage, Delay)]
        assert delay.delay_ns == 2_000_000
        assert delay.jitter is not None
        assert delay.jitter.to_json()["offsets_ns"] == [0, 0, 56_000_000]
        assert not any(isinstance(stage, Loss | GilbertElliott) for stage in link.downlink)


def test_the_choices_start_from_the_case_of_milosevic2021() -> None:
    plain, choices = load_experiment("milosevic2021"), load_experiment("milosevic2021-choices")
    for mine, theirs in zip(plain.scenarios, choices.scenarios[:18], strict=True):
        assert (mine.link, mine.protocol) == (theirs.link, theirs.protocol)
        # Fewer uploads need a shorter time-out.
        differing = {name for name, value in mine.settings.items() if theirs.settings[name] != value}
        assert differing <= {"quic-idle-timeout"}
    assert any(isinstance(scenario.workload.connection, Persistent) for scenario in choices.scenarios)


def test_elmangoush2017_has_the_papers_four_scenarios_on_three_channels_with_three_protocols() -> None:
    experiment = load_experiment("elmangoush2017")
    assert len(experiment.scenarios) == 36
    assert experiment.fixed()
    by_workload = {scenario.levels["workload"]: scenario.workload for scenario in experiment.scenarios}
    assert by_workload["mixed-sizes"].downloads == (11_000_000, 612)
    assert by_workload["push-stream"].upload_bytes == 50
    arrivals = {name: workload.arrival for name, workload in by_workload.items()}
    assert (arrivals["pull-stream"], arrivals["push-stream"]) == (Fixed(rate_hz=5), Fixed(rate_hz=10))
    assert [by_workload[name].clients for name in ("single", "pull-stream", "mixed-sizes", "push-stream")] == [
        1,
        2,
        2,
        2,
    ]
    assert {s.settings.get("tls") for s in experiment.scenarios if s.protocol != "http1"} == {"1.2"}
    links = {s.link_name: s.link for s in experiment.scenarios}
    for way in ("uplink", "downlink"):
        stages = {name: getattr(link, way) for name, link in links.items()}
        delays = {name: [each.delay_ns for each in found if isinstance(each, Delay)] for name, found in stages.items()}
        assert delays == {"perfect": [1_500_000], "delay": [10**9], "burst": []}
        rates = [[stage.rate_bps for stage in found if isinstance(stage, Rate)] for found in stages.values()]
        assert rates == [[100_000_000]] * 3


def test_the_choices_start_from_the_cases_of_elmangoush2017() -> None:
    plain, choices = load_experiment("elmangoush2017"), load_experiment("elmangoush2017-choices")
    for mine, theirs in zip(plain.scenarios, choices.scenarios[:36], strict=True):
        assert (mine.link, mine.protocol, mine.settings) == (theirs.link, theirs.protocol, theirs.settings)
        assert mine.workload == theirs.workload


def test_every_case_of_elmangoush2017_also_runs_with_the_papers_server() -> None:
    choices = load_experiment("elmangoush2017-choices")
    entry = choices.source.programs["nginx"].roles.server
    assert entry is not None

    def cases(scenarios: list[Scenario]) -> set[tuple[str, ...]]:
        return {(s.levels["workload"], s.link_name, s.protocol) for s in scenarios}

    asked = [s for s in choices.scenarios if s.implementation["server"] == "nginx"]
    grid = cases(list(choices.scenarios))
    assert (len(grid), cases(asked)) == (36, grid)
    for scenario in asked:
        protocol = choices.known.protocol(scenario.protocol)
        assert protocol is not None
        assert entry.refusal(protocol, scenario.settings, scenario.workload) is None


def test_londono2016_reaches_the_proxy_only_by_coap_over_a_shared_medium() -> None:
    experiment = load_experiment("londono2016")
    for scenario in experiment.scenarios:
        assert (scenario.origin is not None) == (scenario.protocol == "coap")
        air, wire = scenario.topology
        assert isinstance(scenario.link.medium, Wifi)
        assert {"client", "laptop-1", "laptop-2", "laptop-3"} == set(air.near)
        assert wire.link is not None
        assert wire.link.medium is None
        if scenario.protocol == "coap":
            assert scenario.settings["ack-random-factor"] == 100
    flows = {tuple(each.flows for each in scenario.traffic if each.kind == "bulk") for scenario in experiment.scenarios}
    assert flows == {(), (5, 5), (20, 20)}
    pings = {
        each.payload_bytes for scenario in experiment.scenarios for each in scenario.traffic if each.kind == "ping"
    }
    assert pings == {2000}


def test_the_choices_start_from_the_cases_of_londono2016() -> None:
    def identities(experiment: Experiment) -> set[str]:
        # Fewer requests a trial.
        fewer = [replace(s, workload=s.workload.model_copy(update={"exchanges": 5})) for s in experiment.scenarios]
        return {json.dumps(scenario.identity(), sort_keys=True) for scenario in fewer}

    plain = load_experiment("londono2016")
    paths = {"workload.connection", "protocols.coap.ack-timeout"}
    fresh = [
        s for s in plain.scenarios if s.protocol in {"h2", "coap"} and isinstance(s.workload.connection, NewConnection)
    ]
    assert len(fresh) == 36
    assert paths == set(plain.choices)
    choices = load_experiment("londono2016-choices")
    assert identities(replace(plain, scenarios=tuple(fresh))) <= identities(choices)


def test_londono2016_attribution_has_each_protocol_with_and_without_encryption_and_the_papers_proxy() -> None:
    experiment, plain = load_experiment("londono2016-attribution"), load_experiment("londono2016")
    assert {s.protocol for s in experiment.scenarios} == {"h2", "h2c", "https1", "h3", "coap", "coaps"}
    assert {s.settings["tls"] for s in experiment.scenarios if "tls" in s.settings} == {"1.3"}
    [topology] = {s.topology[1:] for s in experiment.scenarios}
    assert {s.topology[1:] for s in plain.scenarios} == {topology}
    [asked] = {s.origin.protocol for s in experiment.scenarios if s.origin is not None}
    assert (asked, {s.protocol for s in experiment.scenarios if s.origin is not None}) == ("http1", {"coap", "coaps"})
    coap, coaps = (
        next(s.settings for s in experiment.scenarios if s.protocol == protocol) for protocol in ("coap", "coaps")
    )
    assert coap == {name: coaps[name] for name in coap}
    assert coap == next(s.settings for s in plain.scenarios if s.protocol == "coap")
    assert expected_ns(make_plan(experiment), jobs=3) < 30 * 60 * 10**9


def test_milosevic2021_attribution_gives_all_three_the_same_tls() -> None:
    experiment = load_experiment("milosevic2021-attribution")
    assert {s.settings["tls"] for s in experiment.scenarios if "tls" in s.settings} == {"1.3"}
    assert {s.protocol for s in experiment.scenarios} == {"http1", "https1", "h2c", "h2", "h3"}


@pytest.mark.parametrize("name", experiment_names())
def test_shipped_experiments_are_valid_with_the_real_protocols(name: str) -> None:
    assert load_experiment(name).scenarios


@pytest.mark.parametrize(
    "own",
    ['medium = { rate = "13 Mbit/s", frame-error = "5 %" }', 'medium.rate = "13 Mbit/s"\nmedium.frame-error = "5 %"'],
)
def test_one_parameter_of_a_medium_overrides_a_profiles(own: str, tmp_path: Path) -> None:
    text = BASE.replace('rtt = "20 ms"', f'profile = "wifi-n"\n{own}')
    medium = load(tmp_path, text).scenarios[0].link.medium
    shipped = load(tmp_path, BASE, "link=wifi-n").scenarios[0].link.medium
    assert isinstance(shipped, Wifi)
    assert medium == shipped.model_copy(update={"rate_bps": 13_000_000, "frame_error": 0.05})


def test_parameters_of_radio_and_translation_override_a_profiles(tmp_path: Path) -> None:
    own = 'radio = { buffer = "4 kB" }\nnat = { udp = "30 s" }'
    link = load(tmp_path, BASE.replace('rtt = "20 ms"', f'profile = "nb-iot"\n{own}')).scenarios[0].link
    shipped = load(tmp_path, BASE, "link=nb-iot").scenarios[0].link
    assert link.radio is not None and shipped.radio is not None
    assert link.nat is not None and shipped.nat is not None
    assert link.radio == shipped.radio.model_copy(update={"buffer_bytes": 4000})
    assert link.nat == shipped.nat.model_copy(update={"udp_timeout_ns": 30 * 10**9})


def test_the_defaults_of_every_link_and_one_of_them_make_a_medium_together(tmp_path: Path) -> None:
    text = BASE.replace('rtt = "20 ms"', 'medium = { queue = "1 kB" }') + '[link]\nmedium = { rate = "1 Mbit/s" }\n'
    medium = load(tmp_path, text).scenarios[0].link.medium
    assert medium == Serialiser(rate_bps=1_000_000, queue_bytes=1000, overhead_bytes=0)


def test_a_level_may_be_one_key_of_a_table(tmp_path: Path) -> None:
    part, without = load(tmp_path, BASE, "protocol=h2", "link=nb-iot", 'link.radio={ buffer = "4 kB" },none').scenarios
    assert part.link.radio is not None
    assert (part.link.radio.buffer_bytes, len(part.link.radio.sleeps)) == (4000, 2)
    assert without.link.radio is None


def test_unused_parts_of_a_link_are_checked_too(tmp_path: Path) -> None:
    text = BASE + '[links.spare]\nprofile = "wifi-n"\nmedium = { rates = "1 Mbit/s" }\n'
    with pytest.raises(WirelabError, match=r"links\.spare\.medium\.rates: unknown key"):
        load(tmp_path, text, "link=wire")


def test_a_schedules_delay_and_loss_add_to_the_links_own(tmp_path: Path) -> None:
    schedule = 'schedule = { points = [{ at = "0 s", delay = "5 ms", loss = "1 %" }] }\nloss = "2 %"'
    uplink = load(tmp_path, BASE.replace('rtt = "20 ms"', schedule), "link.delay=1ms").scenarios[0].link.uplink
    assert isinstance(uplink[0], Schedule)
    assert uplink[0].points == (SchedulePoint(at_ns=0, delay_ns=5_000_000, loss=0.01),)
    assert uplink[1:] == (Loss(probability=0.02), Delay(delay_ns=1_000_000))


def test_a_schedule_of_times_alone_is_planned(tmp_path: Path) -> None:
    (tmp_path / "replay.csv").write_text("time_s\n0\n1\n")
    experiment = load(tmp_path, BASE.replace('rtt = "20 ms"', 'schedule = { file = "replay.csv" }'))
    assert make_plan(experiment).scenarios[0].expected_exchange_ns > 0


def test_the_default_of_shipped_links_may_be_one_key(tmp_path: Path) -> None:
    text = BASE.replace('[links.wire]\nrtt = "20 ms"\n', '[link]\nradio = { buffer = "4 kB" }\n')
    assert load(tmp_path, text, "link=nb-iot").scenarios[0].link.radio is not None
    with pytest.raises(WirelabError, match=r"link\.radio\.sleeps: is missing"):
        load(tmp_path, text)
