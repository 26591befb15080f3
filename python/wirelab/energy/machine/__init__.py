"""State machines of radios, one file a kind. The list is explicit: a new one is a file and a line."""

from __future__ import annotations

from collections.abc import Mapping

from wirelab.energy.machine.base import Machine
from wirelab.energy.machine.ble import Ble
from wirelab.energy.machine.cellular import Cellular
from wirelab.energy.machine.ethernet import Ethernet
from wirelab.energy.machine.ieee802154 import Ieee802154
from wirelab.energy.machine.lorawan import LoRaWan
from wirelab.energy.machine.wifi import Wifi

MACHINES: Mapping[str, Machine] = {
    machine.name: machine for machine in (Ieee802154(), Ble(), Wifi(), Cellular(), LoRaWan(), Ethernet())
}
