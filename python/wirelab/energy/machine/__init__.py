"""State machines of radios, one file a kind. The list is explicit: a new one is a file and a line."""

from __future__ import annotations

from collections.abc import Mapping

from wirelab.energy.machine.base import Machine
from wirelab.energy.machine.ethernet import Ethernet

MACHINES: Mapping[str, Machine] = {machine.name: machine for machine in (Ethernet(),)}
