"""Every error of an experiment file, as a user reads it."""

import re
from pathlib import Path

import pytest

from tests.described import BASE, load
from tests.snapshots import assert_golden
from wirelab.errors import WirelabError

FACTORS = "[factors]\n"
GE = '{ p = "1 %", r = "1 %", 1-h = "1 %", 1-k = "1 %" }'
LINK = 'rtt = "20 ms"\n'
WORKLOAD = 'upload = "30 B"\n'
STOP = "replicates = 3\n"


def changed(old: str, new: str) -> str:
    assert old in BASE
    return BASE.replace(old, new, 1)


def factor(line: str, text: str = BASE) -> str:
    return text.replace("[links.wire]", f"{line}\n[links.wire]", 1)


WRONG = {
    "not TOML": "title = \n",
    "not TOML at its end": 'title = "',
    "a key twice": BASE + "[stop]\n",
    "unknown table": BASE + "[linkz]\n",
    "unknown key": changed(LINK, 'rrt = "20 ms"\n'),
    "unknown key far from all": changed(LINK, 'colour = "red"\n'),
    "unknown key in an inline table": changed(LINK, 'medium = { rate = "1 Mbit/s", queu = "1 kB", queue = "1 kB" }\n'),
    "no title": changed('title = "Test"\n', ""),
    "a title that is no text": changed('"Test"', "7"),
    "no unit": changed(LINK, "rtt = 20\n"),
    "no unit in text": changed(LINK, 'rtt = "20"\n'),
    "ambiguous unit": changed(WORKLOAD, 'upload = "3.5 KB"\n'),
    "wrong kind of unit": changed(LINK, 'rtt = "20 kB"\n'),
    "rate as people write it": changed(LINK, 'rate = "250 kbps"\n'),
    "no quantity": changed(LINK, 'rtt = "slow"\n'),
    "negative round trip": changed(LINK, 'rtt = "-20 ms"\n'),
    "more than 64 bits": changed(LINK, 'rtt = "1e12 s"\n'),
    "loss above 100 %": changed(LINK, 'loss = "101 %"\n'),
    "part of a byte": changed(WORKLOAD, 'upload = "0.5 B"\n'),
    "rate of 0": changed(LINK, 'rate = "0 kbit/s"\nqueue = "1 kB"\n'),
    "rate without queue": changed(LINK, 'rate = "1 Mbit/s"\n'),
    "queue without rate": changed(LINK, 'queue = "1 kB"\n'),
    "two kinds of delay": changed(LINK, 'rtt = "20 ms"\ndelay = "1 ms"\n'),
    "two kinds of loss": changed(LINK, f'loss = "1 %"\ngilbert-elliott = {GE}\n'),
    "round trip and a direction's delay": changed(LINK, 'rtt = "20 ms"\nuplink = { delay = "1 ms" }\n'),
    "direction said twice": changed(LINK, 'direction = "uplink"\ndownlink = { loss = "1 %" }\n'),
    "unknown direction": changed(LINK, 'loss = "1 %"\ndirection = "upstream"\n'),
    "unknown jitter": changed(LINK, 'jitter = "pareto 5 ms"\n'),
    "jitter without distribution": changed(LINK, 'jitter = "5 ms"\n'),
    "jitter as a number": changed(LINK, "jitter = 5\n"),
    "incomplete Gilbert-Elliott": changed(LINK, 'gilbert-elliott = { p = "1 %" }\n'),
    "unknown profile": changed(LINK, 'profile = "geo-satelite"\n'),
    "link that is no table": changed("[links.wire]\n" + LINK, "[links]\nwire = 3\n"),
    "unknown stack": changed('"h2"', '"http2"'),
    "stack that is no name": changed('"h2"', "2"),
    "no factor stack": changed('stack = ["http1", "h2"]\n', ""),
    "no levels": changed('["http1", "h2"]', "[]"),
    "levels that are no list": changed('["http1", "h2"]', '"http1"'),
    "unknown link": factor('link = ["wire", "wier"]'),
    "several links and none chosen": BASE + "[links.other]\n",
    "path that cannot be varied": factor('"stop.replicates" = [1, 2]'),
    "path to an unknown key": factor('"link.rrt" = ["1 ms"]'),
    "path to an unknown key of the workload": factor('"workload.uplod" = ["1 B"]'),
    "path to an unknown link": factor('"links.wier.rtt" = ["1 ms"]'),
    "path to an unknown stack": factor('"stacks.http2.tls" = ["1.2"]'),
    "path to an unknown setting": factor('"stack.tsl" = ["1.2"]'),
    "path to another stack's setting": factor('"stacks.http1.tls" = ["1.2"]'),
    "level with a wrong unit": factor('"link.rtt" = ["2 ms", "20"]'),
    "level of a setting": factor('"stack.tls" = ["1.2", "1.4"]'),
    "level that contradicts itself": factor('"link.uplink" = [{ loss = "1 %", gilbert-elliott-time = {} }]'),
    "choice that is a factor": BASE + '[choices]\nstack = ["h3"]\n',
    "settings of an unknown stack": BASE + "[stacks.http2]\n",
    "unknown setting": BASE + "[stacks.h2]\ntsl = 1\n",
    "unknown setting of every stack": BASE + "[stack]\ntsl = 1\n",
    "unknown choice of a setting": BASE + '[stacks.h2]\ntls = "1.1"\n',
    "setting that is no boolean": BASE + '[stacks.h2]\nnagle = "yes"\n',
    "size without a unit in a setting": BASE + "[stacks.h2]\ninitial-window = 65535\n",
    "setting out of range": BASE + '[stacks.h2]\ninitial-window = "2 MB"\n',
    "duration out of range": BASE + '[stacks.h3]\nidle = "2 min"\n',
    "duration finer than the setting": BASE + '[stacks.h3]\nidle = "1.5 us"\n',
    "count that is no number": BASE + '[stacks.h2]\nstreams = "many"\n',
    "unknown implementation": BASE + '[stacks.h2]\nimplementation = "apache"\n',
    "unknown implementation of a role": BASE + '[endpoints]\nclient = { implementation = "crul" }\n',
    "implementation without the role": BASE + '[endpoints]\nclient = { implementation = "nginx" }\n',
    "implementation without the stack": factor('stack = ["h3"]', changed('stack = ["http1", "h2"]\n', ""))
    + '[stacks.h3]\nimplementation = "curl"\n',
    "implementation that nothing uses": factor('implementation = ["curl"]', changed('["http1", "h2"]', '["h3"]')),
    "unknown workload": changed(WORKLOAD, 'kind = "stream"\n'),
    "echo of nothing": changed('"h2"', '"raw-udp"').replace(WORKLOAD, ""),
    "echo of nothing, by a level": factor('"workload.upload" = ["30 B", "0 B"]', changed('"h2"', '"raw-udp"')),
    "no exchange": changed(WORKLOAD, "exchanges = 0\n"),
    "more exchanges than 32 bits": changed(WORKLOAD, "exchanges = 4294967296\n"),
    "exchanges that are no number": changed(WORKLOAD, 'exchanges = "10"\n'),
    "no place": changed(WORKLOAD, "concurrency = 0\n"),
    "time-out of 0": changed(WORKLOAD, 'timeout = "0 s"\n'),
    "open loop without a rate": changed(WORKLOAD, 'arrival = { poisson = "0 /s" }\n'),
    "unknown arrival": changed(WORKLOAD, 'arrival = "open"\n'),
    "unknown connection policy": changed(WORKLOAD, 'connection = "keep"\n'),
    "no connection": changed(WORKLOAD, "connection = { kept = 0 }\n"),
    "no replicate": changed(STOP, "replicates = 0\n"),
    "fewer replicates at most than at least": changed(STOP, "replicates = [20, 5]\n"),
    "too many replicates": changed(STOP, "replicates = 10001\n"),
    "replicates that are no number": changed(STOP, 'replicates = "many"\n'),
    "interval of nothing": changed(STOP, 'interval = "10 %"\n'),
    "interval without a width": changed(STOP, 'interval = "0 % of median"\n'),
    "budget of 0": changed(STOP, 'budget = "0 s"\n'),
    "negative seed": "seed = -1\n" + BASE,
    "claims that are not there": 'claims = "none.claims.toml"\n' + BASE,
    "too many scenarios": factor(f'"workload.exchanges" = {list(range(1, 400))}')
    .replace("[links.wire]", f'"workload.download" = {[f"{size} B" for size in range(400)]}\n[links.wire]', 1),
    "several at once": changed(LINK, "rtt = 20\n").replace(WORKLOAD, "exchanges = 0\nuplod = 1\n"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_every_mistake_is_refused_with_its_place(name: str, tmp_path: Path) -> None:
    with pytest.raises(WirelabError) as error:
        load(tmp_path, WRONG[name])
    assert error.value.exit_code == 2
    assert re.match(r"(.*/test\.toml:\d+:\d+: .+\n(hint: .+\n)?)+$", f"{error.value}\n"), str(error.value)


def test_every_message_reads_as_before(tmp_path: Path) -> None:
    parts = []
    for name, text in WRONG.items():
        with pytest.raises(WirelabError) as error:
            load(tmp_path, text)
        parts.append(f"# {name}\n{str(error.value).replace(f'{tmp_path}/', '')}\n")
    assert_golden("experiment-errors.txt", "\n".join(parts))


def test_a_missing_file_is_refused_with_the_nearest_one(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(BASE)
    with pytest.raises(WirelabError) as error:
        load_path(str(tmp_path / "min.toml"))
    assert str(error.value) == f"{tmp_path}/min.toml: no such file\nhint: did you mean 'mine.toml'?"


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WirelabError, match="cannot be read: Is a directory"):
        load_path(str(tmp_path))


def test_a_file_that_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    (tmp_path / "latin.toml").write_bytes(b'title = "Milo\xe6"\n')
    with pytest.raises(WirelabError, match=r"is not UTF-8 \(byte 13\)"):
        load_path(str(tmp_path / "latin.toml"))


def test_an_unknown_name_is_refused_with_the_nearest_shipped_one() -> None:
    with pytest.raises(WirelabError) as error:
        load_path("quikstart")
    assert str(error.value).startswith("error: no experiment 'quikstart'")
    assert "did you mean 'quickstart'?" in str(error.value)


def load_path(name: str) -> None:
    from tests.described import KNOWN
    from wirelab.experiment import load_experiment

    load_experiment(name, (), KNOWN)
