"""Campaigns under the virtual clock: the same bytes again, after a kill, and as a user who may do nothing."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest
from tests.interop.test_faults import finished, until, words_of

from wirelab.clock.guest import HERE, memory_folder
from wirelab.clock.kernel import VARIABLE
from wirelab.schema import registered
from wirelab.schema.campaign import EntryStatus, read_journal
from wirelab.schema.record import read_record

from .conftest import namespaces_missing

if TYPE_CHECKING:
    from conftest import Bench

pytestmark = pytest.mark.guest

EXPERIMENT = """
title = "virtual"
clock = "virtual"
[factors]
protocol = ["raw-tcp", "https1"]
[link]
rtt = "20 ms"
loss = "5 %"
[workload]
kind = "request-response"
upload = "300 B"
connection = "new"
exchanges = 3
timeout = "20 s"
[stop]
replicates = {replicates}
"""
EVERY_PROTOCOL = """
title = "every protocol"
clock = "virtual"
[factors]
protocol = [{protocols}]
[link]
rtt = "40 ms"
loss = "10 %"
[workload]
kind = "telemetry"
message = "400 B"
exchanges = 5
timeout = "20 s"
[stop]
replicates = 1
"""
KNOWN = Path(__file__).parents[1] / "golden" / "virtual.json"
"""The digest of `EVERY_PROTOCOL` by the kernel's recipe. A change to an endpoint, the link or a record changes it, and
`WIRELAB_UPDATE_GOLDEN=1` writes it again.
"""
CLIENT = """
[{name}]
title = "One"
homepage = "https://example.org"
install = "it is here"
version_command = ["true"]
[{name}.roles.client]
protocols = ["raw-tcp"]
workloads = ["telemetry"]
connections = ["new"]
command = {command}
"""
WITHOUT_RIGHTS = (
    "unshare", "--user", "--map-current-user", "--keep-caps", "sh", "-c",
    'echo 0 >/proc/sys/user/max_user_namespaces && exec setpriv --bounding-set=-all --inh-caps=-all "$@"', "sh",
)  # fmt: skip
"""Begins a command without a capability, even if it is root's, which may make no user namespace."""


def digest(folder: Path) -> str:
    """Of the campaign's last run."""
    record = read_record(folder)
    assert record is not None
    last = record.runs[-1].digest
    assert last is not None
    return last


def recipe_of(folder: Path) -> str:
    """Of the campaign's kernel."""
    record = read_record(folder)
    assert record is not None
    assert record.kernel is not None
    return record.kernel.recipe


def flip(path: Path, place: int) -> None:
    """Change one byte of a file."""
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.write_bytes(content)


def kernels(folder: Path) -> dict[str, int]:
    """The guests of a campaign whose kernels run: by the name of each, the first of its processes."""
    found: dict[str, int] = {}
    for process in sorted(
        (each for each in Path("/proc").iterdir() if each.name.isdecimal()), key=lambda p: int(p.name)
    ):
        try:
            unit = (process / "cwd").readlink()
            command = (process / "cmdline").read_bytes()
        except OSError:
            continue
        if unit.parent == folder / "guests" and b"guest-init" in command:
            found.setdefault(unit.name, int(process.name))
    return found


@pytest.fixture(scope="module")
def uninterrupted(shared_bench: Bench) -> Bench:
    """A campaign that nothing disturbed, and that nobody changes."""
    shared_bench.measure_experiment(EXPERIMENT.format(replicates=3))
    return shared_bench


FAMILY = """
title = "{family}"
clock = "virtual"
[factors]
protocol = ["coap", "http1", "h3"]
[link]
rtt = "20 ms"
family = "{family}"
[workload]
kind = "telemetry"
message = "30 B"
connection = "new"
exchanges = 2
timeout = "20 s"
[stop]
replicates = 1
"""


@pytest.mark.parametrize("family", ["ipv4", "ipv6"])
def test_each_version_of_ip_carries_exchanges(bench: Bench, family: str) -> None:
    bench.run_experiment(FAMILY.format(family=family))
    for folder in (bench.campaign / "trials").iterdir():
        rows = pl.read_ipc(folder / "client" / "exchanges.arrow")
        assert rows["outcome"].to_list() == ["completed"] * 2, folder.name


def test_every_protocol_has_the_same_bytes_in_two_folders_at_any_number_of_jobs_and_in_any_build(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    protocols = ", ".join(f'"{each.name}"' for each in registered().protocols)
    experiment = bench.experiment(EVERY_PROTOCOL.format(protocols=protocols))
    found = {}
    for name, jobs in (("one", 1), ("another-whose-name-is-longer", 2)):
        folder = bench.folder / name
        status, _, words = bench.run("run", str(experiment), "--out", str(folder), "--no-probes", "--jobs", str(jobs))
        assert status == 0, words
        found[name] = digest(folder)
    [first, second] = found.values()
    assert first == second
    recipe = recipe_of(bench.folder / "one")
    known = json.loads(KNOWN.read_text(encoding="utf-8"))
    if os.environ.get("WIRELAB_UPDATE_GOLDEN") == "1":
        known = {recipe: first}
        KNOWN.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
    if recipe not in known:
        with capsys.disabled():
            print(f"\nno digest is known of kernel recipe {recipe}: only the two runs were compared")
    assert known.get(recipe, first) == first, "WIRELAB_UPDATE_GOLDEN=1 if that is meant"


def test_the_readme_has_the_digest_of_quickstart(bench: Bench) -> None:
    status, out, words = bench.run("run", "quickstart", "--clock", "virtual", "--out", str(bench.campaign))
    assert status == 0, words
    found = digest(bench.campaign)
    assert f"Digest  {found}" in (out + words).splitlines()
    if recipe_of(bench.campaign) not in json.loads(KNOWN.read_text(encoding="utf-8")):
        pytest.skip("the README has the digest of another kernel recipe")
    assert f"`{found}`" in (KNOWN.parents[2] / "README.md").read_text(encoding="utf-8")


@pytest.mark.xdist_group("virtual")
def test_a_campaign_has_its_digest_wherever_it_is_and_a_second_run_has_the_same(
    uninterrupted: Bench, tmp_path: Path
) -> None:
    moved = tmp_path / "moved"
    shutil.copytree(uninterrupted.campaign, moved)
    status, out, words = uninterrupted.run("verify", str(moved))
    assert (status, out) == (0, f"{moved}: 6 trials, digest {digest(moved)}\n"), words
    status, out, words = uninterrupted.run("verify", str(moved), "--again")
    assert status == 0, words
    assert out.splitlines()[1:] == ["the same bytes in every record of 6 trials"]


@pytest.mark.xdist_group("virtual")
def test_a_changed_byte_is_found_with_its_trial_and_packet(uninterrupted: Bench, tmp_path: Path) -> None:
    changed = tmp_path / "changed"
    shutil.copytree(uninterrupted.campaign, changed)
    [trial] = (changed / "trials").glob("raw-tcp-*-0001")
    flip(trial / "packets.wlpl", -1)
    status, out, words = uninterrupted.run("verify", str(changed))
    assert status == 1, words
    assert out.splitlines()[1:] == [f"{trial.name}: packets.wlpl"]
    status, out, words = uninterrupted.run("verify", str(changed), "--again")
    assert status == 1, words
    assert "1 of 6 trials differ" in out
    assert re.search(rf"(?m)^{trial.name}: packet \d+ is the first that differs, in byte \d+ of its record:$", out), out


@pytest.mark.xdist_group("virtual")
def test_a_killed_run_leaves_no_guest_and_resumes_to_the_same_digest(uninterrupted: Bench, bench: Bench) -> None:
    experiment = bench.experiment(EXPERIMENT.format(replicates=3))
    process = bench.start("run", str(experiment), "--out", str(bench.campaign), "--no-probes", "--jobs", "2")
    until(lambda: (finished(bench) >= 2 and kernels(bench.campaign)) or process.poll() is not None, "two trials")
    process.kill()
    words = words_of(process)
    assert process.returncode == -signal.SIGKILL, words
    until(lambda: not kernels(bench.campaign) and not bench.processes(), "the end of every guest")
    # Those of other tests' guests have an owner.
    folders = [each for each in memory_folder().iterdir() if each.name.startswith("wirelab-guest-")]
    assert [each for each in folders if not Path("/proc", each.name.rpartition("-")[2]).exists()] == []
    done = [name for name, status in bench.statuses().items() if status == "done"]
    assert 2 <= len(done) < 6
    bench.measure_experiment(experiment.read_text())
    assert digest(bench.campaign) == digest(uninterrupted.campaign)
    assert not (bench.campaign / "guests").exists()


def test_a_guest_that_is_killed_costs_its_trial_alone_and_the_next_run_makes_up_for_it(bench: Bench) -> None:
    experiment = bench.experiment(EXPERIMENT.format(replicates=2))
    process = bench.start("run", str(experiment), "--out", str(bench.campaign), "--no-probes", "--jobs", "1")
    running: dict[str, int] = {}

    def trial_runs() -> bool:
        running.clear()
        running.update({name: pid for name, pid in kernels(bench.campaign).items() if name.startswith("raw-tcp-")})
        return bool(running) or process.poll() is not None

    until(trial_runs, "a guest with a trial")
    [(trial, kernel)] = running.items()
    os.kill(kernel, signal.SIGKILL)
    words = words_of(process)
    assert process.returncode == 1, words
    last = {entry.trial: entry for entry in read_journal(bench.campaign / "journal.jsonl")[0]}
    assert last[trial].status is EntryStatus.NOT_RUN
    assert (last[trial].error or "").startswith("the guest ended before its script"), last[trial].error
    assert [entry.status for name, entry in last.items() if name != trial] == [EntryStatus.DONE] * 3
    assert "1 of 4 trials were not run; the same command runs them" in words
    assert bench.run("run", str(experiment), "--out", str(bench.campaign), "--no-probes")[0] == 0
    assert set(bench.statuses().values()) == {"done"}
    assert not (bench.campaign / "guests").exists()


@pytest.mark.xdist_group("virtual")
def test_a_user_without_rights_and_namespaces_gets_the_same_digest(uninterrupted: Bench, bench: Bench) -> None:
    # Its marker would move this test away from those with which it shares a campaign.
    if why := namespaces_missing():
        pytest.skip(why)
    status, _, words = bench.run("--version", within=(*WITHOUT_RIGHTS, "unshare", "--user"))
    assert (status, "unshare failed: No space left on device" in words) == (1, True), words
    experiment = bench.experiment(EXPERIMENT.format(replicates=3))
    status, out, words = bench.run(
        str(experiment), "--out", str(bench.campaign), module="tests.interop.straight_line", within=WITHOUT_RIGHTS
    )
    assert status == 0, out + words
    assert digest(bench.campaign) == digest(uninterrupted.campaign)


def test_check_implementation_tries_refusals_in_guests_too(bench: Bench) -> None:
    inside = f"import os, time; time.sleep({{sleep}}); raise SystemExit(3 if os.path.isdir('{HERE}') else 4)"
    for name, sleep in (("quick", 0), ("slow", 3600)):
        command = json.dumps([sys.executable, "-c", inside.format(sleep=sleep)])
        (bench.folder / "implementations.toml").write_text(CLIENT.format(name=name, command=command))
        status, out, words = bench.run("check-implementation", name, "--clock", "virtual")
        assert status == 1, words
        refusals = [line for line in out.splitlines() if "refuses" in line]
        expected = "ok  refuses an unsupported {} with exit code 3"
        if sleep:
            expected = "no  refuses an unsupported {} with exit code 3: it does not end"
        assert refusals == [expected.format(what) for what in ("protocol", "workload")]


def test_without_the_kernel_one_command_is_named_and_how_long_it_takes(bench: Bench, tmp_path: Path) -> None:
    experiment = bench.experiment(EXPERIMENT.format(replicates=1))
    within = ("env", f"--unset={VARIABLE}", f"XDG_CACHE_HOME={tmp_path / 'empty'}")
    status, out, words = bench.run("run", str(experiment), "--out", str(bench.campaign), within=within)
    assert (status, out) == (2, ""), words
    assert "the virtual clock needs its kernel, which is not built yet" in words
    assert "clock build downloads 160 MB and takes about 8 minutes on 2 idle CPUs, once" in words
    assert not bench.campaign.exists()
