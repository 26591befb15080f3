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
    assert experiment_names() == (
        "elmangoush2017-messages", "milosevic2021", "milosevic2021-choices", "quickstart",
    )  # fmt: skip


def test_foreign_implementations_name_registered_stacks() -> None:
    known = {stack.name for stack in registered().stacks}
    for program in implementations().values():
        assert program.stacks
        assert {stack for stacks in program.stacks.values() for stack in stacks} <= known


def test_an_implementation_serves_the_roles_it_lists() -> None:
    curl = implementations()["curl"]
    assert curl.serves("client", "http1")
    assert not curl.serves("server", "http1")
    assert curl.roles("h3") == ()
