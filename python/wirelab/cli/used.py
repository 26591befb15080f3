"""What the endpoints of one trial used, in a line each for `wirelab show`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from wirelab.schema.campaign import RESULT


def used_words(folder: Path) -> Iterator[str]:
    """Of a trial's folder; nothing of one that has no result."""
    path = folder / RESULT
    if not path.exists():
        return
    for endpoint in json.loads(path.read_text(encoding="utf-8")).get("endpoints", []):
        yield f"{endpoint['name']} used {', '.join(_parts(endpoint))}"


def _parts(endpoint: dict[str, Any]) -> Iterator[str]:
    user, system = endpoint["cpu_user_ns"], endpoint["cpu_system_ns"]
    idle = endpoint.get("cpu_ready_ns")
    before = "" if idle is None else f", of which {idle / 1e6:.3g} before the first exchange"
    yield f"{(user + system) / 1e6:.3g} ms of CPU time ({user / 1e6:.3g} user, {system / 1e6:.3g} system{before})"
    yield f"{endpoint['peak_memory_bytes'] / 1e6:.3g} MB at its peak"
    if (shared := endpoint.get("proportional_memory_bytes")) is not None:
        samples = endpoint["memory_samples"]
        yield f"{shared / 1e6:.3g} MB proportionally ({samples} sample{'s' * (samples != 1)})"
    if (waited := endpoint.get("voluntary_switches")) is not None:
        yield f"{waited} voluntary and {endpoint['involuntary_switches']} involuntary context switches"
    if (instructions := endpoint.get("instructions")) is not None:
        yield f"{instructions / 1e6:.3g} million instructions"
