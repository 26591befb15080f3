import re
from itertools import pairwise
from pathlib import Path

import pytest

from tests.cli.test_main import run
from tests.described import BASE
from tests.snapshots import assert_golden
from wirelab.cli.describe import KINDS
from wirelab.cli.list import KINDS as LISTED
from wirelab.metrics.base import Metric
from wirelab.metrics.registry import METRICS


def described(kind: str, name: str) -> str:
    code, out, err = run("describe", kind, name)
    assert (code, err) == (0, "")
    return out


def test_a_protocol_is_described_with_its_settings_and_defaults() -> None:
    out = described("protocol", "h2")
    assert out.startswith("h2: HTTP/2 over TLS over TCP\n")
    assert "tls: 1.3, 1.2 (default 1.3)" in out
    assert "builtin" in out


def test_a_program_is_described_with_the_settings_of_its_own() -> None:
    assert "devtools-latency: 0 ns to 1 min (default 0 ns)" in described("implementation", "chromium")


def test_a_name_is_described_without_its_kind() -> None:
    for kind, name in [("protocol", "coap"), ("link", "nb-iot"), ("metric", "end-to-end-delay")]:
        assert run("describe", name) == (0, described(kind, name), "")
    code, _, err = run("describe", "coapp")
    assert (code, err.splitlines()[0]) == (2, "error: unknown name 'coapp'")
    code, _, err = run("describe", "quic-keep-alive")
    assert (code, err) == (
        2, "error: 'quic-keep-alive' is a setting of h3, mqtt+quic\nhint: wirelab describe h3 describes it\n"
    )  # fmt: skip
    code, _, err = run("describe", "protocol")
    assert (code, err.splitlines()[0]) == (2, "error: which protocol?")


def test_the_parameters_of_coap_have_their_names_and_defaults_in_rfc_7252() -> None:
    out = described("protocol", "coap")
    defaults = {
        "ACK_TIMEOUT": "2 s", "ACK_RANDOM_FACTOR": "150 %", "MAX_RETRANSMIT": "4", "NSTART": "1",
        "DEFAULT_LEISURE": "5 s", "PROBING_RATE": "1 bytes/s", "MAX_LATENCY": "1.67 min",
    }  # fmt: skip
    lines = out.splitlines()
    for name, default in defaults.items():
        head = next(head for head, text in pairwise(lines) if text.startswith(f"  {name} (RFC 7252"))
        assert head.endswith(f"(default {default})"), head


@pytest.mark.parametrize("name", ["nb-iot", "wifi-poor"])
def test_a_link_is_described_with_what_it_does_and_the_source_of_each_number(name: str) -> None:
    assert_golden(f"describe-link-{name}.txt", described("link", name))


def test_a_users_link_is_described_with_its_missing_sources(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('[link]\nrtt = "20 ms"\nloss = "1 %"\n[sources]\nrtt = "a ping of mine"\n', encoding="utf-8")
    out = described("link", str(file))
    assert out.startswith("mine: mine\n\neffects on packets\n  each way  1 % lost, then 10 ms\n")
    assert "  rtt   20 ms  [1]\n  loss  1 %         no source\n" in out
    assert "wirelab run" not in out


def test_an_unknown_link_is_refused_with_the_nearest() -> None:
    code, _, err = run("describe", "link", "nb-iott")
    assert code == 2
    assert "did you mean 'nb-iot'?" in err


def test_descriptions_of_links_fit_a_terminal() -> None:
    for name, _ in LISTED["links"]():
        assert max(len(line) for line in described("link", name).splitlines()) <= 120


def test_an_experiment_is_described_with_its_factors_and_choices() -> None:
    out = described("experiment", "milosevic2021-choices")
    assert "workload.upload      30 B, 3.5 kB" in out
    assert "choices, one at a time" in out
    assert "\ninterpretations\n  lan          link.rtt 2 ms\n" in out


def test_an_experiment_is_described_with_its_claims_its_workloads_and_links_and_how_to_use_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("wirelab.runner.cpus.count", lambda: 2)
    monkeypatch.setattr("wirelab.runner.cpus.real_time", lambda: True)
    assert_golden("describe-experiment-elmangoush2017.txt", described("experiment", "elmangoush2017"))


def test_an_experiment_of_days_is_described_with_the_time_of_both_clocks_and_without_what_is_unsupported() -> None:
    lines = described("experiment", "sensor-day").splitlines()
    [at] = [place for place, line in enumerate(lines) if line.startswith("96 trials, ")]
    scenarios, trials = lines[at - 1 : at + 1]
    assert scenarios.startswith("48 scenarios and 6 unsupported, ")
    assert re.fullmatch(
        r"96 trials, virtual time 100 d, about [0-9.]+ (s|min) of yours on \d+ idle CPUs?, .* MB", trials
    )


def test_the_keys_of_a_workload_are_described_with_bounds_units_and_defaults() -> None:
    asking, page = (" ".join(described("workload", kind).split()) for kind in ("request-response", "page"))
    assert 'More than 0 makes the request a POST. [such as "3.5 kB", default "0 B"]' in asking
    assert "of each client in a trial. [1 to 4,294,967,295, default 10]" in asking
    assert '[such as "10 s", default "10 s"]' in asking
    assert '[such as "10 s", default "1 min"]' in page


def test_levels_that_are_tables_are_described_in_words_and_not_as_python_has_them() -> None:
    assert "workload.page  1 image of 1 kB, 1 image of 100 kB" in described("experiment", "fischer2021-beyond")


def test_a_file_is_described_by_its_name_as_its_kind(tmp_path: Path) -> None:
    file, link = tmp_path / "mine.toml", tmp_path / "link.toml"
    file.write_text(BASE, encoding="utf-8")
    link.write_text('[link]\nrtt = "20 ms"\n', encoding="utf-8")
    assert run("describe", str(file)) == (0, described("experiment", str(file)), "")
    assert run("describe", str(link)) == (0, described("link", str(link)), "")
    file.write_text("not TOML", encoding="utf-8")
    code, _, err = run("describe", str(file))
    assert code == 2
    assert err.startswith(f"{file}:1:")


def test_a_link_and_a_workload_that_a_choice_changes_are_described_as_the_factors_have_them() -> None:
    lines = described("experiment", "milosevic2021-choices").splitlines()
    assert "  lossless  each way 10 ms (and 4 more variants by the levels above)" in lines
    assert lines[lines.index("workloads") + 1].strip().startswith("20 exchanges a trial, upload 30 B, download 0 B;")


def test_a_users_experiment_is_described_without_a_hint_to_copy_it(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(BASE, encoding="utf-8")
    out = described("experiment", str(file))
    assert f"wirelab run {file}" in out
    assert "wirelab new" not in out
    assert "\nclaims\n" not in out


@pytest.mark.parametrize("kind", KINDS)
def test_everything_listed_can_be_described(kind: str) -> None:
    for name, _ in LISTED[f"{kind}s"]():
        assert name in described(kind, name)


def test_a_link_without_effects_can_be_described_too() -> None:
    out = described("link", "clean")
    assert out.startswith("clean: a link without effects\n")
    assert "wirelab link clean --set rtt=50ms --set loss=1% -- COMMAND" in out
    assert "wirelab run" not in out


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_every_metric_is_described_with_its_column(metric: Metric) -> None:
    assert f"Column {metric.column} of {metric.of}s.parquet, in {metric.unit or '1'}." in described(
        "metric", metric.name
    )


@pytest.mark.parametrize(
    ("metric", "unit"), [("goodput", "kbit/s"), ("end-to-end-delay", "ms"), ("retransmissions", "1")]
)
def test_a_metrics_unit_is_that_of_tables_and_reports(metric: str, unit: str) -> None:
    assert described("metric", metric).startswith(f"{metric} [{unit}], of each exchange\n")


def test_a_name_that_is_part_of_links_is_described_with_them() -> None:
    text = run("describe", "wifi")[1]
    assert [line.split()[0] for line in text.partition("\nlinks\n")[2].splitlines()] == [
        "wifi-g",
        "wifi-good",
        "wifi-n",
        "wifi-n-ps",
        "wifi-poor",
    ]


def test_without_a_name_the_name_is_missing_and_not_its_kind() -> None:
    assert run("describe") == (2, "", "error: missing argument 'NAME'\nhint: wirelab list names what there is\n")
