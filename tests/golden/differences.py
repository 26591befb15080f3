"""Where two JSON documents differ; numbers may by the last bits."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

RELATIVE, ABSOLUTE = 1e-9, 1e-12


def differences(made: Any, kept: Any, where: str) -> Iterator[str]:
    """Each path at which they differ, with both values. A metric or an outcome that `kept` does not have is no
    difference: it was defined later.
    """
    if isinstance(made, dict) and isinstance(kept, dict):
        added: set[str] = set() if where.endswith((".metrics", ".denominators")) else made.keys() - kept.keys()
        yield from (f"{where}.{key}: is new" for key in sorted(added))
        yield from (f"{where}.{key}: is missing" for key in sorted(kept.keys() - made.keys()))
        for key in (key for key in kept if key in made):
            yield from differences(made[key], kept[key], f"{where}.{key}")
    elif isinstance(made, list) and isinstance(kept, list) and len(made) == len(kept):
        for index, (one, other) in enumerate(zip(made, kept, strict=True)):
            yield from differences(one, other, f"{where}[{index}]")
    elif isinstance(made, float) and isinstance(kept, int | float):
        if not math.isclose(made, kept, rel_tol=RELATIVE, abs_tol=ABSOLUTE):
            yield f"{where}: {made} instead of {kept}"
    elif made != kept:
        yield f"{where}: {made!r} instead of {kept!r}"
