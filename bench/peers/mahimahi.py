"""mahimahi's mm-delay (http://mahimahi.mit.edu): user space, TUN, whole milliseconds, the same delay both ways.

It is installed set-user-id root and refuses root itself.
"""

from __future__ import annotations

import shlex
import shutil

from bench.peers.base import Ends, Stages, play_in_namespaces, shell
from bench.process import NOBODY, Place, User

_SETUP = "echo 1 > /proc/sys/net/ipv4/ip_forward"


class Mahimahi:
    """`mm-delay`. It has no loss of its own and its rates are traces, so it is measured with its delay alone."""

    name = "mahimahi"

    def missing(self) -> str | None:
        """Debian and Ubuntu have had it."""
        return None if shutil.which("mm-delay") else "apt install mahimahi, where the distribution has it"

    def refuses(self, stages: Stages, user: User) -> str | None:
        """Its namespaces are made by root, and it is run by somebody else."""
        if not user.is_root:
            return "mm-delay cannot gain its privileges in a user namespace"
        return None if stages.delay_ms == round(stages.delay_ms) else "mm-delay has whole milliseconds"

    def configured_ms(self, stages: Stages, ip_bytes: int) -> float:  # noqa: ARG002
        """The delay alone."""
        return stages.delay_ms

    def play(self, stages: Stages, ends: Ends, place: Place) -> str:
        """Run both ends."""
        inner = "exec " + shell(ends.client, "$MAHIMAHI_BASE")
        words = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--"]
        words += ["mm-delay", f"{round(stages.delay_ms)}", "sh", "-c", inner]
        return play_in_namespaces(_SETUP, shlex.join(words), ends, place)
