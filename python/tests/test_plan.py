import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.asked import load_experiment
from tests.described import BASE, load
from wirelab.experiment.grid.scenario import IDENTITY_VERSION
from wirelab.plan import expected_ns, make_plan, stable_hash
from wirelab.schema.plan import Plan, Trial

LINKS = BASE + '[links.lossy]\nrtt = "20 ms"\nloss = "10 %"\n'


def plan(folder: Path, *sets: str, text: str = LINKS) -> Plan:
    return make_plan(load(folder, text, "link=wire,lossy", *sets))


def seeds(made: Plan) -> dict[str, tuple[str, int, int]]:
    return {
        trial.trial: (trial.scenario, trial.link_seed, trial.endpoint_seed)
        for block in made.blocks
        for trial in block.trials
    }


@pytest.mark.parametrize(
    "level", ["protocol=http1,h2,h3", "link.rtt=20ms,50ms", "workload.upload=30B,3.5kB", "stop.replicates=5"]
)
def test_adding_a_level_changes_no_seed(level: str, tmp_path: Path) -> None:
    before, after = seeds(plan(tmp_path)), seeds(plan(tmp_path, level))
    assert len(before) < len(after)
    assert before.items() <= after.items()


def test_choices_of_a_plan_have_every_level_around_the_factors(tmp_path: Path) -> None:
    choices = '[choices]\n"link.rtt" = ["2 ms"]\n'
    lan = '[interpretations.lan]\n"link.rtt" = "4 ms"\n"link.jitter" = { distribution = "normal", sigma = "1 ms" }\n'
    without, made = (make_plan(load(tmp_path, BASE + text)) for text in (choices, choices + lan))
    jitter = {"distribution": "normal", "sigma": "1 ms"}
    assert made.experiment.choices == {"link.rtt": ("2 ms", "4 ms"), "link.jitter": (jitter,)}
    assert made.experiment.interpretations == {"lan": {"link.rtt": "4 ms", "link.jitter": json.dumps(jitter)}}
    assert seeds(without).items() <= seeds(made).items()
    assert Plan.model_validate(made.to_json()) == made


def test_a_plan_without_interpretations_has_no_key_for_them(tmp_path: Path) -> None:
    new = {"interpretations", "vary_choices"}
    assert not new & make_plan(load(tmp_path, BASE)).to_json()["experiment"].keys()
    together = make_plan(load(tmp_path, BASE, "vary-choices=together")).to_json()["experiment"]
    assert together["vary_choices"] == "together"


def test_adding_a_level_keeps_the_order_of_the_other_trials(tmp_path: Path) -> None:
    before, after = plan(tmp_path), plan(tmp_path, "protocol=http1,h3,h2")
    for old, new in zip(before.blocks, after.blocks, strict=True):
        kept = {trial.trial for trial in old.trials}
        assert [trial for trial in new.trials if trial.trial in kept] == list(old.trials)


def test_the_seed_does_not_depend_on_the_protocol(tmp_path: Path) -> None:
    made = plan(tmp_path)
    by_link: dict[tuple[str, int], set[tuple[int, int]]] = {}
    for block in made.blocks:
        for trial in block.trials:
            link = made.scenario(trial.scenario).link_name
            by_link.setdefault((link, trial.replicate), set()).add((trial.link_seed, trial.endpoint_seed))
    assert all(len(pairs) == 1 for pairs in by_link.values())
    assert len({pair for pairs in by_link.values() for pair in pairs}) == len(by_link)


def test_a_link_and_its_endpoints_have_different_seeds(tmp_path: Path) -> None:
    trial = plan(tmp_path).blocks[0].trials[0]
    assert trial.link_seed != trial.endpoint_seed


def test_another_seed_changes_every_key_and_every_seed(tmp_path: Path) -> None:
    one, two = plan(tmp_path), plan(tmp_path, "seed=2")
    assert not {scenario.key for scenario in one.scenarios} & {scenario.key for scenario in two.scenarios}
    assert not {trial.link_seed for trial in trials(one)} & {trial.link_seed for trial in trials(two)}


def test_the_same_experiment_gives_the_same_plan(tmp_path: Path) -> None:
    assert plan(tmp_path) == plan(tmp_path)


def test_a_key_depends_on_the_work_and_not_on_display_names(tmp_path: Path) -> None:
    renamed = LINKS.replace("wire", "cable").replace('"20 ms"', '"0.02 s"').replace('"Test"', '"Other"')
    other = make_plan(load(tmp_path, renamed, "link=cable,lossy"))
    assert [scenario.key for scenario in plan(tmp_path).scenarios] == [scenario.key for scenario in other.scenarios]


@pytest.mark.parametrize(
    "change",
    ["link.rtt=21ms", "workload.upload=31B", "workload.exchanges=11", "protocol.nagle=true", "congestion-control=reno",
     "workload.connection=persistent", "workload.timeout=11s", "client.implementation=curl"],
)  # fmt: skip
def test_a_key_changes_with_anything_that_determines_the_trials(change: str, tmp_path: Path) -> None:
    before, after = plan(tmp_path), plan(tmp_path, change)
    assert not {scenario.key for scenario in before.scenarios} & {scenario.key for scenario in after.scenarios}


def test_a_captured_trial_has_the_same_losses_and_its_own_key(tmp_path: Path) -> None:
    before, after = plan(tmp_path), plan(tmp_path, "capture=true")
    assert [scenario.capture for scenario in before.scenarios + after.scenarios] == [False] * 4 + [True] * 4
    assert not {scenario.key for scenario in before.scenarios} & {scenario.key for scenario in after.scenarios}
    assert {trial.link_seed for trial in trials(before)} == {trial.link_seed for trial in trials(after)}
    assert before == plan(tmp_path, "capture=false").model_copy(update={"experiment": before.experiment})


def test_a_trial_with_offloads_has_its_own_key(tmp_path: Path) -> None:
    before, after = plan(tmp_path), plan(tmp_path, "offloads=true")
    assert [scenario.offloads for scenario in before.scenarios + after.scenarios] == [False] * 4 + [True] * 4
    assert not {scenario.key for scenario in before.scenarios} & {scenario.key for scenario in after.scenarios}
    assert before == plan(tmp_path, "offloads=false").model_copy(update={"experiment": before.experiment})


def test_an_identity_contains_no_display_name_and_no_campaign(tmp_path: Path) -> None:
    renamed = LINKS.replace("wire", "cable").replace('"Test"', '"Other"')
    before, after = plan(tmp_path), make_plan(load(tmp_path, renamed, "link=cable,lossy", "seed=2", "capture=true"))
    assert [each.identity for each in before.scenarios] == [each.identity for each in after.scenarios]
    assert not {each.key for each in before.scenarios} & {each.key for each in after.scenarios}


def test_a_page_is_identified_by_its_content_and_not_its_name(tmp_path: Path) -> None:
    text = LINKS.replace('upload = "30 B"', 'kind = "page"\npage = "text-44kb"')
    scenario = load(tmp_path, text, "link=wire").scenarios[0]
    assert "name" in scenario.workload.to_json()["page"]
    assert set(scenario.identity()["workload"]["page"]) == {"sha256", "resources", "body_bytes"}


@pytest.mark.parametrize(
    ("workload", "sets", "digest"),
    [
        ('upload = "30 B"', (), "cf837c5675e0954e"),
        ('upload = "30 B"\nconnection = "persistent"', ("workload.exchanges=3",), "5005871adbdc7fe3"),
        ('download = "30 B"\nconnection = "resumed"', ("workload.clients=2",), "fc2cac26249ca590"),
        ('kind = "telemetry"\nmessage = "50 B"\narrival = { poisson = "5 /s" }', ("link.loss=1%",), "7d7d96b62b8fab28"),
        (
            'kind = "pubsub"\nmessage = "50 B"\narrival = { fixed = "5 /s" }',
            ("link.jitter=normal 5 ms",),
            "e402f955da85fbdb",
        ),
        ('kind = "stream"\nmessage = "50 B"\nrate = "5 /s"', ("client.cpu=25 %",), "89bcbcd1c7a69b78"),
        ('kind = "page"\npage = "text-44kb"', ("congestion-control=reno",), "58a16beb97c6e455"),
    ],
)
def test_the_identity_of_each_version_stays_the_same(
    workload: str, sets: tuple[str, ...], digest: str, tmp_path: Path
) -> None:
    """A rename that changes one would change every draw: translate it in `Scenario.identity`, or raise the version."""
    text = LINKS.replace('upload = "30 B"', workload)
    scenario = load(tmp_path, text, "link=wire", "protocol=h2", *sets).scenarios[0]
    assert (IDENTITY_VERSION, scenario.digest()[:16]) == (1, digest)


def test_a_block_holds_one_trial_of_every_scenario(tmp_path: Path) -> None:
    made = plan(tmp_path)
    keys = {scenario.key for scenario in made.scenarios}
    assert [block.block for block in made.blocks] == [0, 1, 2]
    for block in made.blocks:
        assert {trial.scenario for trial in block.trials} == keys
        assert {trial.replicate for trial in block.trials} == {block.block}


def test_blocks_differ_in_their_order(tmp_path: Path) -> None:
    made = plan(tmp_path, "stop.replicates=10")
    assert len({tuple(trial.scenario for trial in block.trials) for block in made.blocks}) > 1


def test_a_trials_id_is_unique_and_safe_as_a_folder(tmp_path: Path) -> None:
    ids = [trial.trial for trial in trials(plan(tmp_path))]
    assert len(set(ids)) == len(ids)
    assert all(set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-") for name in ids)


def test_a_plan_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    made = plan(tmp_path, "link.jitter=none,normal 5 ms")
    assert Plan.model_validate_json(json.dumps(made.to_json())) == made


def test_plan_json_has_the_documented_keys(tmp_path: Path) -> None:
    document = plan(tmp_path).to_json()
    assert set(document) == {
        "schema_version", "identity_version", "experiment", "seed", "protocols", "programs", "link_facts", "stall_ns",
        "scenarios", "blocks",
    }  # fmt: skip
    assert {"name", "title", "metric", "doi", "claims", "file", "factors", "sets", "stop"} <= set(
        document["experiment"]
    )
    assert document["experiment"]["stop"] == {"replicates": [3, 3], "interval": None, "budget_ns": None}
    assert "medium" not in document["scenarios"][0]["link"]


def test_seeds_fit_63_bits() -> None:
    assert max(stable_hash("seed", number) for number in range(1000)) < 2**63


def test_a_stable_hash_is_the_same_on_every_machine() -> None:
    assert stable_hash(1, {"uplink": []}, 0, "link") == 1897330229774209658


def test_a_trials_seeds_are_hashes_of_campaign_link_and_replicate(tmp_path: Path) -> None:
    made = plan(tmp_path)
    for trial in trials(made):
        link = made.scenario(trial.scenario).link.to_json()
        assert trial.link_seed == stable_hash(IDENTITY_VERSION, made.seed, link, trial.replicate, "link")
        assert trial.endpoint_seed == stable_hash(IDENTITY_VERSION, made.seed, link, trial.replicate, "endpoint")


def test_the_key_depends_on_the_content_of_a_trace_and_not_on_its_name(tmp_path: Path) -> None:
    text = BASE.replace('rtt = "20 ms"', 'trace = "a.trace"\nqueue = "1 kB"')
    (tmp_path / "a.trace").write_text("1\n")
    (tmp_path / "b.trace").write_text("1\n")
    one, two = (make_plan(load(tmp_path, text.replace("a.trace", name))) for name in ("a.trace", "b.trace"))
    assert [scenario.key for scenario in one.scenarios] == [scenario.key for scenario in two.scenarios]
    (tmp_path / "a.trace").write_text("2\n")
    changed = make_plan(load(tmp_path, text))
    assert not {scenario.key for scenario in one.scenarios} & {scenario.key for scenario in changed.scenarios}


def test_twice_the_jobs_take_half_the_time(tmp_path: Path) -> None:
    made = plan(tmp_path, "stop.replicates=100")
    assert expected_ns(made, 2) == pytest.approx(expected_ns(made, 1) / 2, rel=1e-6)


def test_no_number_of_jobs_is_faster_than_the_longest_trial(tmp_path: Path) -> None:
    made = plan(tmp_path)
    assert expected_ns(made, 10_000) == max(scenario.expected_trial_ns for scenario in made.scenarios)


def with_slow(folder: Path, role: str, entry: str) -> tuple[Plan, Plan]:
    """The plan by our own endpoints, and by a program in that role that takes its time to start."""
    (folder / "implementations.toml").write_text(f"""
[slow]
title = "Slow"
homepage = "https://example.org"
install = "none"
version_command = ["slow", "--version"]
[slow.roles.{role}]
protocols = ["http1", "h2"]
{entry}
""")
    return plan(folder), plan(folder, f"endpoints.{role}.implementation=slow")


def test_each_trials_duration_includes_the_servers_start(tmp_path: Path) -> None:
    entry = 'command = ["slow", "{{ port }}"]\nready = "tcp-connect"\nstarts_in_s = 12.5'
    ours, slow = with_slow(tmp_path, "server", entry)
    starts = [scenario.server_starts_in_ns for scenario in slow.scenarios]
    assert set(starts) == {12_500_000_000}
    assert expected_ns(slow, 1) - expected_ns(ours, 1) == sum(starts) * len(slow.blocks)
    assert [one.expected_trial_ns for one in slow.scenarios] == [one.expected_trial_ns for one in ours.scenarios]
    assert Plan.model_validate_json(json.dumps(slow.to_json())) == slow
    assert "server_starts_in_ns" not in ours.to_json()["scenarios"][0]


def test_each_trials_duration_includes_the_clients_start(tmp_path: Path) -> None:
    ours, slow = with_slow(tmp_path, "client", 'command = ["slow", "{{ parameters }}"]\nstarts_in_s = 2')
    pairs = zip(ours.scenarios, slow.scenarios, strict=True)
    assert {theirs.expected_trial_ns - mine.expected_trial_ns for mine, theirs in pairs} == {2_000_000_000}


def test_a_clients_overhead_per_exchange_counts_in_its_trial_and_not_in_the_exchange(tmp_path: Path) -> None:
    _, quick = with_slow(tmp_path, "client", 'command = ["slow", "{{ parameters }}"]')
    _, slow = with_slow(tmp_path, "client", 'command = ["slow", "{{ parameters }}"]\neach_takes_s = 0.5')
    exchanges = {scenario.workload.exchanges for scenario in slow.scenarios}
    pairs = list(zip(quick.scenarios, slow.scenarios, strict=True))
    assert {theirs.expected_trial_ns - mine.expected_trial_ns for mine, theirs in pairs} == {
        count * 500_000_000 for count in exchanges
    }
    assert all(theirs.expected_exchange_ns == mine.expected_exchange_ns for mine, theirs in pairs)


def test_each_step_of_a_stopping_rule_takes_as_long_as_its_longest_trial(tmp_path: Path) -> None:
    text = BASE.replace("replicates = 3", 'replicates = [5, 20]\ninterval = "10 % of median"')
    made = make_plan(load(tmp_path, text))
    longest = max(scenario.expected_trial_ns for scenario in made.scenarios)
    # Two scenarios: the rule is asked after 5 blocks, and then after as many as the jobs hold, 5 or 4.
    assert expected_ns(made, 10) == (1 + 3) * longest
    assert expected_ns(made, 8) == (
        max(longest, sum(s.expected_trial_ns for s in made.scenarios) * 5 // 8) + 4 * longest
    )
    assert expected_ns(make_plan(load(tmp_path, text, "stop.budget=1ms")), 10) == longest


def test_a_budget_bounds_the_time_but_never_below_the_minimum_of_replicates(tmp_path: Path) -> None:
    text = LINKS.replace("replicates = 3", 'replicates = [2, 20]\nbudget = "1 s"')
    made = plan(tmp_path, text=text)
    assert expected_ns(made, 1) == sum(scenario.expected_trial_ns for scenario in made.scenarios) * 20 * 2 // 20


def test_a_quick_run_keeps_the_whole_grid_and_fits_its_budget(tmp_path: Path) -> None:
    experiment = load(tmp_path, LINKS, "link=wire,lossy", "stop.replicates=30", "workload.exchanges=100")
    full, preview = make_plan(experiment), make_plan(experiment, budget_ns=20 * 10**9, jobs=4)
    assert [scenario.levels for scenario in preview.scenarios] == [scenario.levels for scenario in full.scenarios]
    assert expected_ns(preview, 4) <= 20 * 10**9 < expected_ns(full, 4)
    assert preview.experiment.preview is not None
    assert preview.experiment.preview.replicates == (30, len(preview.blocks))


def test_a_quick_run_leaves_a_connection_that_is_kept_some_exchanges(tmp_path: Path) -> None:
    """With one alone it would be as a new connection is."""
    sets = ("link=wire,lossy", "stop.replicates=3", "workload.exchanges=100")
    for policies, least in (("new", 1), ("new,persistent", 10)):
        experiment = load(tmp_path, LINKS, *sets, f"workload.connection={policies}")
        preview = make_plan(experiment, budget_ns=1)
        assert {scenario.workload.rows for scenario in preview.scenarios} == {least}


def test_a_quick_run_says_so_and_shares_no_scenario_with_the_full_plan(tmp_path: Path) -> None:
    experiment = load(tmp_path, LINKS, "link=wire,lossy", "workload.exchanges=100")
    full, preview = make_plan(experiment), make_plan(experiment, budget_ns=10**10)
    assert full.experiment.preview is None
    assert not {scenario.key for scenario in full.scenarios} & {scenario.key for scenario in preview.scenarios}


def test_a_grid_that_fits_its_budget_is_not_a_quick_run_and_stays_bounded(tmp_path: Path) -> None:
    experiment = load(tmp_path, BASE.replace("replicates = 3", 'replicates = [2, 9]\ninterval = "10 % of median"'))
    full = make_plan(experiment)
    made = make_plan(experiment, budget_ns=3600 * 10**9)
    assert made.experiment.preview is None
    assert made.experiment.stop == full.experiment.stop.model_copy(update={"budget_ns": 3600 * 10**9})
    assert (made.scenarios, made.blocks) == (full.scenarios, full.blocks)


def test_the_smaller_of_two_budgets_bounds_a_grid_that_fits(tmp_path: Path) -> None:
    experiment = load(tmp_path, BASE.replace("replicates = 3", 'replicates = [2, 200]\nbudget = "30 s"'))
    made = make_plan(experiment, budget_ns=60 * 10**9)
    assert (made.experiment.preview, made.experiment.stop.budget_ns) == (None, 30 * 10**9)
    assert make_plan(experiment, budget_ns=20 * 10**9).experiment.preview is not None


def test_a_plan_that_cannot_be_cut_is_not_a_quick_run_and_stays_bounded(tmp_path: Path) -> None:
    text = BASE.replace("replicates = 3", "replicates = 2").replace("[stop]", "exchanges = 1\n[stop]")
    made = make_plan(load(tmp_path, text), budget_ns=1)
    assert (made.experiment.preview, made.experiment.stop.budget_ns, len(made.blocks)) == (None, 1, 2)


def test_unsupported_scenarios_use_none_of_the_budget(tmp_path: Path) -> None:
    experiment = load(tmp_path, LINKS, "link=wire,lossy", "stop.replicates=30", "workload.exchanges=100")
    full = make_plan(experiment)
    [*unsupported, left] = [scenario.key for scenario in full.scenarios]
    enough_ns = expected_ns(full.without(unsupported), 1)
    assert make_plan(experiment, budget_ns=enough_ns).experiment.preview is not None
    assert make_plan(experiment, budget_ns=enough_ns, unsupported=unsupported).experiment.preview is None
    cut = make_plan(experiment, budget_ns=enough_ns // 2, unsupported=unsupported)
    assert cut.experiment.preview is not None
    assert len(cut.scenarios) == len(full.scenarios)
    alone = cut.without({scenario.key for scenario in cut.scenarios[:-1]})
    assert full.scenario(left).levels == alone.scenarios[0].levels
    assert enough_ns // 4 < expected_ns(alone, 1) <= enough_ns // 2


@given(budget_ns=st.integers(min_value=1, max_value=10**13), jobs=st.integers(1, 64))
def test_any_budget_gives_a_plan_of_at_least_two_replicates(
    budget_ns: int, jobs: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    experiment = load(tmp_path_factory.mktemp("plan"), LINKS, "link=wire,lossy", "stop.replicates=30")
    made = make_plan(experiment, budget_ns=budget_ns, jobs=jobs)
    assert 2 <= len(made.blocks) <= 30
    assert all(1 <= scenario.workload.exchanges <= 10 for scenario in made.scenarios)


def trials(made: Plan) -> list[Trial]:
    return [trial for block in made.blocks for trial in block.trials]


def test_a_plan_names_files_without_the_folders_of_this_machine(tmp_path: Path) -> None:
    (tmp_path / "paper.claims.toml").touch()
    made = make_plan(load(tmp_path, 'claims = "paper.claims.toml"\n' + LINKS, "link=wire"))
    assert (made.experiment.claims, made.experiment.file) == ("paper.claims.toml", "test.toml")
    assert str(tmp_path) not in json.dumps(made.to_json())


@pytest.mark.parametrize(("timer", "stall_ms"), [("2 s", 25), ("42 ms", 22), ("10 ms", 1)])
def test_a_shorter_timer_than_the_defaults_shortens_the_stall_that_is_allowed(timer: str, stall_ms: int) -> None:
    sets = ("protocol=coap", f"protocols.coap.ack-timeout={timer}", "link.rtt=20 ms")
    made = make_plan(load_experiment("quickstart", sets))
    assert made.stall_ns == stall_ms * 10**6
