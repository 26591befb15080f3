"""Two namespaces with a veth between them and nothing else: what every emulator adds to. With netem on it, the kernel's
own emulator.
"""

from __future__ import annotations

import shutil
import subprocess

from bench.peers.base import Ends, Stages, play_in_namespaces, shell
from bench.process import Place, User

SERVER_ADDRESS = "10.77.0.2"
_CLIENT = "10.77.0.1"
_MTU = 1500
_PATH = "/usr/sbin:/sbin:/usr/bin:/bin"
_SETUP = f"""
ip netns add server
in_server="nsenter --net=/run/netns/server --"
ip link add near type veth peer name far netns server
ip link set near mtu {_MTU} up
ip address add {_CLIENT}/30 dev near
$in_server ip link set lo up
$in_server ip link set far mtu {_MTU} up
$in_server ip address add {SERVER_ADDRESS}/30 dev far
if command -v ethtool > /dev/null; then
    ethtool -K near tso off gso off gro off
    $in_server ethtool -K far tso off gso off gro off
fi
"""


class Veth:
    """Nothing but a veth."""

    name = "veth"

    def missing(self) -> str | None:
        """It is part of every Linux; `ip` makes it."""
        return None if shutil.which("ip", path=_PATH) else "ip: apt install iproute2"

    def refuses(self, stages: Stages, user: User) -> str | None:  # noqa: ARG002
        """It has no stages."""
        return None

    def configured_ms(self, stages: Stages, ip_bytes: int) -> float:  # noqa: ARG002
        """Nothing."""
        return 0.0

    def play(self, stages: Stages, ends: Ends, place: Place) -> str:
        """Run both ends."""
        return play_in_namespaces(_SETUP + self.shaping(stages), shell(ends.client, SERVER_ADDRESS), ends, place)

    def shaping(self, stages: Stages) -> str:  # noqa: ARG002
        """Shell commands in the client's namespace."""
        return ""


def segments_are_off() -> bool:
    """Whether packets on this veth are as long as the MTU at most, as on Wirelab's link: `ethtool` sees to it."""
    return shutil.which("ethtool", path=_PATH) is not None


class Netem(Veth):
    """netem (`tc qdisc`) on the client's end of the veth."""

    name = "netem"

    def missing(self) -> str | None:
        """A kernel may be without it."""
        if (missing := super().missing()) is not None:
            return missing
        script = "ip link add near type veth peer name far && tc qdisc add dev near root netem delay 1ms"
        tried = subprocess.run(
            ["unshare", "--user", "--map-root-user", "--net", "sh", "-c", f"PATH=$PATH:/usr/sbin:/sbin; {script}"],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if tried.returncode == 0:
            return None
        why = (tried.stderr.strip().splitlines() or ["no reason given"])[-1]
        return f"this kernel has none ({why}): sudo modprobe sch_netem"

    def configured_ms(self, stages: Stages, ip_bytes: int) -> float:
        """netem's rate counts the Ethernet header."""
        return stages.configured_ms(ip_bytes, more_bytes=14)

    def shaping(self, stages: Stages) -> str:
        """The same stages, in netem's order."""
        rate = "" if stages.rate_bps is None else f" rate {stages.rate_bps}bit"
        loss = f" loss {100 * stages.loss:g}%" if stages.loss else ""
        return f"tc qdisc add dev near root netem limit 100000 delay {stages.delay_ms:g}ms{loss}{rate}\n"
