"""Single sections: what they say and what they refuse to say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.asked import facts, single_link
from tests.documents import whole_plan
from tests.report.campaigns import judge, read, store, write
from wirelab.report import page
from wirelab.report.answer import answer
from wirelab.report.blocks import Cell, Claims, Column, Figure, Group, Legend, Notes, Section, Table, dash
from wirelab.report.campaign import load
from wirelab.report.grade import grade
from wirelab.report.sections import (
    claims,
    emulation_accuracy,
    glance,
    ledger,
    limits,
    machine,
    messages,
    nat,
    outcomes,
    phases,
    plan,
    published,
    reuse,
    rule,
    sizes,
    trials,
    wire,
)
from wirelab.report.smallest_median import MOST_CONDITIONS
from wirelab.report.workload_words import workload_words
from wirelab.schema import LinkSpec, link_key
from wirelab.schema.estimates import RESPONSES, SPENT
from wirelab.schema.plan import Plan
from wirelab.schema.workload import PubSub, RequestResponse, Stream, Telemetry

JITTER = {"distribution": "normal", "sigma_ns": 30_000_000}


def tables(section: Section | None) -> list[Table]:
    assert section is not None
    found = [block for block in section.blocks if isinstance(block, Table)]
    return found + [t for block in section.blocks for t in getattr(block, "tables", [])]


def cells(table: Table) -> list[list[str]]:
    return [[cell.text for cell in row] for row in table.rows]


def sentences(folder: Path) -> str:
    return "\n".join(line for statement in answer(load(folder, folder)) for line in statement.lines())


def change(folder: Path, name: str, **values: Any) -> None:
    store(folder, name, read(folder, name) | values)


def test_the_quality_is_that_of_the_worst_link(tmp_path: Path) -> None:
    folder = write(tmp_path)
    links = read(folder, "estimates.json")["links"]
    assert grade(load(folder, folder)) == "good"
    links[1] |= {"flag": "limited", "why": "late"}
    change(folder, "estimates.json", links=links)
    assert grade(load(folder, folder)) == "limited"
    links[2] |= {"flag": "unusable", "why": "lost"}
    change(folder, "estimates.json", links=links)
    assert grade(load(folder, folder)) == "unusable"
    assert "unusable, the link: lossy uplink: lost." in str(emulation_accuracy.section(load(folder, folder)))


def test_configured_stands_next_to_measured(tmp_path: Path) -> None:
    folder = write(tmp_path)
    table = tables(emulation_accuracy.section(load(folder, folder)))[0]
    assert cells(table)[2][:9] == [
        "lossy", "uplink", "good", "10.0", "5.00", "9.00", "30.0", "10.0", "10.00 [9.80, 10.20]",
    ]  # fmt: skip
    assert "no rate limit" in table.notes.reasons


def test_measured_effects_on_packets_stand_next_to_configured_ones(tmp_path: Path) -> None:
    folder = write(tmp_path)
    share = {"point": 0.02, "low": 0.01, "high": 0.03, "level": 0.95, "n": 4000, "method": "Clopper-Pearson"}
    none = {**share, "point": 0.0, "low": 0.0, "high": 0.001}
    links = read(folder, "estimates.json")["links"]
    for link in links:
        link["configured"] |= {"corrupted": 0.0, "reordered": None}
        link["measured"] |= {"corrupted": none, "reordered": none}
    links[0]["configured"]["corrupted"], links[0]["measured"]["corrupted"] = 0.02, share
    change(folder, "estimates.json", links=links)
    [table] = [
        each
        for each in tables(emulation_accuracy.section(load(folder, folder)))
        if each.caption.startswith("Duplication")
    ]
    assert cells(table)[0] == ["clean", "uplink", "corrupted", "2.00", "2.0 [1.0, 3.0]", "4,000"]
    assert {row[2] for row in cells(table)[1:]} == {"reordered"}


def test_a_direction_without_packets_is_not_measured_and_does_not_count_for_the_quality(tmp_path: Path) -> None:
    folder = write(tmp_path)
    links = read(folder, "estimates.json")["links"]
    links[1] |= {"flag": "not measured", "why": "no packet passed this way"}
    change(folder, "estimates.json", links=links)
    assert grade(load(folder, folder)) == "good"
    assert "not measured: no packet passed this way" in str(emulation_accuracy.section(load(folder, folder)))


def test_a_median_above_the_timeout_is_shown_as_such(tmp_path: Path) -> None:
    folder = write(tmp_path, links=("clean",))
    scenarios = read(folder, "estimates.json")["scenarios"]
    late = next(scenario for scenario in scenarios if "h2" in scenario["name"])
    late["denominators"] |= {"completed": 12, "timed-out": 28}
    above = {"point": None, "low": 9.5, "high": None, "level": 0.95, "n": 40, "method": "above the time-out"}
    late["metrics"]["end-to-end-delay"] |= {"median": above}
    change(folder, "estimates.json", scenarios=scenarios)
    [_, figure] = glance.section(load(folder, folder)).blocks
    assert isinstance(figure, Figure)
    [table] = figure.tables
    assert next(row for row in cells(table) if row[1] == "h2")[2] == "> 10,000"
    assert "Open triangle: above the timeout" in figure.caption
    assert "median above the time-out of 10,000 ms, 28 of 40 exchanges timed out" in figure.svg
    assert "clean, encrypted: the median of h2 is above the timeout." in sentences(folder)


def test_a_headline_metric_that_is_not_a_time_has_its_own_unit(tmp_path: Path) -> None:
    folder = write(tmp_path, links=("clean",))
    change(folder, "estimates.json", metric="wire-up-bytes", comparisons=[])
    campaign = load(folder, folder)
    (table,) = tables(glance.section(campaign))
    assert [column.unit for column in table.columns if column.title.startswith("median")] == ["B"]
    assert cells(table)[0][2] == "400 [392, 408]"
    assert "400 B [392, 408]" in sentences(folder)


def test_many_jobs_are_summarized_by_their_range(tmp_path: Path) -> None:
    folder = write(tmp_path)
    lanes = [
        {"lane": i, "packets": 9, "p50_s": 2e-6, "p99_s": i * 1e-5, "p999_s": None, "max_s": 1e-3} for i in range(1, 9)
    ]
    change(folder, "estimates.json", link_lateness=lanes)
    said = str(emulation_accuracy.section(load(folder, folder)))
    assert "over 8 parallel trials: p50 2.00 to 2.00 µs, p99 10.0 to 80.0 µs, max 1,000 to 1,000 µs." in said


def test_the_replay_of_every_trial_is_reported(tmp_path: Path) -> None:
    folder = write(tmp_path)
    replay = {"trials": 540, "replayed": 540, "reproduced": 540, "packets": 1_234_567, "mismatches": 0}
    change(folder, "estimates.json", replay=replay)
    said = str(emulation_accuracy.section(load(folder, folder)))
    assert "replay: 540 of 540 trials match their replay packet for packet (1,234,567 packets)." in said
    wrong = replay | {"replayed": 539, "reproduced": 538, "mismatches": 3}
    change(folder, "estimates.json", replay=wrong)
    said = str(emulation_accuracy.section(load(folder, folder)))
    assert "538 of 540" in said
    assert "3 packets do not match" in said
    assert "1 trials have no log that can be read" in said


def test_the_command_that_shows_a_trial_names_no_folder_of_this_machine(tmp_path: Path) -> None:
    folder = write(tmp_path / "my lab" / "c")
    said = str(trials.section(load(folder, folder)))
    assert "wirelab show . 0-" in said
    assert "my lab" not in said


def test_a_certificate_has_a_row_for_each_line(tmp_path: Path) -> None:
    folder = write(tmp_path)
    measured = {"point": 19_980.0, "low": 19_950.0, "high": 20_010.0, "level": 0.999, "n": 9, "method": "Student"}
    rate = {
        "name": "rate", "direction": "uplink", "unit": "bit/s", "configured": 20_000.0, "measured": measured,
        "tolerance": 200.0, "verdict": "in", "grade": "good", "why": None,
    }  # fmt: skip
    nat = {
        **rate,
        "name": "NAT time-out",
        "configured": None,
        "measured": None,
        "verdict": "unjudged",
        "why": "too long",
    }
    found = {"link_names": ["clean"], "probes": "probes/a", "grade": "good", "lines": [rate, nat]}
    change(folder, "estimates.json", certificates=[found])
    groups = [block for block in emulation_accuracy.section(load(folder, folder)).blocks if isinstance(block, Group)]
    [table] = [table for group in groups for table in group.blocks if isinstance(table, Table)]
    assert groups[-1].summary == "Probes of clean: good; 1 in tolerance, 1 not judged"
    assert cells(table)[0][:6] == [
        "uplink", "rate", "20 kbit/s", "19.98 kbit/s [19.95, 20.01]", "± 200 bit/s", "in tolerance",
    ]  # fmt: skip
    assert cells(table)[1][3:] == ["–", "± 200 bit/s", "not judged", "too long"]


def test_a_null_phase_is_a_dash_with_its_reason(tmp_path: Path) -> None:
    folder = write(tmp_path, protocols=("http1", "h3"), links=("clean",))
    table, tail = [t for block in phases.section(load(folder, folder)).blocks for t in getattr(block, "tables", [])]  # type: ignore[union-attr]
    http1, h3 = cells(table)
    assert http1[3:5] == ["22.0 [21.6, 22.4]", "–"]
    assert h3[3:5] == ["–", "22.0 [21.6, 22.4]"]
    assert tail.caption.startswith("The p95 of each phase")
    assert cells(tail)[0][3:5] == ["20.4", "–"]
    assert table.notes.reasons == [
        "builtin clients are given an address", "unencrypted: there is no handshake of TLS or QUIC",
        "over UDP there is no TCP connect",
    ]  # fmt: skip


def test_a_phase_of_some_exchanges_contributes_its_share_to_the_mean_of_all(tmp_path: Path) -> None:
    folder = write(tmp_path, protocols=("h2",), links=("clean",))
    scenarios = read(folder, "estimates.json")["scenarios"]
    metrics = scenarios[0]["metrics"]
    scenarios[0]["denominators"] |= {"completed": 40, "failed": 0}
    metrics["phase-handshake"] |= {"n": 4}
    change(folder, "estimates.json", scenarios=scenarios)
    found = phases.section(load(folder, folder))
    assert found is not None
    [figure] = [block for block in found.blocks if isinstance(block, Figure)]
    assert "TLS or QUIC handshake 2.2 ms" in figure.svg, "a tenth of 22 ms"
    [row] = figure.tables[0].rows
    assert (row[4].text, row[4].title) == (
        "2.20", "in 4 of 40 exchanges; if it happened, 22.0 ms [21.6, 22.4]"
    )  # fmt: skip
    assert ", p95 81.6" in figure.svg
    [legend] = [block for block in found.blocks if isinstance(block, Legend)]
    names = [entry.text for entry in legend.entries]
    assert names == ["TCP connect", "TLS or QUIC handshake", "wait for the response"], "a transfer of 22 µs is not seen"


def test_the_times_of_a_proxy_have_their_own_table(tmp_path: Path) -> None:
    folder = write(tmp_path, protocols=("http1", "h2"), links=("clean",))
    estimates = read(folder, "estimates.json")
    metrics = estimates["scenarios"][0]["metrics"]
    metrics |= {"proxy-time": metrics["phase-connect"], "origin-time": metrics["phase-transfer"]}
    store(folder, "estimates.json", estimates)
    found = phases.section(load(folder, folder))
    assert found is not None
    *_, table = [t for block in found.blocks for t in getattr(block, "tables", [])]
    assert table.caption == "Median time of a request at the proxy"
    assert [row[:3] for row in cells(table)] == [["clean", "http1", "20.0 [19.6, 20.4]"]]


def test_a_quantile_of_too_few_values_says_why_it_is_missing(tmp_path: Path) -> None:
    folder = write(tmp_path)
    (table,) = tables(glance.section(load(folder, folder)))
    assert "fewer than 1,000 values" in table.notes.reasons


def test_completed_and_attempted_and_the_most_frequent_error_are_shown(tmp_path: Path) -> None:
    folder = write(tmp_path, links=("clean",))
    (table,) = tables(outcomes.section(load(folder, folder)))
    assert cells(table)[1] == ["clean", "h2", "40", "39", "1", "2", "reset (1)"]


def test_messages_say_how_subscribers_wait(tmp_path: Path) -> None:
    folder = write(tmp_path / "campaign")
    estimates = read(folder, "estimates.json")
    for scenario in estimates["scenarios"]:
        scenario["messages"] = {"lost": 0, "duplicate": 0, "stalls": None}
    store(folder, "estimates.json", estimates)
    plan = read(folder, "plan.json")
    arrival, wait = {"process": "fixed", "rate_hz": 1.0}, {"by": "poll", "every_ns": 600 * 10**9}
    pubsub = {"kind": "pubsub", "message_bytes": 30, "messages": 10, "arrival": arrival, "timeout_ns": 10**9}
    plan["scenarios"][0]["workload"] = {**pubsub, "wait": wait}
    store(folder, "plan.json", plan)
    [table] = tables(messages.section(load(folder, folder)))
    assert table.columns[2].title == "waits by"
    texts = [row[2] for row in cells(table)]
    assert texts[0] == "asks every 10 min"
    assert set(texts[1:]) == {"–"}


def test_ways_of_waiting_are_described_in_words() -> None:
    arrival = {"process": "fixed", "rate_hz": 1.0}
    pubsub = {"kind": "pubsub", "message_bytes": 30, "messages": 10, "arrival": arrival, "timeout_ns": 10**9}
    comes = {"by": "check-in", "every_ns": 600 * 10**9, "stay_ns": 2 * 10**9}
    words = workload_words(PubSub.model_validate({**pubsub, "wait": comes}))
    assert "to 1 subscribers, each of which checks in every 10 min, stays 2 s; time-out 1 s" in words
    assert "each of which" not in workload_words(PubSub.model_validate(pubsub))


def test_messages_have_a_row_for_each_scenario_and_no_section_without_messages(tmp_path: Path) -> None:
    folder = write(tmp_path, links=("clean",))
    assert messages.section(load(folder, folder)) is None
    estimates = read(folder, "estimates.json")
    first, other = estimates["scenarios"]
    first["messages"] = {"lost": 2, "duplicate": 0, "stalls": None}
    first["metrics"]["delivery-delay"] = first["metrics"]["end-to-end-delay"]
    store(folder, "estimates.json", estimates)
    [table] = tables(messages.section(load(folder, folder)))
    [row] = cells(table)
    assert row[1:5] == ["http1", str(first["denominators"]["exchanges"]), "2", "0"]
    assert row[5].startswith("40.0 [")
    assert row[7] == "–"
    assert "nothing is played out" in table.notes.reasons
    said = sentences(folder)
    assert f"Of {first['denominators']['exchanges']} messages to subscribers 2 were lost." in said
    assert "stalled" not in said
    other["messages"] = {"lost": 0, "duplicate": 0, "stalls": 3}
    store(folder, "estimates.json", estimates)
    assert "stalled 3 times: h2 3." in sentences(folder)


def test_what_clients_did_behind_a_nat_has_a_row_for_each_scenario_and_a_sentence_for_each_protocol(
    tmp_path: Path,
) -> None:
    folder = write(tmp_path, links=("clean",))
    assert nat.section(load(folder, folder)) is None
    estimates = read(folder, "estimates.json")
    first, other = estimates["scenarios"]
    none = {"forgotten": 0, "new_end": 0, "dropped": 0, "reset": 0, "not_completed": 0}
    nothing = dict.fromkeys(RESPONSES, 0)
    first["nat"] = none | {"forgotten": 3, "dropped": 3, "not_completed": 2}
    first["nat"]["responses"] = nothing | {"new connection": 2, "timed out": 1}
    other["nat"] = none | {"responses": nothing}
    store(folder, "estimates.json", estimates)
    [table] = tables(nat.section(load(folder, folder)))
    [mine, silent] = cells(table)
    assert mine[1:7] == ["http1", "3", "3", "2", "2", "1"]
    assert silent[1:7] == ["h2", *["0"] * 5]
    happened = ["mapping forgotten", "dropped", "exchanges not completed", "then: new connection", "then: timed out"]
    assert [column.title for column in table.columns[2:7]] == happened
    said = sentences(folder)
    of_all = first["denominators"]["exchanges"]
    words = f"3 times, then: new connection 2, timed out 1. 2 of {of_all} exchanges did not complete after that."
    assert f"{first['name']}: the NAT forgot a mapping {words}" in said
    assert said.count("the NAT forgot") == 1
    assert f"No packet came after its mapping had ended: {other['name']}." in said


def test_of_many_scenarios_behind_a_nat_those_that_lost_exchanges_are_named(tmp_path: Path) -> None:
    folder = write(tmp_path, links=("clean", "lossy", "slow", "far"))
    estimates = read(folder, "estimates.json")
    for scenario in estimates["scenarios"]:
        counts = {"forgotten": 3, "new_end": 0, "dropped": 0, "reset": 0, "not_completed": 0}
        scenario["nat"] = counts | {"responses": dict.fromkeys(RESPONSES, 0) | {"migrated": 3}}
    unlucky, *others = estimates["scenarios"]
    assert len(others) > MOST_CONDITIONS
    unlucky["nat"]["not_completed"] = 1
    store(folder, "estimates.json", estimates)
    said = sentences(folder)
    assert f"{unlucky['name']}: the NAT forgot a mapping 3 times, then: migrated 3. 1 of" in said
    words = f"the NAT forgot a mapping {3 * len(others)} times, then: migrated {3 * len(others)}."
    assert f"In {len(others)} of {len(others) + 1} scenarios {words}" in said
    assert "All exchanges after that completed." in said
    assert said.count("the NAT forgot") == 2


def test_each_size_has_its_delays_if_downloads_take_turns(tmp_path: Path) -> None:
    folder = write(tmp_path, links=("clean",))
    assert sizes.section(load(folder, folder)) is None
    estimates = read(folder, "estimates.json")
    metrics = estimates["scenarios"][0]["metrics"]
    whole = metrics["end-to-end-delay"]
    metrics["end-to-end-delay-largest"] = whole
    metrics["response-time-largest"] = {**whole, "median": None}
    store(folder, "estimates.json", estimates)
    [table] = tables(sizes.section(load(folder, folder)))
    [row] = cells(table)
    assert row[1:4] == ["http1", "largest", "–"]
    assert row[4].startswith("44.0 [")
    assert row[5].startswith("40.0 [")
    assert row[6:] == ["–"]


def test_a_mean_with_time_outs_is_marked_and_said_to_count_them(tmp_path: Path) -> None:
    folder = write(tmp_path, links=("clean",))
    estimates = read(folder, "estimates.json")
    first, _ = estimates["scenarios"]
    metrics = first["metrics"]
    above = {"point": None, "low": 1.0, "high": None, "level": 0.95, "n": 20, "method": "above the time-out"}
    metrics["end-to-end-delay-largest"] = {**metrics["end-to-end-delay"], "median": above}
    metrics["end-to-end-delay-smallest"] = metrics["end-to-end-delay"]
    first["denominators"]["timed-out"] = 19
    first["downloads"] = {
        "largest": {"bytes": 11_000_000, "exchanges": 20, "completed": 1, "timed-out": 19},
        "smallest": {"bytes": 612, "exchanges": 20, "completed": 20, "timed-out": 0},
    }
    store(folder, "estimates.json", estimates)
    section = sizes.section(load(folder, folder))
    assert "Means count it at the timeout of the workload." in str(section)
    assert "Means of delays count it at the timeout of the workload." in str(outcomes.section(load(folder, folder)))
    [table] = tables(section)
    large, small = table.rows
    assert [cell.text for cell in large[2:4]] == ["11 MB", "1/20"]
    assert large[4].text.endswith("]")
    assert [cell.tone for cell in large[3:6]] == ["unsure"] * 3
    assert large[5].text == "> 10,000"
    assert [cell.text for cell in small[2:4]] == ["612 B", "20/20"]
    assert small[4].text.endswith("]")
    assert small[4].tone is None


def test_the_first_choice_with_rows_is_unfolded(tmp_path: Path) -> None:
    folder = write(tmp_path, links=("clean",), choices={"link.rtt": ("10 ms", "20 ms", "30 ms")})
    estimates = read(folder, "estimates.json")
    for scenario in estimates["scenarios"]:
        if "10ms" not in scenario["key"]:
            scenario["metrics"]["end-to-end-delay-largest"] = scenario["metrics"]["end-to-end-delay"]
    store(folder, "estimates.json", estimates)
    section = sizes.section(load(folder, folder))
    assert section is not None
    assert [block.open for block in section.blocks if isinstance(block, Group)] == [True, False]


def test_sizes_in_turn_are_described_in_words() -> None:
    workload = {
        "kind": "request-response", "upload_bytes": 0, "download_bytes": [11_000_000, 612], "exchanges": 2,
        "arrival": {"process": "closed"}, "concurrency": 1, "timeout_ns": 10**9, "connection": {"policy": "new"},
    }  # fmt: skip
    assert "download 11 MB and 612 B in turn" in workload_words(RequestResponse.model_validate(workload))


def test_a_workload_of_messages_is_described_in_words() -> None:
    stream = {
        "kind": "stream", "message_bytes": 612, "messages": 30, "subscribers": 5, "rate_hz": 25.0,
        "timeout_ns": 10**10, "playout_delay_ns": 2 * 10**8,
    }  # fmt: skip
    assert workload_words(Stream.model_validate(stream)) == (
        "stream: 30 messages a trial of 612 B, evenly spaced at 25.0 /s, to 5 subscribers; time-out 10 s; "
        "the player buffers 200 ms"
    )
    deliver = {
        "kind": "telemetry", "message_bytes": 30, "exchanges": 10, "clients": 50, "arrival": {"process": "closed"},
        "concurrency": 1, "timeout_ns": 10**9, "connection": {"policy": "resumed"},
    }  # fmt: skip
    words = workload_words(Telemetry.model_validate(deliver))
    assert (
        "10 exchanges a trial of each of 50 clients, telemetry messages of 30 B; the next starts when one ends" in words
    )
    assert "resumes the last session" in words


@pytest.mark.parametrize(
    ("arrival", "words"),
    [
        ({"process": "fixed", "rate_hz": 0.1}, "fixed arrivals at 0.1 /s"),
        ({"process": "periodic", "interval_ns": 600 * 10**9}, "one every 10 min"),
        (
            {"process": "periodic", "interval_ns": 600 * 10**9, "jitter_ns": 60 * 10**9},
            "one every 10 min, up to 30 s earlier or later",
        ),
        (
            {"process": "bursts", "interval_ns": 3600 * 10**9, "rate_hz": 2.0, "duration_ns": 10**10},
            "bursts of 20 at 2 /s, one every 1 h",
        ),
    ],
)
def test_arrivals_are_described_in_words(arrival: dict[str, Any], words: str) -> None:
    telemetry = {
        "kind": "telemetry", "message_bytes": 30, "exchanges": 10, "arrival": arrival, "concurrency": 1,
        "timeout_ns": 10**9, "connection": {"policy": "new"},
    }  # fmt: skip
    assert f"of 30 B; {words}, 1 concurrent" in workload_words(Telemetry.model_validate(telemetry))
    pubsub = {"kind": "pubsub", "message_bytes": 30, "messages": 10, "arrival": arrival, "timeout_ns": 10**9}
    paced = words.replace("fixed arrivals", "evenly spaced")
    assert f"of 30 B, {paced}, to 1 subscribers" in workload_words(PubSub.model_validate(pubsub))


def test_a_retry_is_described_in_words() -> None:
    retry = {
        "first_ns": 2 * 10**9, "factor_percent": 150, "longest_ns": 300 * 10**9, "jitter_percent": 20,
        "keep_ns": 43_200 * 10**9, "backlog": 100,
    }  # fmt: skip
    telemetry = {
        "kind": "telemetry", "message_bytes": 30, "exchanges": 10, "concurrency": 1, "timeout_ns": 10**9,
        "arrival": {"process": "periodic", "interval_ns": 600 * 10**9}, "connection": {"policy": "new"},
    }  # fmt: skip
    assert workload_words(Telemetry.model_validate({**telemetry, "retry": retry})).endswith(
        "; time-out 1 s; failed messages are retried in order after a back-off of 2 s, each further one 1.5 times "
        "as long, at most 5 min, up to 10 % longer or shorter, kept for 12 h, at most 100 messages at a time"
    )
    constant = {**retry, "factor_percent": 100, "jitter_percent": 0, "backlog": 1}
    assert workload_words(Telemetry.model_validate({**telemetry, "retry": constant})).endswith(
        "after a back-off of 2 s, kept for 12 h, at most 1 message at a time"
    )
    assert workload_words(Telemetry.model_validate(telemetry)).endswith("; time-out 1 s")


def test_the_publications_numbers_stand_next_to_ours(tmp_path: Path) -> None:
    folder = judge(write(tmp_path))
    (table,) = tables(published.section(load(folder, folder)))
    assert cells(table)[0] == [
        "clean",
        "http1",
        "65.40",
        "44.0 [43.1, 44.9]",
        "50.50",
        "4.00 [3.92, 4.08]",
        "40",
        "40/40",
    ]
    assert published.section(load(write(tmp_path / "none"), tmp_path)) is None


def test_a_published_share_is_in_no_table_of_milliseconds(tmp_path: Path) -> None:
    folder = judge(write(tmp_path))
    estimates = read(folder, "estimates.json")
    for scenario in estimates["scenarios"]:
        share = {**next(iter(scenario["metrics"].values())), "unit": "cpus"}
        scenario["metrics"]["client-utilisation"] = share
    store(folder, "estimates.json", estimates)
    verdicts = read(folder, "verdicts.json")
    printed = {"levels": {}, "statistic": "mean", "value": 0.6, "metric": "client-utilisation"}
    verdicts["published_numbers"].append(printed)
    store(folder, "verdicts.json", verdicts)
    assert "tilisation" not in str(published.section(load(folder, folder)))


def test_what_the_outlier_rule_removed_is_counted(tmp_path: Path) -> None:
    folder = write(tmp_path)
    section = rule.section(load(folder, folder))
    assert section is not None
    assert "'10/40'" in str(section.blocks)


def test_verdicts_for_all_choices_are_a_table_with_the_judged_choice_first(tmp_path: Path) -> None:
    folder = judge(write(tmp_path), [{"link.rtt": "20 ms"}, {"link.rtt": "2 ms"}, {"link.rtt": "50 ms"}])
    table = tables(claims.section(load(folder, folder)))[0]
    assert [row[0] for row in cells(table)] == ["as judged: link.rtt 20 ms", "link.rtt 2 ms", "link.rtt 50 ms"]
    assert cells(table)[0][1:] == ["✓", "✗", "?"]
    assert [cell.spoken for cell in table.rows[1][1:]] == ["contradicted"] * 3


def test_a_verdict_under_a_choice_with_an_unusable_link_is_in_brackets(tmp_path: Path) -> None:
    folder = judge(write(tmp_path), [{"link.rtt": "20 ms"}, {"link.rtt": "2 ms"}])
    verdicts = read(folder, "verdicts.json")
    verdicts["claims"][0]["choices"][0]["link"] = {"flag": "unusable", "why": "late"}
    store(folder, "verdicts.json", verdicts)
    first, second = (row[1] for row in tables(claims.section(load(folder, folder)))[0].rows)
    assert (first.text, first.tone, first.title) == ("(✓)", "unsure", "confirmed (unusable): late")
    assert (second.text, second.tone, second.title) == ("✗", "bad", "contradicted")


def test_a_choice_that_was_not_run_is_a_dash_and_an_inconclusive_one_a_question_mark(tmp_path: Path) -> None:
    folder = judge(write(tmp_path), [{"link.rtt": "20 ms"}, {"link.rtt": "2 ms"}])
    verdicts = read(folder, "verdicts.json")
    for claim, missing in zip(verdicts["claims"], (True, False, False), strict=True):
        claim["choices"][1] |= {"verdict": "inconclusive", "missing": missing}
    store(folder, "verdicts.json", verdicts)
    table = tables(claims.section(load(folder, folder)))[0]
    assert cells(table)[1][1:] == ["–", "?", "?"]
    assert table.notes.reasons == [
        "under this choice not all scenarios that the claim is judged by were run, or not with their settings"
    ]
    assert "ndecided with" not in sentences(folder)


def test_claims_without_choices_have_no_table_of_choices(tmp_path: Path) -> None:
    folder = judge(write(tmp_path), [{"link.rtt": "20 ms"}])
    assert tables(claims.section(load(folder, folder))) == []


def test_only_a_publication_that_removed_outliers_has_an_outlier_rule(tmp_path: Path) -> None:
    folder = judge(write(tmp_path))
    assert "under the publication's own rule" in str(claims.section(load(folder, folder)))
    assert "The publication removed outliers first" in str(published.section(load(folder, folder)))
    assert "under published rule" in page.render(load(folder, folder))
    verdicts = read(folder, "verdicts.json")
    for claim in verdicts["claims"]:
        claim["under_published_rule"] = None
    store(folder, "verdicts.json", verdicts)
    said = str(claims.section(load(folder, folder)))
    assert "Each is judged without removing outliers." in said
    assert "The publication removed outliers first" not in str(published.section(load(folder, folder)))
    assert "under published rule" not in page.render(load(folder, folder))


def test_a_publication_with_its_own_level_has_a_column_of_verdicts_at_that_level(tmp_path: Path) -> None:
    folder = judge(write(tmp_path))
    assert "alone, at the publication" not in page.render(load(folder, folder))
    verdicts = read(folder, "verdicts.json")
    verdicts["family"]["published_level"] = 0.9
    for claim, verdict in zip(verdicts["claims"], ("contradicted", "confirmed", "confirmed"), strict=True):
        claim["at_published_level"] = verdict
    store(folder, "verdicts.json", verdicts)
    [table] = [block for block in claims.section(load(folder, folder)).blocks if isinstance(block, Claims)]  # type: ignore[union-attr]
    assert [*table.otherwise] == ["under published rule", "alone, at the publication’s 90\u00a0%"]
    assert [claim.otherwise[1].text for claim in table.claims] == ["contradicted", "confirmed", "confirmed"]
    assert "alone, at the publication’s 90\u00a0%" in page.render(load(folder, folder))


def test_without_verdicts_there_are_no_claims(tmp_path: Path) -> None:
    folder = write(tmp_path)
    assert claims.section(load(folder, folder)) is None


def test_limits_come_from_the_plan_and_the_notes(tmp_path: Path) -> None:
    folder = judge(write(tmp_path), [{"link.rtt": "20 ms"}, {"link.rtt": "2 ms"}])
    said = str(limits.section(load(folder, folder)))
    assert "Chosen here, since the publication does not state it: link.rtt 20 ms." in said
    assert "not its programs and hardware" in said
    assert "publication" not in str(limits.section(load(write(tmp_path / "none"), tmp_path)))
    plan_ = read(folder, "plan.json")
    plan_["experiment"]["doi"] = "10.1/x"
    store(folder, "plan.json", plan_)
    said = str(limits.section(load(folder, folder)))
    assert "A note of the analysis." in said
    assert "Only the built-in implementation of each protocol" in said
    assert "Chosen here, since the publication (doi 10.1/x) does not state it: link.rtt 20 ms." in said
    assert "Not encrypted: http1." in said


def test_limits_say_what_a_closed_loop_does_not_meet(tmp_path: Path) -> None:
    folder = write(tmp_path)
    assert "follow each other" not in str(limits.section(load(folder, folder)))
    plan_ = read(folder, "plan.json")
    sleeps = [{"after_ns": 10**10, "wake_ns": 10**9}]
    for each in plan_["scenarios"]:
        each["link"]["radio"] = {"buffer_bytes": 1000, "sleeps": sleeps}
    store(folder, "plan.json", plan_)
    said = str(limits.section(load(folder, folder)))
    assert "xchanges follow each other: after the first, no radio falls asleep (" in said
    assert "For messages minutes apart: --set workload.interval=10min --clock virtual." in said


def test_limits_name_the_connections_that_loss_limits_and_the_expected_rate(tmp_path: Path) -> None:
    folder = write(tmp_path)
    said = str(limits.section(load(folder, folder)))
    assert "Random loss, not the link's rate, limits these connections" in said
    assert (
        "h2: on lossy, loss limits one connection to 2.2 of 10 Mbit/s "
        "(cubic, 10 % of packets of 1448 B lost, round trip 20 ms)" in said
    )
    plan_ = read(folder, "plan.json")
    for scenario in plan_["scenarios"]:
        scenario["connections"]["loss_limit"] = None
    store(folder, "plan.json", plan_)
    assert "Random loss" not in str(limits.section(load(folder, folder)))


def test_limits_name_first_retransmissions_that_come_before_an_answer(tmp_path: Path) -> None:
    folder = write(tmp_path)
    assert "First retransmissions" not in str(limits.section(load(folder, folder)))
    plan_ = read(folder, "plan.json")
    takes = {"answer_ns": 2_900_000_000, "takes": "waking and a round trip"}
    plan_["scenarios"][0]["short_timer"] = {"name": "TCP's SYN", "is_setting": False, "timer_ns": 10**9, **takes}
    store(folder, "plan.json", plan_)
    said = str(limits.section(load(folder, folder)))
    assert "First retransmissions come before an answer can, as computed before the run:" in said
    assert "TCP's SYN is retransmitted after 1 s, sooner than waking and a round trip (2.9 s)" in said


def test_connections_and_congestion_control_of_each_protocol_are_named_or_said_to_be_unknown(tmp_path: Path) -> None:
    folder = write(tmp_path)
    [table] = [each for each in tables(machine.section(load(folder, folder))) if "Implementation" in each.caption]
    assert cells(table)[0][-2:] == ["1", "cubic: C = 0.4, beta = 0.7; 1448 B a packet"]
    plan_ = read(folder, "plan.json")
    for scenario in plan_["scenarios"]:
        del scenario["connections"]
    store(folder, "plan.json", plan_)
    [table] = [each for each in tables(machine.section(load(folder, folder))) if "Implementation" in each.caption]
    assert cells(table)[0][-2:] == ["none or not known"] * 2


@pytest.mark.parametrize(
    ("link", "words"),
    [
        ({"uplink": [], "downlink": []}, "each way nothing: packets pass without delay"),
        (
            {"uplink": [{"kind": "loss", "probability": 0.1}], "downlink": []},
            "uplink 10 % lost; downlink nothing: packets pass without delay",
        ),
        (
            {"uplink": [], "downlink": [], "mtu": 600},
            "mtu packets of at most 600 B",
        ),
        (
            {"uplink": [], "downlink": [{"kind": "delay", "delay_ns": 10_000_000, "jitter": JITTER}]},
            "uplink nothing: packets pass without delay; downlink 10 ms ± 30 ms (normal, standard deviation)",
        ),
        ({"uplink": [], "downlink": [], "mtu": 601}, "written by another version of Wirelab: see plan.json"),
    ],
)  # fmt: skip
def test_a_link_is_described_in_words(link: dict[str, Any], words: str) -> None:
    known = words != "written by another version of Wirelab: see plan.json"
    planned = Plan.model_validate(whole_plan({"scenarios": [{"key": "s", "link": link}] if known else []}))
    assert plan.chain(planned, LinkSpec.model_validate(link)) == words


def test_the_command_is_the_recorded_one_or_made_from_the_plan(tmp_path: Path) -> None:
    folder = write(tmp_path)
    assert reuse.rerun_command(load(folder, folder)) == "wirelab run tiny"
    (folder / "campaign.json").unlink()
    assert reuse.rerun_command(load(folder, folder)) == "wirelab run tiny.toml --seed 7"


def test_a_citation_survives_special_characters(tmp_path: Path) -> None:
    folder = write(tmp_path, title="10 % loss & {more}")
    assert r"title = {{10 \% loss \& more}}" in reuse.bibtex(load(folder, folder))


def test_limitations_say_which_parts_of_radio_and_air_are_emulated(tmp_path: Path) -> None:
    folder = write(tmp_path)
    assert "machine: no radio, no contention on a medium, no constrained device" in str(
        limits.section(load(folder, folder))
    )
    wifi = single_link("wifi-good").medium
    assert wifi is not None
    plan_ = read(folder, "plan.json")
    for scenario in plan_["scenarios"]:
        scenario["link"]["medium"] = wifi.to_json()
        if scenario["link_name"] == "lossy":
            scenario["link"]["radio"] = {"sleeps": [], "buffer_bytes": 1500}
        link = scenario["link"]
        plan_.setdefault("link_facts", {})[link_key(link)] = facts(link).model_dump(mode="json")
    store(folder, "plan.json", plan_)
    assert (
        "machine: a model of radio sleep and wake-up (lossy), "
        "a model of frames and contention on the shared medium, no constrained device."
    ) in str(limits.section(load(folder, folder)))


def test_a_cpu_limited_host_is_reported_with_how_often_it_was_throttled(tmp_path: Path) -> None:
    folder = write(tmp_path)
    scenarios = read(folder, "estimates.json")["scenarios"]
    assert not any("CPU limit" in table.caption for table in tables(emulation_accuracy.section(load(folder, folder))))
    client = {"share": 0.1, "periods": 200, "throttled": 150, "throttled_s": 0.25}
    idle = {"share": 0.5, "periods": 0, "throttled": 0, "throttled_s": 0.0}
    scenarios[0]["cpu"] = {"client": client, "server": idle}
    change(folder, "estimates.json", scenarios=scenarios)
    [table] = [each for each in tables(emulation_accuracy.section(load(folder, folder))) if "CPU limit" in each.caption]
    limited, unused = cells(table)
    assert limited[1:] == ["client", "10 %", "200", "75.0", "250"]
    assert unused[1:5] == ["server", "50 %", "0", "–"]


def test_the_background_load_of_each_protocol_stands_side_by_side(tmp_path: Path) -> None:
    folder = write(tmp_path, links=("clean",))
    assert "Background traffic" not in str(emulation_accuracy.section(load(folder, folder)))
    scenarios = read(folder, "estimates.json")["scenarios"]
    met = {"point": 2.0e6, "low": 1.9e6, "high": 2.1e6, "level": 0.95, "n": 7, "method": "hierarchical bootstrap"}
    none = {**met, "point": None, "low": None, "high": None, "n": 0, "method": "no interval: fewer than two values"}
    scenarios[0]["background_bps"], scenarios[1]["background_bps"] = met, none
    change(folder, "estimates.json", scenarios=scenarios)
    [group] = [block for block in emulation_accuracy.section(load(folder, folder)).blocks if isinstance(block, Group)]
    [table] = [block for block in group.blocks if isinstance(block, Table)]
    assert cells(table) == [["clean", "http1", "2,000 [1,900, 2,100]", "7"], ["clean", "h2", "–", "0"]]


def test_a_captured_scenario_shows_the_use_of_its_bytes(tmp_path: Path) -> None:
    folder = write(tmp_path)
    assert ledger.section(load(folder, folder)) is None
    scenarios = read(folder, "estimates.json")["scenarios"]
    none = dict.fromkeys(SPENT, 0.0)
    up = none | {"total": 700.0, "application": 660.0, "payload": 612.0, "headers": 48.0, "ip": 40.0}
    total = {"point": 768.0, "low": 750.0, "high": 790.0, "level": 0.95, "n": 1000, "method": "hierarchical bootstrap"}
    counted = {"exchanges": 1000, "trials": 3, "total": total}
    scenarios[0]["ledger"] = {**counted, "up": up, "down": none | {"total": 68.0, "ip": 20.0, "headers": 48.0}}
    change(folder, "estimates.json", scenarios=scenarios)
    [table] = tables(ledger.section(load(folder, folder)))
    shown = dict(zip([column.title for column in table.columns], cells(table)[0], strict=True))
    assert [shown[title] for title in ("all [interval]", "message", "application's own", "IP headers")] == [
        "768 [750, 790]", "612", "96.0", "60.0",
    ]  # fmt: skip
    assert (shown["exchanges"], shown["trials"]) == ("1,000", "3")
    assert "encrypted, unattributed" not in shown
    scenarios[0]["ledger"]["down"] |= {"payload": None, "headers": None, "sealed": 48.0}
    change(folder, "estimates.json", scenarios=scenarios)
    [table] = tables(ledger.section(load(folder, folder)))
    shown = dict(zip([column.title for column in table.columns], cells(table)[0], strict=True))
    assert (shown["message"], shown["encrypted, unattributed"]) == ("–", "48.0")


def test_metrics_that_a_third_party_client_lacks_have_the_reason_in_their_place(tmp_path: Path) -> None:
    folder = write(tmp_path, protocols=("http1", "h2", "h3"), links=("clean",))
    plan, estimates = read(folder, "plan.json"), read(folder, "estimates.json")
    for scenario, found in zip(plan["scenarios"], estimates["scenarios"], strict=True):
        if scenario["protocol"] == "h2":
            scenario["implementation"] = {"client": "nghttp", "server": "builtin"}
            for name in list(found["metrics"]):
                if name.startswith(("wire", "phase", "retransmissions")):
                    del found["metrics"][name]
    store(folder, "plan.json", plan)
    store(folder, "estimates.json", estimates)
    [figure] = [block for block in wire.section(load(folder, folder)).blocks if isinstance(block, Figure)]
    why = "nghttp does not report which port an exchange used, so packets cannot be assigned to exchanges"
    assert figure.caption == f"Not drawn: h2 (nghttp to builtin) ({why})."
    [table] = figure.tables
    assert {cell.title for row in table.rows if row[1].text.startswith("h2") for cell in row[2:-1]} == {why}
    assert table.notes.lettered
    [figure] = [block for block in phases.section(load(folder, folder)).blocks if isinstance(block, Figure)]
    table, _ = figure.tables
    assert "nghttp does not report when its handshake was over" in table.notes.reasons
    assert "over UDP there is no TCP connect" in table.notes.reasons


def test_dashes_of_several_reasons_are_distinguished_by_letters_and_a_single_one_needs_none() -> None:
    one, two, odd = dash("never came"), dash("not reported"), Cell("7", reason="of a part")
    assert Notes.of([one, Cell("1"), one]) == Notes(["never came"], lettered=False)
    notes = Notes.of([one, two, one])
    assert [notes.letter(cell) for cell in (one, two, Cell("1"))] == ["a", "b", ""]
    assert Notes.of([odd]).letter(odd) == "a"


def test_a_column_without_a_value_is_left_out_and_said_to_be() -> None:
    few, none = dash("fewer than 100 values"), dash("not reported")
    columns = [Column("protocol", numeric=False), Column("median"), Column("p95 [interval]", "ms"), Column("wire")]
    table = Table("t", columns, [[Cell("h2"), Cell("1"), few, none], [Cell("h3"), Cell("2"), few, Cell("7")]])
    assert [column.title for column in table.shown.columns] == ["protocol", "median", "wire"]
    assert table.left_out == "Columns left out: p95 (fewer than 100 values)"
    assert table.shown.notes.reasons == ["not reported"]
    alone = Table("t", columns[:1] + columns[2:3], [[Cell("h2"), few]])
    assert (alone.shown, alone.left_out) == (alone, "")
    marked = Table(
        "t", columns[:2], [[Cell("h2"), dash("not judged")], [Cell("h3"), Cell("–", reason="no", spoken="no")]]
    )
    assert marked.shown == marked


def test_outcomes_that_never_occurred_are_named_once_and_have_no_column(tmp_path: Path) -> None:
    folder = write(tmp_path, links=("clean",))
    [table] = tables(outcomes.section(load(folder, folder)))
    assert "0 throughout: timed out, unsupported, unsupported trials" in table.caption
    titles = [column.title for column in table.columns]
    assert {"exchanges", "completed", "failed", "trials"} <= {*titles}
    assert "timed out" not in titles
    assert {len(row) for row in table.rows} == {len(titles)}
