"""What endpoints used, in words."""

from __future__ import annotations

import json
from pathlib import Path

from wirelab.cli.used import used_words


def reported(folder: Path, **given: int | None) -> list[str]:
    endpoint = {"name": "client", "cpu_user_ns": 3_000_000, "cpu_system_ns": 1_500_000, "peak_memory_bytes": 7_000_000}
    (folder / "result.json").write_text(json.dumps({"endpoints": [endpoint | given]}))
    return list(used_words(folder))


def test_a_line_has_what_was_counted_and_no_more(tmp_path: Path) -> None:
    assert list(used_words(tmp_path)) == []
    least = "client used 4.5 ms of CPU time (3 user, 1.5 system), 7 MB at its peak"
    assert reported(tmp_path) == [least]
    counted = {
        "cpu_ready_ns": 2_000_000, "proportional_memory_bytes": 2_500_000, "memory_samples": 1,
        "voluntary_switches": 40, "involuntary_switches": 2, "instructions": 9_000_000,
    }  # fmt: skip
    [line] = reported(tmp_path, **counted)
    assert "(3 user, 1.5 system, of which 2 before the first exchange)" in line
    assert line.endswith(
        "2.5 MB proportionally (1 sample), 40 voluntary and 2 involuntary context switches, 9 million instructions"
    )
