"""State machines of radios, one file a kind. The list is explicit: a new one is a file and a line."""

from __future__ import annotations

from collections.abc import Mapping

from wirelab_energy.machine.base import Machine
from wirelab_energy.machine.ble import Ble
from wirelab_energy.machine.cellular import Cellular
from wirelab_energy.machine.ethernet import Ethernet
from wirelab_energy.machine.ieee802154 import Ieee802154
from wirelab_energy.machine.lorawan import LoRaWan
from wirelab_energy.machine.plain import Plain
from wirelab_energy.machine.wifi import Wifi

MACHINES: Mapping[str, Machine] = {
    machine.name: machine for machine in (Ieee802154(), Ble(), Wifi(), Cellular(), LoRaWan(), Ethernet(), Plain())
}
