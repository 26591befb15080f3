from wirelab.experiment.library import Profile, experiment_names, implementations
from wirelab.schema import registered


def test_values_of_a_profile_have_dotted_paths_that_count_the_tables_of_a_list() -> None:
    link = {
        "rtt": "1 s",
        "radio": {"sleeps": [{"after": "1 s"}, {"after": "9 s"}]},
        "uplink": {"offsets": ["0 s", "1 s"]},
    }
    assert dict(Profile("x", "", "", link, {}).values()) == {
        "rtt": "1 s",
        "radio.sleeps.1.after": "1 s",
        "radio.sleeps.2.after": "9 s",
        "uplink.offsets": ["0 s", "1 s"],
    }


def test_the_shipped_experiments_are_listed_without_their_claims() -> None:
    names = experiment_names()
    shipped = {
        "quickstart",
        "milosevic2021",
        "milosevic2021-choices",
        "elmangoush2017",
        "londono2016",
        "protocol-or-program",
        "clock-agreement",
        "clock-agreement-messages",
        "clock-agreement-page",
        "clock-agreement-long",
        "outage-day",
        "broker-restart",
        "command-to-sleeper",
        "sensor",
        "sensor-day",
        "sensor-week",
        "sensor-month",
        "sensor-month-all",
        "overload",
    }
    assert shipped <= set(names)
    assert not [name for name in names if "claims" in name]


def test_third_party_implementations_name_registered_protocols() -> None:
    known = {protocol.name for protocol in registered().protocols}
    for program in implementations().values():
        protocols = {protocol for _, entry in program.roles if entry is not None for protocol in entry.protocols}
        assert protocols
        assert protocols <= known


def test_an_implementation_serves_the_roles_it_lists() -> None:
    curl = implementations()["curl"]
    assert curl.serves("client", "http1")
    assert not curl.serves("server", "http1")
    assert curl.roles_of("h3") == ()
