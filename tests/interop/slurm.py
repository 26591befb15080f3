"""A Slurm cluster of this machine: its daemons, in folders and namespaces of their own."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from shutil import which

import psutil

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "scancel", "squeue", "unshare", "nsenter", "ip")
NODE, ADDRESS = "wirelab-node", "10.77.0.1"
STARTS_S, JOB_S = 60, 400
CONFIGURATION = """\
ClusterName=wirelab
SlurmctldHost={node}({address})
SlurmUser=root
SlurmdUser=root
SlurmctldPort=16817
SlurmdPort=16818
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket,cred_expire=10
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/affinity
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=batch_sched_delay=0,sched_interval=2,bf_interval=2
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/filetxt
JobCompLoc={folder}/completed
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
KillWait=5
MinJobAge=3600
MailProg=/bin/true
NodeName={node} NodeAddr={address} CPUs={cpus} Boards=1 SocketsPerBoard=1 CoresPerSocket={cpus} ThreadsPerCore=1
PartitionName=all Nodes={node} Default=YES State=UP
"""


def missing() -> str | None:
    """What a cluster here lacks; None if nothing."""
    if os.geteuid() != 0:
        return "Slurm's daemons are run by root alone"
    lacking = [name for name in PROGRAMS if which(name, path=_path()) is None]
    return f"not installed: {', '.join(lacking)} (slurm-wlm)" if lacking else None


def _path() -> str:
    return f"{os.environ['PATH']}:/usr/sbin:/sbin"


@dataclass
class Cluster:
    """Commands of a cluster that runs. `said` has each with its output."""

    folder: Path
    inside: int
    environment: dict[str, str]
    said: list[str] = field(default_factory=list)

    def run(self, *words: str) -> str:
        """Run a command in the cluster's namespaces; its output."""
        done = self._done(words)
        self.said.append(f"$ {' '.join(words)}\n{done.stdout}{done.stderr}")
        assert done.returncode == 0, self.log()
        return done.stdout.strip()

    def answers(self, *words: str) -> str:
        """What a command prints that may fail."""
        return self._done(words).stdout.strip()

    def _done(self, words: Sequence[str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*_entered(self.inside), *words], env=self.environment, capture_output=True, text=True, check=False,
            timeout=JOB_S,
        )  # fmt: skip

    def states(self, job: str) -> dict[str, str]:
        """The state of each task of a job, or of the job, by its number."""
        found = self.answers("squeue", "--jobs", job, "--states", "all", "--array", "--noheader", "--format", "%K %T")
        return dict(line.split() for line in found.splitlines())

    def wait(self, job: str, until: str = "COMPLETED") -> None:
        """Until all tasks of a job are in this state."""
        ends = time.monotonic() + JOB_S
        while time.monotonic() < ends:
            states = self.states(job)
            if states and set(states.values()) == {until}:
                return
            time.sleep(0.5)
        raise AssertionError(f"job {job} is not {until} after {JOB_S} s\n{self.log()}")

    def log(self) -> str:
        """What was said, and what the daemons and the jobs wrote."""
        files = [*self.folder.glob("*.log"), self.folder / "completed"]
        return "\n".join([*self.said, *(f"== {path.name}\n{path.read_text()}" for path in files if path.is_file())])


@contextmanager
def cluster(folder: Path) -> Iterator[Cluster]:
    """One that ends with all of its processes, whatever happens: they are in a PID namespace of their own."""
    munge = folder / "munge"
    for each in (munge, folder / "state", folder / "spool"):
        each.mkdir(parents=True)
    (munge / "key").write_bytes(os.urandom(1024))
    (munge / "key").chmod(0o400)
    cpus = len(os.sched_getaffinity(0))
    (folder / "slurm.conf").write_text(CONFIGURATION.format(node=NODE, address=ADDRESS, folder=folder, cpus=cpus))
    environment = {**os.environ, "SLURM_CONF": str(folder / "slurm.conf"), "PATH": _path()}
    daemons = list[subprocess.Popen[bytes]]()
    with ExitStack() as running:
        # After the namespaces, with which they end.
        running.callback(lambda: [each.wait() for each in daemons])
        inside = running.enter_context(_namespaces(environment))
        made = Cluster(folder, inside, environment)

        def start(*words: str) -> None:
            out = running.enter_context((folder / f"{words[0]}.log").open("ab"))
            daemons.append(subprocess.Popen([*_entered(inside), *words], env=environment, stdout=out, stderr=out))

        files = {"key-file": "key", "socket": "socket", "pid-file": "pid", "seed-file": "seed"}
        start("munged", "--foreground", "--force", *(f"--{option}={munge / name}" for option, name in files.items()))
        _until((munge / "socket").exists, made)
        start("slurmctld", "-D")
        start("slurmd", "-D")
        _until(lambda: made.answers("sinfo", "--noheader", "--format", "%t") == "idle", made)
        yield made


def _until(is_so: Callable[[], bool], made: Cluster) -> None:
    ends = time.monotonic() + STARTS_S
    while not is_so():
        if time.monotonic() > ends:
            raise AssertionError(f"the cluster did not start\n{made.log()}")
        time.sleep(0.1)


@contextmanager
def _namespaces(environment: dict[str, str]) -> Iterator[int]:
    """The first process of namespaces that end with it."""
    # glibc resolves no address of a machine that has loopback alone.
    within = (
        f"ip link set lo up && ip link add name v0 type veth peer name v1 && ip addr add {ADDRESS}/24 dev v0 "
        f"&& ip link set v0 up && ip link set v1 up && hostname {NODE} && exec sleep infinity"
    )
    kinds = ["--net", "--pid", "--uts", "--mount-proc", "--fork", "--kill-child=KILL"]
    space = subprocess.Popen(["unshare", *kinds, "sh", "-c", within], env=environment)
    try:
        ends = time.monotonic() + STARTS_S
        while time.monotonic() < ends:
            for child in psutil.Process(space.pid).children():
                if child.cmdline()[:1] == ["sleep"]:
                    yield child.pid
                    return
            time.sleep(0.02)
        raise AssertionError("no namespace was made")
    finally:
        space.kill()
        space.wait()


def _entered(inside: int) -> list[str]:
    return ["nsenter", "--target", str(inside), "--net", "--pid", "--uts", "--mount", "--"]
