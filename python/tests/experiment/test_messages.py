"""Every error of an experiment file, as a user reads it."""

import re
from pathlib import Path

import pytest

from tests.asked import load_experiment
from tests.described import BASE, load
from tests.snapshots import assert_golden
from wirelab.errors import WirelabError
from wirelab.experiment.link.table import PLAIN_KINDS

FACTORS = "[factors]\n"
GE = '{ p = "1 %", r = "1 %", 1-h = "1 %", 1-k = "1 %" }'
LINK = 'rtt = "20 ms"\n'
WIFI = '{ kind = "wifi", rate = "54 Mbit/s", queue = "64 kB" }'
FILES = {
    "up.trace": "1\n2\n",
    "back.trace": "1\n5\n4\n",
    "words.trace": "1\ntwo\n",
    "bare.txt": "12.5\n13\n",
    "bare.csv": "time,delay\n0,10\n",
    "points.csv": "time_s;delay_ms\n0;10,5\n",
    "cell.csv": "time_s,delay_ms\n0,10\n1,fast\n",
}
WORKLOAD = 'upload = "30 B"\n'
STOP = "replicates = 3\n"
OPEN = 'interval = "10 min"\n'
IDLE = 'arrival = "idle-start"\ninterval = "1 h"\n'


def changed(old: str, new: str) -> str:
    assert old in BASE
    return BASE.replace(old, new, 1)


def factor(line: str, text: str = BASE) -> str:
    return text.replace("[links.wire]", f"{line}\n[links.wire]", 1)


def interpretation(lines: str) -> str:
    return f"{BASE}[interpretations.lan]\n{lines}\n"


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
    "no unit of a share": changed(LINK, "loss = 0.1\n"),
    "no unit of a share in text": changed(LINK, 'loss = "10"\n'),
    "ambiguous unit": changed(WORKLOAD, 'upload = "3.5 KB"\n'),
    "wrong kind of unit": changed(LINK, 'rtt = "20 kB"\n'),
    "rate as people write it": changed(LINK, 'rate = "250 kbps"\n'),
    "no quantity": changed(LINK, 'rtt = "slow"\n'),
    "negative round trip": changed(LINK, 'rtt = "-20 ms"\n'),
    "more than 64 bits": changed(LINK, 'rtt = "1e12 s"\n'),
    "loss above 100 %": changed(LINK, 'loss = "101 %"\n'),
    "key of another kind of workload": changed(WORKLOAD, 'kind = "pubsub"\nupload = "30 B"\n'),
    "factor of another kind of workload": factor('"workload.subscribers" = [1, 2]'),
    "closed loop of notifications": changed(WORKLOAD, 'kind = "pubsub"\narrival = "closed"\n'),
    "message without room for its stamp": changed(WORKLOAD, 'kind = "pubsub"\nmessage = "11 B"\n'),
    "rate of a stream": changed(WORKLOAD, 'kind = "stream"\nrate = "0 /s"\n'),
    "part of a byte": changed(WORKLOAD, 'upload = "0.5 B"\n'),
    "rate of 0": changed(LINK, 'rate = "0 kbit/s"\nqueue = "1 kB"\n'),
    "queue without rate": changed(LINK, 'queue = "1 kB"\n'),
    "two kinds of delay": changed(LINK, 'rtt = "20 ms"\ndelay = "1 ms"\n'),
    "two kinds of loss": changed(LINK, f'loss = "1 %"\ngilbert-elliott = {GE}\n'),
    "round trip and a direction's delay": changed(LINK, 'rtt = "20 ms"\nuplink = { delay = "1 ms" }\n'),
    "direction said twice": changed(LINK, 'direction = "uplink"\ndownlink = { loss = "1 %" }\n'),
    "unknown direction": changed(LINK, 'loss = "1 %"\ndirection = "upstream"\n'),
    "unknown jitter": changed(LINK, 'jitter = "gamma 5 ms"\n'),
    "jitter without distribution": changed(LINK, 'jitter = "5 ms"\n'),
    "jitter as a number": changed(LINK, "jitter = 5\n"),
    "unknown distribution": changed(LINK, 'jitter = { distribution = "gamma", sigma = "5 ms" }\n'),
    "quantiles that do not ascend": changed(
        LINK, 'jitter = { distribution = "table", offsets = ["1 ms", "0 ms"] }\n'
    ),
    "one quantile": changed(LINK, 'jitter = { distribution = "table", offsets = ["1 ms"] }\n'),
    "delays without a unit": changed(LINK, 'jitter = { distribution = "table", file = "bare.txt" }\n'),
    "correlation of no jitter": changed(LINK, LINK + 'jitter-correlation = "25 %"\n'),
    "overtaking without jitter": changed(LINK, LINK + "overtaking = true\n"),
    "overtaking that is no boolean": changed(LINK, LINK + 'overtaking = "yes"\n'),
    "correlation of no loss": changed(LINK, LINK + 'loss-correlation = "25 %"\n'),
    "correlation of another loss": changed(LINK, f'gilbert-elliott = {GE}\nloss-correlation = "25 %"\n'),
    "four states that sum to more": changed(
        LINK, 'four-state = { p13 = "60 %", p31 = "1 %", p32 = "1 %", p23 = "1 %", p14 = "60 %" }\n'
    ),
    "four states of which one is never left": changed(
        LINK, 'four-state = { p13 = "1 %", p31 = "0 %", p32 = "0 %", p23 = "1 %", p14 = "1 %" }\n'
    ),
    "a correlation of 100 %": changed(LINK, 'loss = "1 %"\nloss-correlation = "100 %"\n'),
    "a correlation of 100 % of what happens": changed(
        LINK, 'duplicate = { probability = "1 %", correlation = "100 %" }\n'
    ),
    "a chain that is not square": changed(LINK, 'markov = { transitions = [["100 %"]], loss = ["0 %", "1 %"] }\n'),
    "a row that does not sum to 100 %": changed(
        LINK, 'markov = { transitions = [["90 %", "9 %"], ["50 %", "50 %"]], loss = ["0 %", "100 %"] }\n'
    ),
    "a chain in two parts": changed(
        LINK, 'markov = { transitions = [["100 %", "0 %"], ["0 %", "100 %"]], loss = ["0 %", "100 %"] }\n'
    ),
    "a probability without a unit in a chain": changed(LINK, 'markov = { transitions = [[1]], loss = ["0 %"] }\n'),
    "two patterns": changed(LINK, 'loss-pattern = { every = 10, pattern = "01" }\n'),
    "a pattern of letters": changed(LINK, 'loss-pattern = { pattern = "lossy" }\n'),
    "a recorded pattern of letters": changed(LINK, 'loss-pattern = { file = "bare.txt" }\n'),
    "reordering without a time": changed(LINK, 'reorder = { probability = "1 %" }\n'),
    "duplication above 100 %": changed(LINK, 'duplicate = "200 %"\n'),
    "corruption with an unknown key": changed(LINK, 'corrupt = { probability = "1 %", bits = 2 }\n'),
    "two kinds of rate": changed(LINK, 'rate = "1 Mbit/s"\ntrace = "up.trace"\nqueue = "1 kB"\n'),
    "a burst without a rate": changed(LINK, 'burst = "15 kB"\n'),
    "a burst and a duty cycle": changed(
        LINK, 'rate = "1 Mbit/s"\nqueue = "1 kB"\nburst = "15 kB"\nduty-cycle = "1 %"\n'
    ),
    "a burst that no packet fits": changed(LINK, 'rate = "1 Mbit/s"\nqueue = "1 kB"\nburst = "100 B"\n'),
    "a duty cycle of nothing": changed(LINK, 'rate = "1 Mbit/s"\nqueue = "1 kB"\nduty-cycle = "0 %"\n'),
    "a trace that is not there": changed(LINK, 'trace = "upp.trace"\nqueue = "1 kB"\n'),
    "a trace that goes back": changed(LINK, 'trace = "back.trace"\nqueue = "1 kB"\n'),
    "a trace of words": changed(LINK, 'trace = "words.trace"\nqueue = "1 kB"\n'),
    "a trace without a queue": changed(LINK, 'trace = "up.trace"\n'),
    "a trace that is no text": changed(LINK, "trace = 5\n"),
    "a trace as a level": factor('"link.trace" = ["up.trace", "upp.trace"]'),
    "a schedule that does not begin": changed(LINK, 'schedule = { points = [{ at = "1 s", delay = "1 ms" }] }\n'),
    "a schedule out of order": changed(
        LINK, 'schedule = { points = [{ at = "0 s" }, { at = "2 s" }, { at = "1 s" }] }\n'
    ),
    "a schedule that repeats too soon": changed(
        LINK, 'schedule = { points = [{ at = "0 s" }, { at = "2 s" }], repeat = "2 s" }\n'
    ),
    "a schedule without a source": changed(LINK, 'schedule = { repeat = "60 s" }\n'),
    "an unknown key of a point": changed(LINK, 'schedule = { points = [{ at = "0 s", rates = "1 kbit/s" }] }\n'),
    "a replay without units": changed(LINK, 'schedule = { file = "bare.csv" }\n'),
    "a replay with a bad cell": changed(LINK, 'schedule = { file = "cell.csv" }\n'),
    "a replay with semicolons": changed(LINK, 'schedule = { file = "points.csv" }\n'),
    "an unknown discipline": changed(LINK, 'rate = "1 Mbit/s"\nqueue = { discipline = "red" }\n'),
    "a queue without a discipline": changed(LINK, 'rate = "1 Mbit/s"\nqueue = { limit = "1 kB" }\n'),
    "a discipline without a limit": changed(LINK, 'rate = "1 Mbit/s"\nqueue = { discipline = "codel" }\n'),
    "an unknown key of a discipline": changed(
        LINK, 'rate = "1 Mbit/s"\nqueue = { discipline = "codel", limt = "1 kB" }\n'
    ),
    "a queue of no packets": changed(LINK, 'rate = "1 Mbit/s"\nqueue = "0 packets"\n'),
    "an outage without an end": changed(LINK, 'outage = { start = "1 s" }\n'),
    "an outage that never stops": changed(LINK, 'outage = { start = "1 s", duration = "2 s", every = "1 s" }\n'),
    "an order that forgets a stage": changed(LINK, LINK + 'loss = "1 %"\norder = ["loss"]\n'),
    "an order of one direction that forgets a stage": changed(
        LINK, LINK + 'loss = "1 %"\ndownlink = { order = ["loss"] }\n'
    ),
    "an order of unknown stages": changed(LINK, LINK + 'order = ["los", "delay"]\n'),
    "an order with a stage twice": changed(LINK, LINK + 'order = ["delay", "delay"]\n'),
    "an order that is no list": changed(LINK, LINK + 'order = "delay"\n'),
    "an MTU below IP's": changed(LINK, LINK + 'mtu = "60 B"\n'),
    "an MTU below IPv6's": changed(LINK, LINK + 'family = "ipv6"\nmtu = "600 B"\n'),
    "an unknown version of IP": changed(LINK, LINK + 'family = "ip"\n'),
    "an overhead beyond reason": changed(LINK, 'rate = "1 Mbit/s"\nqueue = "1 kB"\noverhead = "5 GB"\n'),
    "an overhead without a rate": changed(LINK, 'overhead = "14 B"\n'),
    "an order as a level that is no list": factor('"link.order" = ["rate", "delay"]'),
    "a part of a radio that is nowhere": changed(LINK, 'radio = { buffer = "1 kB" }\n'),
    "a part of a profile's radio with an unknown key": changed(
        LINK, 'profile = "nb-iot"\nradio = { bufer = "1 kB" }\n'
    ),
    "a part of a profile's medium with another's key": changed(
        LINK, 'profile = "wifi-n"\nmedium = { compressed = "1 B" }\n'
    ),
    "a part of the default medium that is wrong": BASE + '[link]\nmedium = { rate = "1 Mbit/s", queue = 5 }\n',
    "a radio without sleep": changed(LINK, LINK + 'radio = { sleeps = [], buffer = "16 kB" }\n'),
    "a radio whose sleeps do not deepen": changed(
        LINK,
        LINK + 'radio = { sleeps = [{ after = "9 s", wake = "1 s" }, { after = "1 s", wake = "1 s" }], '
        'buffer = "16 kB" }\n',
    ),
    "an unknown key of a sleep": changed(
        LINK, LINK + 'radio = { sleeps = [{ after = "9 s", wake = "1 s", paging = "1 s" }], buffer = "16 kB" }\n'
    ),
    "a mapping that ends at once": changed(LINK, LINK + 'nat = { udp = "0 s" }\n'),
    "an unknown medium": changed(LINK, 'medium = { kind = "wimax" }\n'),
    "a medium without a rate": changed(LINK, 'medium = { kind = "wifi", queue = "64 kB" }\n'),
    "a key of another medium": changed(
        LINK, 'medium = { rate = "1 Mbit/s", queue = "1 kB", frame-error = "1 %" }\n'
    ),
    "a medium that is no table": changed(LINK, 'medium = "wifi"\n'),
    "windows the wrong way round": changed(
        LINK, 'medium = { kind = "wifi", rate = "1 Mbit/s", queue = "1 kB", cw-min = 31, cw-max = 15 }\n'
    ),
    "more retries than the standard has": changed(
        LINK, 'medium = { kind = "ieee802154", queue = "1 kB", retries = 8 }\n'
    ),
    "a level inside a medium": factor('"link.medium.frame-error" = ["101 %"]', changed(LINK, f"medium = {WIFI}\n")),
    "a level inside a table that is not there": factor('"link.medium.frame-error" = ["1 %"]'),
    "a signal without its unit": changed(LINK, f'medium = {WIFI}\ntechnology = "802.11g"\nsignal = -70\n'),
    "a signal that nobody hears": changed(
        LINK, f'medium = {WIFI}\ntechnology = "802.11g"\nsignal = "-99 dBm"\n'
    ),
    "a signal without its minus": changed(LINK, f'medium = {WIFI}\ntechnology = "802.11g"\nsignal = "70 dBm"\n'),
    "a signal of no technology": changed(LINK, f'medium = {WIFI}\nsignal = "-70 dBm"\n'),
    "a signal over a link that is no radio": factor('"link.signal" = ["-70 dBm"]'),
    "a signal of an unknown technology": changed(
        LINK, f'medium = {WIFI}\ntechnology = "802.11z"\nsignal = "-70 dBm"\n'
    ),
    "a technology without a signal that nobody knows": changed(LINK, f'medium = {WIFI}\ntechnology = "802.11z"\n'),
    "a signal without a medium": changed(LINK, LINK + 'technology = "802.11g"\nsignal = "-70 dBm"\n'),
    "a profile's file that is not there": changed(LINK, 'profile = "./mine.toml"\n'),
    "an unknown profile as a level": factor('"link.profile" = ["geo-satelite"]'),
    "incomplete Gilbert-Elliott": changed(LINK, 'gilbert-elliott = { p = "1 %" }\n'),
    "unknown profile": changed(LINK, 'profile = "geo-satelite"\n'),
    "link that is no table": changed("[links.wire]\n" + LINK, "[links]\nwire = 3\n"),
    "unknown protocol": changed('"h2"', '"http2"'),
    "protocol that is no name": changed('"h2"', "2"),
    "a congestion control that Linux has not": 'congestion-control = "cubik"\n' + BASE,
    "a level that is no congestion control": factor('congestion-control = ["cubic", "newreno"]'),
    "a choice of protocols and no factor": changed('protocol = ["http1", "h2"]\n', "")
    + '[choices]\nprotocol = ["http1"]\n',
    "claims that are a folder": 'claims = "."\n' + BASE,
    "claims of a long name": f'claims = "{"x" * 300}"\n' + BASE,
    "a key of many parts": f"{'a.' * 2000}a = 1\n" + BASE,
    "no factor protocol": changed('protocol = ["http1", "h2"]\n', ""),
    "misspelt factors": changed("[factors]", "[factor]"),
    "text without an end": changed('"http1", "h2"]', '"http1", "h2]'),
    "no levels": changed('["http1", "h2"]', "[]"),
    "levels that are no list": changed('["http1", "h2"]', '"http1"'),
    "unknown link": factor('link = ["wire", "wier"]'),
    "several links and none chosen": BASE + "[links.other]\n",
    "path that cannot be varied": factor('"stop.replicates" = [1, 2]'),
    "path to an unknown key": factor('"link.rrt" = ["1 ms"]'),
    "path to an unknown key of the workload": factor('"workload.uplod" = ["1 B"]'),
    "path to an unknown link": factor('"links.wier.rtt" = ["1 ms"]'),
    "path to an unknown protocol": factor('"protocols.http2.tls" = ["1.2"]'),
    "path to an unknown setting": factor('"protocol.tsl" = ["1.2"]'),
    "path to another protocol's setting": factor('"protocols.http1.tls" = ["1.2"]'),
    "level with a wrong unit": factor('"link.rtt" = ["2 ms", "20"]'),
    "level of a setting": factor('"protocol.tls" = ["1.2", "1.4"]'),
    "level that contradicts itself": factor('"link.uplink" = [{ loss = "1 %", gilbert-elliott-time = {} }]'),
    "choice that is a factor": BASE + '[choices]\nprotocol = ["h3"]\n',
    "interpretation of a path that cannot be varied": interpretation('"stop.replicates" = 1'),
    "interpretation of an unknown key": interpretation('"link.rrt" = "1 ms"'),
    "interpretation with a wrong level": interpretation('"link.rtt" = "1"'),
    "interpretation with a list of levels": interpretation('"link.rtt" = ["1 ms", "2 ms"]'),
    "interpretation of a path without quotes": interpretation('link.rtt = "1 ms"'),
    "interpretation of a factor": interpretation('protocol = "h3"'),
    "interpretation that is no table": BASE + '[interpretations]\nlan = "2 ms"\n',
    "interpretation that overrides itself": interpretation(
        '"workload.connection" = "new"\n"protocols.h2.workload.connection" = "persistent"'
    ),
    "interpretation twice": interpretation('"link.rtt" = "1 ms"\n[interpretations.wan]\n"link.rtt" = "1 ms"'),
    "interpretation without a name": BASE + '[interpretations." "]\n"link.rtt" = "1 ms"\n',
    "table of one protocol's workload": BASE + '[protocols.h2.workload]\nconnection = "new"\n',
    "way to vary choices": 'vary-choices = "all"\n' + BASE,
    "workload of an unknown protocol": factor('"protocols.http2.workload.connection" = ["new"]'),
    "unknown key of one protocol's workload": factor('"protocols.h2.workload.conection" = ["new"]'),
    "level of one protocol's workload": factor('"protocols.h2.workload.connection" = ["new", "kept"]'),
    "key of another kind for one protocol": factor('"protocols.h2.workload.subscribers" = [2]'),
    "kind of one protocol's workload": factor('"protocols.h2.workload.kind" = ["telemetry"]'),
    "key of the workload for all and for one protocol": factor(
        '"workload.exchanges" = [1, 2]\n"protocols.h2.workload.exchanges" = [3]'
    ),
    "what one protocol's workload comes to": factor('"protocols.h2.workload.download" = [["1 B", "2 B"]]'),
    "settings of an unknown protocol": BASE + "[protocols.http2]\n",
    "unknown setting": BASE + "[protocols.h2]\ntsl = 1\n",
    "unknown setting of every protocol": BASE + "[protocol]\ntsl = 1\n",
    "unknown choice of a setting": BASE + '[protocols.h2]\ntls = "1.1"\n',
    "setting that is no boolean": BASE + '[protocols.h2]\nnagle = "yes"\n',
    "size without a unit in a setting": BASE + "[protocols.h2]\ninitial-window = 65535\n",
    "setting out of range": BASE + '[protocols.h2]\ninitial-window = "2 MB"\n',
    "duration out of range": BASE + '[protocols.h3]\nidle = "2 min"\n',
    "duration finer than the setting": BASE + '[protocols.h3]\nidle = "1.5 us"\n',
    "count that is no number": BASE + '[protocols.h2]\nstreams = "many"\n',
    "unknown implementation": BASE + '[protocols.h2]\nimplementation = "tomcat"\n',
    "unknown implementation of a role": BASE + '[endpoints]\nclient = { implementation = "crul" }\n',
    "implementation of a role of a protocol": BASE + '[protocols.h2]\nserver.implementation = "ngnix"\n',
    "role of a protocol that is no table": BASE + '[protocols.h2]\nserver = "nginx"\n',
    "unknown key of a role of a protocol": BASE + '[protocols.h2]\nserver = { program = "nginx" }\n',
    "misspelt implementation of a protocol": BASE + '[protocols.h2]\nimplementatoin = "nginx"\n',
    "factor of a role of a protocol": factor('"protocols.h2.server.implementation" = ["nginx", "apach"]'),
    "role of a protocol that its program lacks": BASE + '[protocols.h2]\nclient.implementation = "nginx"\n',
    "server of some protocols": changed('"h2"]', '"h3"]') + '[endpoints]\nserver = { implementation = "nginx" }\n',
    "a server that is none of its protocols'": BASE + '[endpoints]\nserver = { implementation = "lighttpd" }\n',
    "factor of a server that is none of its protocols'": factor('"server.implementation" = ["lighttpd"]'),
    "queue of an unknown unit": changed(LINK, LINK + 'rate = "1 Mbit/s"\nqueue = "12 pakets"\n'),
    "unknown kind with a key that its neighbour has": changed(WORKLOAD, 'kind = "delivr"\nmessage = "30 B"\n'),
    "unknown level of kind with a key that it would have": factor(
        '"workload.kind" = ["delivr"]', changed(WORKLOAD, 'message = "30 B"\n')
    ),
    "unknown kind of a named workload": changed(WORKLOAD, "")
    + '[workloads.one]\nkind = "delivr"\nmessage = "30 B"\n',
    "key that another kind has by another name": changed(WORKLOAD, 'kind = "telemetry"\nupload = "30 B"\n'),
    "proxy of a protocol without one": BASE + '[endpoints.proxy]\nprotocols = ["http1"]\n',
    "more than a CPU": BASE + '[endpoints]\nclient = { cpu = "200 %" }\n',
    "implementation without the role": BASE + '[endpoints]\nclient = { implementation = "nginx" }\n',
    "implementation without the protocol": factor('protocol = ["h3"]', changed('protocol = ["http1", "h2"]\n', ""))
    + '[protocols.h3]\nimplementation = "curl"\n',
    "implementation that nothing uses": factor('implementation = ["curl"]', changed('["http1", "h2"]', '["h3"]')),
    "unknown workload": changed(WORKLOAD, 'kind = "steam"\n'),
    "echo of nothing": changed('"h2"', '"raw-udp"').replace(WORKLOAD, ""),
    "echo of nothing, by a level": factor('"workload.upload" = ["30 B", "0 B"]', changed('"h2"', '"raw-udp"')),
    "no exchange": changed(WORKLOAD, "exchanges = 0\n"),
    "more exchanges than 32 bits": changed(WORKLOAD, "exchanges = 4294967296\n"),
    "exchanges that are no number": changed(WORKLOAD, 'exchanges = "10"\n'),
    "no place": changed(WORKLOAD, "concurrency = 0\n"),
    "time-out of 0": changed(WORKLOAD, 'timeout = "0 s"\n'),
    "open loop without a rate": changed(WORKLOAD, 'arrival = { poisson = "0 /s" }\n'),
    "unknown arrival": changed(WORKLOAD, 'arrival = "open"\n'),
    "interval of 0": changed(WORKLOAD, 'interval = "0 s"\n'),
    "interval next to a rate": changed(WORKLOAD, 'interval = "10 min"\narrival = { fixed = "6 /h" }\n'),
    "interval of a closed loop": changed(WORKLOAD, 'interval = "10 min"\narrival = "closed"\n'),
    "interval of a stream": changed(WORKLOAD, 'kind = "stream"\ninterval = "10 min"\n'),
    "arrival without its interval": changed(WORKLOAD, 'arrival = "periodic"\n'),
    "burst without an interval": changed(WORKLOAD, 'arrival = { burst = "2 /s", for = "10 s" }\n'),
    "burst without an end": changed(WORKLOAD, 'interval = "1 h"\narrival = { burst = "2 /s" }\n'),
    "burst of no length": changed(WORKLOAD, 'interval = "1 h"\narrival = { burst = "2 /s", for = "0 s" }\n'),
    "burst longer than its interval": changed(
        WORKLOAD, 'interval = "1 h"\narrival = { burst = "2 /s", for = "2 h" }\n'
    ),
    "jitter above the interval": changed(WORKLOAD, 'interval = "1 h"\njitter = "2 h"\n'),
    "idle start without an interval": changed(WORKLOAD, IDLE.replace('interval = "1 h"\n', "")),
    "idle start under the virtual clock": 'clock = "virtual"\n' + changed(WORKLOAD, IDLE),
    "idle start of several devices": changed(WORKLOAD, IDLE + "clients = 5\n"),
    "idle start of several messages at a time": changed(WORKLOAD, IDLE + "concurrency = 4\n"),
    "idle start over netem": changed(WORKLOAD, IDLE).replace(LINK, LINK + 'backend = "netem"\n'),
    "idle start of subscribers": changed(WORKLOAD, 'kind = "pubsub"\n' + IDLE),
    "retry in a closed loop": changed(WORKLOAD, "retry = {}\n"),
    "retry of idle starts": changed(WORKLOAD, IDLE + "retry = {}\n"),
    "retry of several messages at a time": changed(WORKLOAD, OPEN + "concurrency = 4\nretry = {}\n"),
    "retry of subscribers": changed(WORKLOAD, 'kind = "pubsub"\nretry = {}\n'),
    "retry that is no table": changed(WORKLOAD, OPEN + "retry = 3\n"),
    "unknown key of retry": changed(WORKLOAD, OPEN + 'retry = { longst = "1 min" }\n'),
    "back-off of 0": changed(WORKLOAD, OPEN + 'retry = { first = "0 s" }\n'),
    "back-offs that become shorter": changed(WORKLOAD, OPEN + "retry = { factor = 0.5 }\n"),
    "back-offs that become much longer": changed(WORKLOAD, OPEN + "retry = { factor = 2000 }\n"),
    "factor that is not a number": changed(WORKLOAD, OPEN + 'retry = { factor = "2" }\n'),
    "factor of parts of a percent": changed(WORKLOAD, OPEN + "retry = { factor = 1.2345 }\n"),
    "longest back-off below the first": changed(WORKLOAD, OPEN + 'retry = { first = "1 min", longest = "30 s" }\n'),
    "jitter of more than the back-off": changed(WORKLOAD, OPEN + 'retry = { jitter = "120 %" }\n'),
    "keep of 0": changed(WORKLOAD, OPEN + 'retry = { keep = "0 s" }\n'),
    "keep below the time-out": changed(WORKLOAD, OPEN + 'retry = { keep = "5 s" }\n'),
    "backlog of 0": changed(WORKLOAD, OPEN + "retry = { backlog = 0 }\n"),
    "no way of waiting": changed(WORKLOAD, 'kind = "pubsub"\nwait = "asleep"\n'),
    "stay above the interval": changed(
        WORKLOAD, 'kind = "pubsub"\nwait = { check-in = "10 min", stay = "20 min" }\n'
    ),
    "requests for news of a protocol without": changed(WORKLOAD, 'kind = "pubsub"\nwait = { poll = "10 min" }\n'),
    "jitter without an interval": changed(WORKLOAD, 'jitter = "2 s"\n'),
    "unknown connection policy": changed(WORKLOAD, 'connection = "keep"\n'),
    "no connection": changed(WORKLOAD, "connection = { persistent = 0 }\n"),
    "no replicate": changed(STOP, "replicates = 0\n"),
    "fewer replicates at most than at least": changed(STOP, "replicates = [20, 5]\n"),
    "too many replicates": changed(STOP, "replicates = 10001\n"),
    "replicates that are no number": changed(STOP, 'replicates = "many"\n'),
    "interval of nothing": changed(STOP, 'interval = "10 % of nothing"\n'),
    "interval of another statistic than the one that ranks": 'statistic = "p95"\n'
    + changed(STOP, 'replicates = 100\ninterval = "10 % of median"\n'),
    "a statistic that does not rank": 'statistic = "sd"\n' + BASE,
    "a percentile of too few values": 'statistic = "p99"\n' + BASE,
    "interval without a width": changed(STOP, 'interval = "0 % of median"\n'),
    "budget of 0": changed(STOP, 'budget = "0 s"\n'),
    "negative seed": "seed = -1\n" + BASE,
    "claims that are not there": 'claims = "none.claims.toml"\n' + BASE,
    "too many scenarios": factor(f'"workload.exchanges" = {list(range(1, 400))}')
    .replace("[links.wire]", f'"workload.download" = {[f"{size} B" for size in range(400)]}\n[links.wire]', 1),
    "several at once": changed(LINK, "rtt = 20\n").replace(WORKLOAD, "exchanges = 0\nuplod = 1\n"),
    "a misspelt key that must be there": changed('title = "Test"', 'titel = "Test"'),
    "a misspelt key that a table must have": changed(
        LINK, 'gilbert-elliott = { p = "1 %", rr = "1 %", 1-h = "1 %", 1-k = "1 %" }\n'
    ),
    "a level twice": changed('["http1", "h2"]', '["http1", "h2", "h2"]'),
    "a choice twice": BASE + '[choices]\n"link.rtt" = ["1 ms", "2 ms", "1 ms"]\n',
    "what is read first and what is read last": changed('"h2"', '"http2"').replace(WORKLOAD, "exchanges = 0\n")
    .replace(STOP, 'replicates = 0\n[protocols.h2]\ntsl = 1\n'),
    "what only scenarios show and what none depends on": changed(LINK, 'rate = "1 Mbit/s"\n')
    .replace(STOP, "replicates = 0\n").replace('title = "Test"\n', ""),
    "a wrong link that is named elsewhere": changed('["http1", "h2"]', '["http1", "h2"]\nlink = ["wire"]')
    .replace("[links.wire]\n" + LINK, "[links]\nwire = 3\n"),
}  # fmt: skip


@pytest.fixture(autouse=True)
def files(tmp_path: Path) -> None:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)


@pytest.mark.parametrize("name", WRONG)
def test_every_mistake_is_refused_with_its_place(name: str, tmp_path: Path) -> None:
    with pytest.raises(WirelabError) as error:
        load(tmp_path, WRONG[name])
    assert error.value.exit_code == 2
    assert re.match(r"(.*/test\.toml:\d+:\d+: .+\n(hint: .+\n)?)+$", f"{error.value}\n"), str(error.value)


def test_every_message_matches_the_golden_file(tmp_path: Path) -> None:
    parts = []
    for name, text in WRONG.items():
        with pytest.raises(WirelabError) as error:
            load(tmp_path, text)
        message = _without_plain_kinds(str(error.value).replace(f"{tmp_path}/", ""))
        parts.append(f"# {name}\n{message}\n")
    assert_golden("experiment-errors.txt", "\n".join(parts))


def _without_plain_kinds(message: str) -> str:
    """No new impairment changes the text: hints that list all keys of a link name those of the schema too."""
    for kind in PLAIN_KINDS:
        message = message.replace(f" {kind},", "").replace(f" link.{kind},", "")
    return message


def test_a_missing_file_is_refused_with_the_nearest_one(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(BASE)
    with pytest.raises(WirelabError) as error:
        load_path(str(tmp_path / "min.toml"))
    assert str(error.value) == f"{tmp_path}/min.toml: no such file\nhint: did you mean 'mine.toml'?"


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WirelabError, match="is a folder, not a file"):
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

    load_experiment(name, (), KNOWN)
