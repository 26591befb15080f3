"""`wirelab choose`: what it refuses before anything is run, and what it prints."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.cli.choose.worlds import World, live_in, with_kernel
from wirelab.cli import main
from wirelab.cli.choose.work import Work
from wirelab.schema.choose import CHOSEN, read_chosen

LINK = ("--link", "nb-iot-psm")
ASKED = 'send = "64 B"\nevery = "10 min"\nlink = "nb-iot-psm"\nprotocols = ["coaps", "mqtts"]\n'
TARIFF = 'price = "0.50 EUR/MB"\nrounding = "1 kB"\neach = "day"\nfee = "1 EUR/month"\n'


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    return live_in(World(), monkeypatch)


def choose(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["choose", *arguments], prog_name="wirelab")


@pytest.mark.parametrize("virtual", [True, False])
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], ["--link: what to send it over is not given", "hint: such as --link nb-iot-psm"]),
        (["--link", "20 ms"], ["--link: unknown link '20 ms'", "--link ./mine.toml"]),
        (["--link", "nb-iot-psn"], ["--link: unknown link 'nb-iot-psn'", "did you mean 'nb-iot-psm'?"]),
        (["--link", "./none.toml"], ["none.toml"]),
        ([*LINK, "--battery", "2400mAh"], ["--battery: '2400mAh' has no voltage", "hint: such as '2400mAh 3.6V'"]),
        ([*LINK, "--life", "5 years"], ["--life: needs a battery", "hint: --battery '2400mAh 3.6V'"]),
        ([*LINK, "--price", "0.50/MB"], ["--price: '0.50/MB' has no currency", "hint: such as 0.50EUR/MB"]),
        ([*LINK, "--price", "1EUR/MB", "--tariff", "t.toml"], ["--price: price and tariff exclude each other"]),
        ([*LINK, "--tariff", "none.toml"], ["none.toml"]),
        ([*LINK, "--deadline", "100ms"], ["--deadline: 100 ms is less than the link's round trip of 200 ms"]),
        ([*LINK, "--every", "20ms"], ["--every: sending 64 B takes 25.6 ms at 20 kbit/s, longer than", "hint:"]),
        (
            [*LINK, "--reply", "100MB"],
            ["--every: receiving 100 MB takes ", ", longer than the interval of 10 min", "or a smaller --reply"],
        ),
        ([*LINK, "--send", "64"], ["--send", "has no unit", "hint:"]),
        ([*LINK, "--auth", "psk", "--protocols", "coap,mqtt"], ["none of these has --auth psk: coap, mqtt", "hint:"]),
        ([*LINK, "--auth", "keys"], ["--auth: unknown auth 'keys'", "hint:"]),
        ([*LINK, "--protocols", "coapz"], ["--protocols: unknown protocol 'coapz'", "hint: did you mean 'coap"]),
        ([*LINK, "--radio", "nrf91"], ["unknown radio 'nrf91'", "hint: did you mean 'nrf9160-"]),
        ([*LINK, "--delivery", "twice"], ["--delivery: unknown delivery 'twice'", "hint:"]),
        ([*LINK, "--batch", "1,0"], ["--batch: '0' is not a number of readings", "hint: such as 1,6,24"]),
        ([*LINK, "--flip", "colour"], ["--flip: unknown number to change 'colour'", "hint:"]),
        (["none.toml"], ["none.toml: no such file", 'such as send = "64 B"; without one: --link nb-iot-psm']),
        (["nb-iot-psm"], ["nb-iot-psm: no such file", "hint: nb-iot-psm is a link: --link nb-iot-psm"]),
        (["."], [".: is a folder, not a file", 'such as send = "64 B"']),
        (["a.toml", "b.toml"], ["unexpected extra argument (b.toml)"]),
        ([*LINK, "--jobs", "0"], ["--jobs"]),
        ([*LINK, "--jobs", "many"], ["'many' is not a whole number"]),
        (["--link", "20"], ["--link: unknown link '20'", "--link ./mine.toml"]),
        (["--link", "./none.toml"], ["none.toml: no such file", 'with [link] rtt = "20 ms"']),
        ([*LINK, "--battery", "2400mAh 3.6V", "--base-current", "20"], ["--base-current: '20' has no unit", '"20 uA"']),
        ([*LINK, "--base-current", "20mW"], ["--base-current: '20mW' unknown unit 'mW' of a current"]),
        ([*LINK, "--battery", "2400"], ["--battery: '2400' is not a battery's capacity and voltage"]),
        ([*LINK, "--battery", "2400mAh 3.6V", "--life", "5"], ["--life: '5' is not a life", "such as '5 years'"]),
        ([*LINK, "--tariff", "none.toml"], ["none.toml: no such file", "hint: a tariff is a file with price"]),
        ([*LINK, "--every", "10"], ["--every: '10' has no unit", 'write "10 min"']),
        ([*LINK, "--every", "0s"], ["--every: '0s' must be more than 0"]),
        ([*LINK, "--every", "hourly"], ["--every: 'hourly' is not a duration"]),
        ([*LINK, "--send=-5B"], ["--send: '-5B' is negative"]),
        ([*LINK, "--deadline", "10"], ["--deadline: '10' has no unit", 'write "10 s"']),
        ([*LINK, "--command-within", "1"], ["--command-within: '1' has no unit", 'write "1 h"']),
        ([*LINK, "--reply", "5"], ["--reply: '5' has no unit"]),
        ([*LINK, "--protocols", ""], ["--protocols: names nothing ('')", "leave it out, or --protocols coaps,mqtts"]),
        ([*LINK, "--flip", ","], ["--flip: names nothing (,)", "leave it out, or --flip interval"]),
        ([*LINK, "--flip", "interval,size,loss"], ["--flip: a map has at most two axes, not 3"]),
        ([*LINK, "--budget", "5"], ["'--budget': 5 has no unit"]),
        ([*LINK, "--radio", "./none.toml"], ["./none.toml: no such file"]),
        ([*LINK, "--price"], ["option '--price' requires an argument", "hint: wirelab choose --help"]),
        (["--links", "nb-iot-psm"], ["no such option '--links'"]),
    ],
)
def test_wrong_input_is_one_error_with_a_hint_and_starts_nothing(
    arguments: list[str], words: list[str], virtual: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_kernel(monkeypatch, virtual=virtual)
    refused(choose(*arguments), words)
    assert list(tmp_path.iterdir()) == []


def refused(done: Result, words: list[str]) -> None:
    """Exit code 2 and one error."""
    assert done.exit_code == 2, done.output
    assert done.stdout == ""
    for each in words:
        assert each in done.stderr, done.stderr
    assert "Traceback" not in done.output
    assert "\nhint: " in done.stderr, done.stderr
    assert len([line for line in done.stderr.splitlines() if line and not line.startswith("hint: ")]) == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('sned = "64 B"\n', ["mine.toml: sned: unknown key 'sned'", "hint: did you mean 'send'?"]),
        ("send = 64\n", ["mine.toml: send: should be a text in quotation marks", 'hint: such as send = "64"']),
        ("link = true\n", ["mine.toml: link: should be a text in quotation marks"]),
        ('[link]\nrtt = "20 ms"\n', ["mine.toml: link: should be a text", 'link = "./mine.toml"']),
        ('every = ["1 h", "2 h"]\n', ["mine.toml: every: should be a text", 'hint: such as every = "10min"']),
        (f"{ASKED.rpartition('protocols')[0]}protocols = []\n", ["mine.toml: protocols: names nothing ([])"]),
        ('send = ["64 B"]\n', ["mine.toml: send: should be a text in quotation marks"]),
        ('send = "64 B"\nlink = "nb-iot"\n', ["mine.toml: every: what to wait for", 'hint: such as every = "10min"']),
        (f'{ASKED}battery = "2400mAh"\n', ["mine.toml: battery: '2400mAh' has no voltage"]),
        (f'{ASKED}base-current = "20uA"\n', ["mine.toml: base-current: needs a battery", 'battery = "2400mAh 3.6V"']),
        (f'{ASKED}tariff = "none.toml"\n', ["none.toml"]),
        (f'{ASKED}batch = [1, "many"]\n', ["mine.toml: batch: 'many' is not a number of readings"]),
        ("send = \n", ["mine.toml"]),
    ],
)
def test_what_is_wrong_in_a_file_is_named_with_its_key(
    text: str, words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_kernel(monkeypatch)
    (tmp_path / "mine.toml").write_text(text, encoding="utf-8")
    refused(choose("mine.toml"), words)
    assert [each.name for each in tmp_path.iterdir()] == ["mine.toml"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            'price = "0.50 EUR/MB"\nround = "1 kB"\n',
            ["t.toml: round: unknown key 'round'", "hint: did you mean 'rounding'?"],
        ),
        ('fee = "1 EUR/month"\n', ["t.toml: price: has no price", 'hint: write: price = "0.50 EUR/MB"']),
        ('price = "0.50 EUR/MB"\neach = "week"\n', ["t.toml: each: unknown period 'week'", "hint:"]),
        ('price = "1 EUR/MB"\nfee = "1 USD/month"\n', ["t.toml: fee: the fee is in USD, and the price in EUR"]),
    ],
)
def test_what_is_wrong_in_a_tariff_is_named_with_its_key(
    text: str, words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_kernel(monkeypatch)
    (tmp_path / "t.toml").write_text(text, encoding="utf-8")
    refused(choose(*LINK, "--tariff", "t.toml"), words)
    assert [each.name for each in tmp_path.iterdir()] == ["t.toml"]


def test_without_a_file_a_reading_of_64_bytes_comes_each_10_minutes(world: World) -> None:
    done = choose(*LINK, "--protocols", "coaps,mqtts")
    assert done.exit_code == 0, done.output
    record = read_chosen(Path("results/choose-nb-iot-psm") / CHOSEN)
    assert (record["question"]["send_bytes"], record["question"]["every_s"]) == (64, 600)


def test_a_table_comes_first_and_then_the_answer_with_its_page(world: World, tmp_path: Path) -> None:
    done = choose(*LINK, "--protocols", "coaps,mqtts", "--out", "mine")
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("First: coaps, persistent. It is first in ")
    assert done.stdout.endswith("Page    mine/choose.html\n")
    assert done.stderr.startswith("First so far: coaps, persistent.")
    assert {each.name for each in (tmp_path / "mine").iterdir()} == {"choose.html", CHOSEN}
    assert read_chosen(tmp_path / "mine" / CHOSEN)["first"] == "coaps, persistent"


def test_json_prints_the_record_alone(world: World, tmp_path: Path) -> None:
    done = choose(*LINK, "--protocols", "coaps,mqtts", "--json", "--out", "mine")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout) == read_chosen(tmp_path / "mine" / CHOSEN)
    assert (tmp_path / "mine" / CHOSEN).read_text(encoding="utf-8") == done.stdout


def test_a_file_has_the_same_keys_and_options_count_more(world: World, tmp_path: Path) -> None:
    (tmp_path / "device").mkdir()
    (tmp_path / "device" / "t.toml").write_text(TARIFF, encoding="utf-8")
    text = (
        f'{ASKED}tariff = "t.toml"\nbattery = "2400 mAh 3.6 V"\nlife = "5 years"\ndeadline = "20 s"\nbatch = "1,12"\n'
    )
    (tmp_path / "device" / "mine.toml").write_text(text, encoding="utf-8")
    done = choose(
        "device/mine.toml", "--every", "1h", "--life", "2 years", "--auth", "psk", "--protocols", "coaps", "--json"
    )
    assert done.exit_code == 0, done.output
    record = json.loads(done.stdout)
    asked = record["question"]
    assert (asked["send_bytes"], asked["every_s"], asked["life_years"], asked["auth"]) == (64, 3600, 2, "psk")
    assert (asked["battery_mah"], asked["deadline_s"]) == (2400, 20)
    # A tariff of a file stands next to that file.
    assert asked["tariff"] == {
        "currency": "EUR", "per_byte": 0.5e-6, "rounded_to_bytes": 1000, "each": "day", "fee_per_year": 12.0
    }  # fmt: skip
    assert {each["protocol"] for each in record["choices"]} == {"coaps"}
    assert "12 readings in a message" in {each["name"] for each in record["levers"]}


def test_a_tariff_of_an_option_stands_where_one_is(world: World, tmp_path: Path) -> None:
    (tmp_path / "t.toml").write_text(TARIFF, encoding="utf-8")
    done = choose(*LINK, "--protocols", "coaps", "--tariff", "t.toml", "--json")
    assert json.loads(done.stdout)["question"]["tariff"]["fee_per_year"] == 12.0
    priced = choose(*LINK, "--protocols", "coaps", "--price", "2 EUR/MB", "--json")
    assert json.loads(priced.stdout)["choices"][0]["cost_year"] == pytest.approx(164 * 52596 * 2e-6, rel=1e-3)


def test_a_list_in_a_file_is_a_list_of_texts_or_numbers(world: World, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(f"{ASKED}batch = [1, 4]\n", encoding="utf-8")
    record = json.loads(choose("mine.toml", "--json").stdout)
    assert "4 readings in a message" in {each["name"] for each in record["levers"]}


def test_the_results_of_a_profile_of_the_users_own_are_named_by_its_file(world: World, tmp_path: Path) -> None:
    (tmp_path / "my-net.toml").write_text('[link]\nrtt = "80 ms"\n', encoding="utf-8")
    done = choose("--link", "./my-net.toml", "--protocols", "coaps,mqtts")
    assert done.exit_code == 0, done.output
    assert "No radio is known for this link" in done.stdout
    assert (tmp_path / "results" / "choose-my-net" / CHOSEN).is_file()


def test_what_can_rank_nothing_ends_with_1(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    live_in(World(joules=lambda _: None), monkeypatch)
    done = choose(*LINK, "--protocols", "coaps", "--out", "mine")
    assert done.exit_code == 1
    assert done.stdout.startswith("No protocol is first: no choice could be ranked.")
    assert (tmp_path / "mine" / "choose.html").is_file()


def test_a_budget_is_passed_on(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    plain = Work.of

    def of(*given: object) -> Work:
        made.append(given[2])  # type: ignore[arg-type]
        return plain(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(Work, "of", of)
    for more in ((), ("--budget", "90s"), ("--budget", "2h")):
        assert choose(*LINK, "--protocols", "coaps", *more).exit_code == 0
    assert [each / 1e9 for each in made] == [300, 90, 7200]


def test_a_long_table_is_cut_and_says_so(world: World) -> None:
    done = choose(*LINK, "--protocols", "coaps,mqtts,https1,amqps")
    assert " more choices are on the page\n" in done.stdout
    assert "more choices" not in choose(*LINK, "--protocols", "coaps").stdout


def test_a_deadline_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    late = World(late=lambda point: 10 * point.replicates * (point.candidate.connection == "persistent"))
    live_in(late, monkeypatch)
    done = choose(*LINK, "--protocols", "coaps", "--deadline", "10s", "--json")
    record = json.loads(done.stdout)
    assert record["first"] == "coaps, new"
    late = next(each for each in record["choices"] if each["name"] == "coaps, persistent")
    assert late["not_ranked"] == "50 % of its messages are not acknowledged within the deadline."


def test_a_deadline_that_no_choice_keeps_is_said_first_and_exits_with_1(monkeypatch: pytest.MonkeyPatch) -> None:
    live_in(World(late=lambda point: 12 * point.replicates), monkeypatch)
    done = choose(*LINK, "--protocols", "coaps,mqtts", "--deadline", "10s")
    assert done.exit_code == 1, done.output
    assert done.stdout.startswith(
        "No choice keeps the deadline of 10 s. coaps, persistent comes nearest: it acknowledges 40 %"
    )
    assert "First" not in done.output


@pytest.mark.parametrize(
    ("typed", "meant"), [("device/mine.tml", "device/mine.toml"), ("device/mine", "device/mine.toml")]
)
def test_a_file_that_is_not_there_is_refused_with_the_nearest(typed: str, meant: str, tmp_path: Path) -> None:
    (tmp_path / "device").mkdir()
    (tmp_path / "device" / "mine.toml").write_text(ASKED, encoding="utf-8")
    refused(choose(typed), [f"{typed}: no such file", f"hint: did you mean '{meant}'?"])
