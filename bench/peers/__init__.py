"""Paths between two programs: Wirelab's, plain veth, and other emulators. One file and one line here for each."""

from __future__ import annotations

from pathlib import Path

from bench.peers.base import SERVER, Ends, Peer, Stages
from bench.peers.mahimahi import Mahimahi
from bench.peers.rattan import Rattan
from bench.peers.veth import Netem, Veth
from bench.peers.wirelab import Wirelab

__all__ = ["SERVER", "Ends", "Peer", "Stages", "Veth", "Wirelab", "emulators"]


def emulators(agent: Path) -> list[Peer]:
    """Wirelab and other programs that delay packets."""
    return [Wirelab(agent), Rattan(), Netem(), Mahimahi()]
