"""The sentences at the top follow from the files, or are not there."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

from tests.documents import whole_estimates
from tests.report import campaigns
from tests.report.campaigns import judge, read, store
from tests.report.html_checks import Page
from wirelab.report import page
from wirelab.report.answer import answer
from wirelab.report.blocks import Items, Table
from wirelab.report.campaign import load
from wirelab.report.grade import graded, reasons
from wirelab.report.sections import comparisons, emulation_accuracy, limits, outcomes

write = partial(campaigns.write, protocols=("https1", "h2"))


def sentences(folder: Path) -> str:
    return "\n".join(line.strip() for statement in answer(load(folder, folder)) for line in statement.lines())


def test_every_group_of_scenarios_is_answered_and_references_do_not_compete(tmp_path: Path) -> None:
    protocols = ("raw-tcp", "https1", "h2")
    folder = write(tmp_path, protocols=protocols, links=("clean",), choices={"link.rtt": ("10 ms", "20 ms")})
    said = sentences(folder)
    assert said.count("https1 has the smallest median of the application protocols, ") >= 2
    assert "link.rtt 10 ms" in said
    assert "link.rtt 20 ms" in said


def test_without_claims_it_names_the_protocol_with_the_lowest_delay_and_the_ratio(tmp_path: Path) -> None:
    said = sentences(write(tmp_path))
    both = "clean: https1 has the smallest median, 40.0 ms [39.2, 40.8].\nh2 takes 2.00 [1.96, 2.04] times as long.\n"
    assert both in said


def test_a_ratio_with_an_interval_around_1_is_not_significant(tmp_path: Path) -> None:
    folder = write(tmp_path, links=("clean",))
    estimates = read(folder, "estimates.json")
    ratio = {"point": 1.01, "low": 0.97, "high": 1.05, "level": 0.95, "n": 80, "method": "made up"}
    estimates["comparisons"][0]["ratio_of_medians"] = ratio
    store(folder, "estimates.json", estimates)
    said = sentences(folder)
    assert "h2 is not significantly different: the ratio is 1.01 [0.97, 1.05]." in said
    assert "clean: no difference shown between https1 and h2.\nhttps1 has a median of 40.0 ms" in said
    assert "smallest" not in said


def test_a_campaign_is_ranked_by_its_statistic(tmp_path: Path) -> None:
    folder = write(tmp_path, links=("clean",))
    estimates = read(folder, "estimates.json")
    estimates["statistic"] = "p95"
    by_key = {scenario["key"]: scenario["metrics"]["end-to-end-delay"] for scenario in estimates["scenarios"]}
    [comparison] = [each for each in estimates["comparisons"] if each["metric"] == "end-to-end-delay"]
    https1 = comparison["a"] if comparison["a"].startswith("https1") else comparison["b"]
    for key, metric in by_key.items():
        p95 = 0.3 if key == https1 else 0.1
        metric["quantiles"]["0.95"] = {**metric["median"], "point": p95, "low": p95 * 0.9, "high": p95 * 1.1}
    ratio = {**comparison["ratio_of_medians"], "point": 3.0, "low": 2.5, "high": 3.5}
    if comparison["a"] != https1:
        ratio |= {"point": 1 / 3, "low": 1 / 3.5, "high": 1 / 2.5}
    unusable = {"flag": "unusable", "why": "nobody knows", "causes": ["the link"], "error_s": None}
    comparison |= {"ratio_of_percentiles": ratio, "link_of_percentiles": unusable}
    store(folder, "estimates.json", estimates)
    said = sentences(folder)
    assert "clean: h2 has the smallest 95th percentile, 100 ms [90, 110]." in said
    assert "https1 takes 3.0 [2.5, 3.5] times as long. Its quality is unusable" in said
    assert "smallest median" not in said
    columns, *_ = [block for block in comparisons.section(load(folder, folder)).blocks if isinstance(block, Table)]
    assert "ratio of p95 a/b [interval]" in [column.title for column in columns.columns]


def with_own_protocol(tmp_path: Path) -> Path:
    folder = write(tmp_path, protocols=("http1", "mine"), links=("clean",))
    plan = read(folder, "plan.json")
    for scenario in plan["scenarios"]:
        if scenario["protocol"] == "mine":
            scenario["implementation"] = {"client": "mine-py", "server": "mine-py"}
    store(folder, "plan.json", plan)
    return folder


def test_a_difference_of_protocol_and_program_names_both(tmp_path: Path) -> None:
    folder = with_own_protocol(tmp_path)
    said = sentences(folder)
    assert "mine (mine-py) takes 1.50 [1.47, 1.53] times as long" in said
    assert "times as long. Protocol and program differ: mine-py against builtin." in said
    section = comparisons.section(load(folder, folder))
    assert section is not None
    assert "Protocol and program both differ" in str(section)
    assert "mine (mine-py) against http1" in str(section) or "http1 against mine (mine-py)" in str(section)


def with_ratio(folder: Path, low: float, high: float) -> str:
    estimates = read(folder, "estimates.json")
    for comparison in estimates["comparisons"]:
        same = comparison["a"].startswith("h2")
        bounds = (low, high) if same else (1 / high, 1 / low)
        point = 30.0 if same else 1 / 30.0
        comparison["ratio_of_medians"] = {
            "point": point, "low": bounds[0], "high": bounds[1], "level": 0.95, "n": 80, "method": "made up",
        }  # fmt: skip
    store(folder, "estimates.json", estimates)
    return sentences(folder)


def test_an_interval_over_orders_of_magnitude_is_not_quoted(tmp_path: Path) -> None:
    folder = write(tmp_path, links=("clean",))
    assert "h2 is not significantly different: too few trials." in with_ratio(folder, 0.02, 39_139.2)
    assert "h2 takes longer; too few trials to say how much." in with_ratio(folder, 1.5, 39_139.2)
    assert "h2 takes 30 [2, 900] times as long" in with_ratio(folder, 2.0, 900.0)


def test_an_energy_is_called_higher_and_not_longer(tmp_path: Path) -> None:
    folder = write(tmp_path, links=("clean",))
    for name in ("plan.json", "estimates.json"):
        text = (folder / name).read_text()
        (folder / name).write_text(text.replace('"end-to-end-delay"', '"radio-energy"'))
    assert "h2 takes 2.00 [1.96, 2.04] times as much." in sentences(folder)


def test_in_a_large_grid_only_scenarios_with_a_known_smallest_median_count(tmp_path: Path) -> None:
    links = tuple(f"link{number}" for number in range(8))
    folder = write(tmp_path, links=links)
    leads = "https1 has the smallest median of end-to-end delay in"
    assert f"{leads} 8 of 8 conditions." in sentences(folder)
    assert "not clear" not in sentences(folder)
    estimates = read(folder, "estimates.json")
    for comparison in estimates["comparisons"][:3]:
        comparison["ratio_of_medians"] |= {"low": 0.5, "high": 3.0}
    store(folder, "estimates.json", estimates)
    assert f"{leads} 5 of 8 conditions.\nIn 3 there is no clear winner." in sentences(folder)
    none = (
        "No difference shown: no protocol clearly has the smallest median of end-to-end delay in any of 8 conditions."
    )
    assert none in with_ratio(folder, 0.5, 60.0)


def test_verdicts_on_an_unusable_link_or_host_are_counted_separately(tmp_path: Path) -> None:
    folder = judge(write(tmp_path))
    verdicts = read(folder, "verdicts.json")
    held, contradicted, inconclusive = verdicts["claims"]
    contradicted["link"] = inconclusive["link"] = {"flag": "unusable", "why": "it is late"}
    verdicts["claims"].append({**contradicted, "id": "M4", "link": {"flag": "good", "why": "it is good"}})
    store(folder, "verdicts.json", verdicts)
    said = sentences(folder)
    assert "Of 4 published claims: 1 confirmed, 2 contradicted, 1 inconclusive." in said
    assert "M2 contradicted: on an unusable link or machine." in said
    held["link"] = {"flag": "limited", "why": "it is so-so"}
    store(folder, "verdicts.json", verdicts)
    assert "M1 confirmed: on a link or machine of limited quality." in sentences(folder)


def test_a_difference_that_the_link_could_have_made_says_so(tmp_path: Path) -> None:
    folder = write(tmp_path, links=("clean",))
    estimates = read(folder, "estimates.json")
    estimates["comparisons"][0]["link"] = {"flag": "limited", "why": "it is small", "error_s": 0.02}
    store(folder, "estimates.json", estimates)
    assert "h2 takes 2.00 [1.96, 2.04] times as long. Its quality is limited: it is small." in sentences(folder)


def test_one_application_protocol_has_no_comparison(tmp_path: Path) -> None:
    said = sentences(write(tmp_path, protocols=("raw-tcp", "https1"), links=("clean",)))
    assert "clean: the median of https1 is 40.0 ms [39.2, 40.8]." in said
    assert "No other application protocol was measured, so there is no comparison." in said
    assert "smallest" not in said


def test_one_application_protocol_is_not_said_to_win_a_big_grid(tmp_path: Path) -> None:
    links = tuple(f"link{number}" for number in range(8))
    said = sentences(write(tmp_path, protocols=("raw-tcp", "https1"), links=links))
    assert "Only one application protocol was measured, https1, so there is no comparison." in said
    assert "mallest" not in said


def without_values(folder: Path, protocol: str, *, links: tuple[str, ...] = (), statistic: str = "median") -> None:
    """Takes the values of a protocol away, as of one whose exchanges all failed; or its percentile, for too few."""
    estimates = read(folder, "estimates.json")
    estimates["statistic"] = statistic
    for scenario in estimates["scenarios"]:
        if not scenario["key"].startswith(f"{protocol}-") or (
            links and not any(f"-{link}-" in scenario["key"] for link in links)
        ):
            continue
        if statistic == "median":
            scenario["metrics"].pop("end-to-end-delay")
            scenario["denominators"] |= {"completed": 0, "failed": scenario["denominators"]["exchanges"]}
        else:
            scenario["metrics"]["end-to-end-delay"]["quantiles"]["0.95"] = None
            scenario["metrics"]["end-to-end-delay"]["n"] = 80
    store(folder, "estimates.json", estimates)


def test_one_that_others_without_a_value_cannot_be_compared_with_has_not_the_smallest(tmp_path: Path) -> None:
    folder = write(tmp_path, links=("clean",))
    without_values(folder, "h2")
    said = sentences(folder)
    assert "clean: the median of https1 is 40.0 ms [39.2, 40.8]." in said
    assert "No other application protocol has a median, so there is no comparison." in said
    assert "h2 has no median: no exchange completed." in said
    assert "smallest" not in said


def test_too_few_values_for_the_percentile_that_ranks_are_counted(tmp_path: Path) -> None:
    folder = write(tmp_path, links=("clean",))
    without_values(folder, "https1", statistic="p95")
    said = sentences(folder)
    assert "clean: the 95th percentile of h2 is " in said
    assert "https1 has no 95th percentile: it has 80 of the 100 values that it needs." in said
    assert "smallest" not in said
    without_values(folder, "h2", statistic="p95")
    said = sentences(folder)
    assert "No protocol has a 95th percentile, so none is ranked." in said
    assert "https1 and h2 have no 95th percentile: it has 80 of the 100 values that it needs." in said


def test_a_kind_of_protocols_without_any_value_is_named_next_to_the_other(tmp_path: Path) -> None:
    folder = write(tmp_path, protocols=("http1", "h2"), links=("clean",))
    without_values(folder, "http1")
    said = sentences(folder)
    assert "clean, encrypted: the median of h2 is 80.0 ms" in said
    assert "clean, unencrypted: http1 has no median: no exchange completed." in said


def test_the_smallest_of_those_that_have_a_value_is_said_to_be_that(tmp_path: Path) -> None:
    folder = write(tmp_path, protocols=("https1", "h2", "h3"), links=("clean",))
    without_values(folder, "h3")
    said = sentences(folder)
    assert "clean: https1 has the smallest median of the protocols that have one, 40.0 ms" in said
    assert "h3 has no median: no exchange completed." in said


def test_a_win_needs_a_comparison_of_usable_quality(tmp_path: Path) -> None:
    links = tuple(f"link{number}" for number in range(8))
    folder = write(tmp_path, links=links)
    without_values(folder, "h2", links=links[:3])
    estimates = read(folder, "estimates.json")
    unusable = [each for each in estimates["comparisons"] if "-link7-" in each["a"]]
    assert unusable
    for comparison in unusable:
        comparison["link"] = {"flag": "unusable", "why": "late", "causes": ["the link"], "error_s": None}
    store(folder, "estimates.json", estimates)
    said = sentences(folder)
    assert "https1 has the smallest median of end-to-end delay in 4 of 8 conditions." in said
    assert "In 4 there is no clear winner." in said
    assert "h2 has no median in 3 of 8 conditions: no exchange completed." in said


def test_cpu_contention_is_blamed_on_the_machine_and_reported_once(tmp_path: Path) -> None:
    folder = write(tmp_path)
    estimates = read(folder, "estimates.json")
    for scenario in estimates["scenarios"]:
        scenario["endpoints"] = {"flag": "unusable", "share": 0.2, "why": "endpoints waited 6 ms", "cure": "rest"}
    for comparison in estimates["comparisons"]:
        comparison["link"] = {"flag": "unusable", "why": "h2: endpoints waited 6 ms", "causes": ["the machine"]}
    store(folder, "estimates.json", estimates)
    said = sentences(folder)
    assert "h2 takes 2.00 [1.96, 2.04] times as long. Its quality is unusable: the machine." in said
    assert said.count("endpoints waited") == said.count("Fix: rest.") == 1
    assert "Unusable, the machine: " in said
    header = page.header(load(folder, folder))
    assert header.grade.text == "good in 0 of 4 scenarios, else at worst unusable (the machine, not the link)"
    [warning] = header.warnings
    assert warning.startswith("CPU contention delayed endpoints")
    section = comparisons.section(load(folder, folder))
    assert section is not None
    [reasons] = [block for block in section.blocks if isinstance(block, Items)]
    count = len(estimates["comparisons"])
    assert reasons.items == [f"Quality unusable, {count} comparisons (the machine): h2: endpoints waited 6 ms."]
    grades = [
        row[at].text for block in section.blocks if isinstance(block, Table) for row in block.rows for at in (4, 6)
    ]
    assert set(grades) == {"unusable"}


def test_each_ratio_of_a_comparison_shows_its_own_quality(tmp_path: Path) -> None:
    folder = write(tmp_path, links=("clean",))
    estimates = read(folder, "estimates.json")
    for comparison in estimates["comparisons"]:
        late = {"flag": "unusable", "why": "it is late", "causes": ["the link"], "error_s": None}
        comparison["link_of_means"] = late
    store(folder, "estimates.json", estimates)
    section = comparisons.section(load(folder, folder))
    assert section is not None
    table = next(block for block in section.blocks if isinstance(block, Table))
    titles = [column.title for column in table.columns]
    [row] = table.rows
    shown = dict(zip(titles, (cell.text for cell in row), strict=True))
    assert (shown["grade of means"], shown["grade of medians"]) == ("unusable", "good")
    [reasons] = [block for block in section.blocks if isinstance(block, Items)]
    count = len(estimates["comparisons"])
    words = f"{count} ratio{'s' * (count > 1)} of means"
    assert reasons.items == [f"Quality unusable, {words} (the link): it is late."]


def test_cpu_waiting_is_one_reason_and_steal_another(tmp_path: Path) -> None:
    folder = write(tmp_path)
    estimates = read(folder, "estimates.json")
    words = "endpoints waited {} for a CPU in each exchange, {}"
    whys = [
        words.format("6 ms", "20.0% of its duration"), words.format("2.0 s", "1.6 times its duration"),
        words.format("800 us", "13.0% of its duration"), "a hypervisor gave 20% of a CPU to others",
    ]  # fmt: skip
    for scenario, why in zip(estimates["scenarios"], whys, strict=True):
        scenario["endpoints"] = {"flag": "unusable", "share": len(why), "why": why, "cure": "rest"}
    waits, steal = reasons(whole_estimates(estimates))
    assert "and 2 other scenarios: endpoints waited 2.0 s" in waits
    assert "a hypervisor gave 20%" in steal


def test_an_echo_reference_wins_nothing(tmp_path: Path) -> None:
    assert "raw-tcp has" not in sentences(write(tmp_path, protocols=("raw-tcp", "https1")))


def test_a_count_of_verdicts_is_the_first_sentence(tmp_path: Path) -> None:
    first, second, *_ = sentences(judge(write(tmp_path))).splitlines()
    assert first == "M1 confirmed: HTTP/3 beats HTTP/2 in 17 [15, 19] of 24 comparisons."
    assert second == "The paper counts 19."


def test_a_verdict_that_depends_on_a_choice_names_it(tmp_path: Path) -> None:
    folder = judge(write(tmp_path), [{"link.rtt": "20 ms"}, {"link.rtt": "2 ms"}])
    assert "Confirmed with link.rtt 20 ms; contradicted with link.rtt 2 ms." in sentences(folder).splitlines()[2]


def test_verdicts_are_counted_and_the_publications_own_numbers_are_judged(tmp_path: Path) -> None:
    said = sentences(judge(write(tmp_path)))
    assert "Of 3 published claims: 1 confirmed, 1 contradicted, 1 inconclusive." in said
    assert "The publication's own numbers or its experiment contradict M2." in said


def test_an_unencrypted_protocol_is_marked_only_next_to_an_encrypted_one(tmp_path: Path) -> None:
    said = sentences(write(tmp_path / "both", protocols=("http1", "h2")))
    assert "Unencrypted: http1 (HTTP1)." in said
    assert "Unencrypted" not in sentences(write(tmp_path / "one", protocols=("http1",)))


def test_encrypted_and_unencrypted_protocols_are_ranked_apart(tmp_path: Path) -> None:
    said = sentences(write(tmp_path, protocols=("raw-tcp", "http1", "coap", "https1", "h2"), links=("clean",)))
    assert "clean, encrypted: https1 has the smallest median, 40.0 ms" in said
    assert "clean, unencrypted: http1 has the smallest median of the application protocols, 40.0 ms" in said
    assert said.count("h2 takes 2.00 [1.96, 2.04] times as long") == 1


def test_one_encrypted_and_one_unencrypted_protocol_are_not_ranked(tmp_path: Path) -> None:
    said = sentences(write(tmp_path, protocols=("http1", "h2"), links=("clean",)))
    assert "clean, encrypted: the median of h2 is 80.0 ms" in said
    assert "No other encrypted application protocol was measured, so there is no comparison." in said
    assert "times as long" not in said
    assert "smallest" not in said


def test_a_large_grid_counts_the_smallest_medians_of_encrypted_and_of_unencrypted_protocols(tmp_path: Path) -> None:
    links = tuple(f"l{number}" for number in range(8))
    said = sentences(write(tmp_path, protocols=("http1", "coap", "https1", "h2"), links=links))
    assert "https1 has the smallest median of end-to-end delay among encrypted protocols in 8 of 8 conditions." in said
    assert "http1 has the smallest median of end-to-end delay among unencrypted protocols in 8 of 8 conditions." in said


def test_the_p95_is_put_down_to_retransmission_only_if_true_for_every_protocol(tmp_path: Path) -> None:
    folder = write(tmp_path)
    assert "On links with loss, the p95 of every protocol is a retransmission" in sentences(folder)
    estimates = read(folder, "estimates.json")
    estimates["scenarios"][2]["metrics"]["end-to-end-delay"]["modes"] = []
    store(folder, "estimates.json", estimates)
    assert "On links with loss" not in sentences(folder)


def test_a_proxy_is_named_next_to_its_protocol_and_each_link_has_its_checks(tmp_path: Path) -> None:
    folder = write(tmp_path)
    assert "proxy" not in sentences(folder)
    plan = read(folder, "plan.json")
    air = {"name": "air", "near": ["client", "laptop"], "far": ["proxy", "server"]}
    wire = {"name": "wire", "near": ["proxy"], "far": ["server"], "link": {"uplink": [], "downlink": []}}
    for scenario in plan["scenarios"]:
        if scenario["protocol"] == "h2":
            scenario |= {"origin": {"protocol": "https1", "settings": {}}, "topology": [air, wire]}
    store(folder, "plan.json", plan)
    loaded = load(folder, folder)
    assert "Delays of h2 include a proxy on the way to the server and back." in sentences(folder)
    assert "The proxy speaks https1 to the server." in sentences(folder)
    assert "h2 (by a proxy, https1 to the server)" in str(limits.section(loaded))
    checked = [
        block
        for block in emulation_accuracy.section(loaded).blocks
        if isinstance(block, Table) and "topology" in block.caption
    ]
    rows = [[cell.text for cell in row] for row in checked[0].rows]
    assert rows[-1] == ["wire", "proxy to server", "–", "–", "–"]
    assert rows[0][:2] == ["air (clean)", "client, laptop to proxy, server"]
    assert rows[0][3] == "yes, each direction"
    assert "the effect of laptop on the medium" in str(emulation_accuracy.section(loaded))
    providers = {series.label: series.provider for series in loaded.series}
    assert providers["h2"].endswith("; by a proxy, https1 to the server")
    assert "proxy" not in providers["https1"]


def test_probes_of_a_link_behind_a_proxy_are_shown_and_count_for_the_quality(tmp_path: Path) -> None:
    folder = write(tmp_path)
    plan, estimates = read(folder, "plan.json"), read(folder, "estimates.json")
    wire = {"name": "wire", "near": ["proxy"], "far": ["server"], "link": {"uplink": [], "downlink": []}}
    for scenario in plan["scenarios"]:
        scenario["topology"] = [{"name": "air", "near": ["client"], "far": ["proxy", "server"]}, wire]
    found = {
        "link_names": [], "topology_links": ["wire"], "probes": "probes/a", "grade": "limited", "lines": [],
        "flag": "limited", "why": "probes found out of tolerance: rate",
    }  # fmt: skip
    store(folder, "plan.json", plan)
    store(folder, "estimates.json", estimates | {"certificates": [found]})
    loaded = load(folder, folder)
    assert reasons(loaded.estimates) == ["limited, the link: the link wire: probes found out of tolerance: rate."]
    assert "It is worst in the link wire." in sentences(folder)
    [table] = [b for b in emulation_accuracy.section(loaded).blocks if isinstance(b, Table) and "topology" in b.caption]
    assert [row[2].text for row in table.rows][-1].startswith("limited")


def test_unsupported_scenarios_are_named_with_the_reason_and_do_not_count_as_failed(tmp_path: Path) -> None:
    folder = write(tmp_path, protocols=("https1", "h2"))
    lines = [json.loads(line) for line in (folder / "journal.jsonl").read_text().splitlines()]
    for line in lines:
        if "h2" in line["scenario"] and "clean" in line["scenario"]:
            line |= {"status": "unsupported", "error": "curl does not do downloads of several sizes in turn"}
    (folder / "journal.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    why = "curl does not do downloads of several sizes in turn."
    assert f"h2 was not measured in 1 of 2 scenarios: {why}" in sentences(folder)
    assert "of 3 scenarios" in graded(load(folder, folder))
    [table] = [block for block in outcomes.section(load(folder, folder)).blocks if isinstance(block, Table)]
    errors = [row[-1].text for row in table.rows]
    assert [text for text in errors if text.startswith("not supported")] == [
        "not supported: curl does not do downloads of several sizes in turn"
    ]
    for line in lines:
        if "h2" in line["scenario"]:
            line |= {"status": "unsupported", "error": "curl does not do downloads of several sizes in turn"}
    (folder / "journal.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    said = sentences(folder)
    assert f"h2 was not measured: {why}" in said
    assert "No trial of h2" not in said


def test_each_sentence_is_short_and_links_to_its_evidence(tmp_path: Path) -> None:
    folder = judge(write(tmp_path), [{"link.rtt": "20 ms"}, {"link.rtt": "2 ms"}])
    statements = answer(load(folder, folder)) + answer(load(write(tmp_path / "alone"), tmp_path / "alone"))
    every = [each for statement in statements for each in (statement, *statement.more)]
    assert max(len(sentence.split()) for each in every for sentence in each.text.split(". ")) <= 25
    assert not [each.text for each in every if each.text.count("(") > 1 or (";" in each.text and "(" in each.text)]
    page_ = Page(page.render(load(folder, folder)))
    assert {each.href.removeprefix("#") for each in statements if each.href} <= {*page_.ids}
    fastest = next(each for each in statements if "smallest median, 40.0 ms" in each.text)
    assert (fastest.basis, fastest.how, fastest.href) == ("n = 40", "95% interval, made up", "#glance")
    assert fastest.more[0].href == "#comparisons"
