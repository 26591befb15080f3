"""h2spec, the conformance tests of HTTP/2 and HPACK, against our servers."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest
from tests.interop.conftest import find_h2spec
from tests.interop.endpoints import Endpoints

if TYPE_CHECKING:
    from conftest import Bench

CASES = 145
PREFACE = ("http2/3.5", "Sends invalid connection preface")
LIMIT = ("http2/5.1.2", "Sends HEADERS frames that causes their advertised concurrent stream limit to be exceeded")
# The connection ends, but by a reset: when the server closes it, the kernel has bytes that nobody has read.
FAILED = {"h2c": {PREFACE}, "h2": set()}
# The server advertises no limit.
SKIPPED = {LIMIT}
WORKLOAD = {
    "kind": "request-response", "upload_bytes": 0, "download_bytes": 10, "exchanges": 1, "concurrency": 1,
    "arrival": {"process": "closed"}, "timeout_ns": 5_000_000_000, "connection": {"policy": "new"},
}  # fmt: skip


@pytest.mark.h2spec
@pytest.mark.parametrize("protocol", ["h2c", "h2"])
def test_our_server_passes_h2spec_except_for_listed_cases(bench: Bench, protocol: str) -> None:
    results = bench.folder / "results.xml"
    with Endpoints(bench.agent, bench.folder).server(protocol, WORKLOAD) as port:
        tls = ["-t", "-k"] if protocol == "h2" else []
        command = [
            find_h2spec(), "-h", "127.0.0.1", "-p", str(port), "-P", "/bytes/10", "-o", "10", "-j", results, *tls,
        ]  # fmt: skip
        run = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert results.exists(), run.stdout + run.stderr
    passed, odd = judged(results)
    assert odd.get("failed", set()) == FAILED[protocol], run.stdout
    assert odd.get("skipped", set()) == SKIPPED
    assert passed == CASES - len(FAILED[protocol]) - len(SKIPPED)


def judged(results: Path) -> tuple[int, dict[str, set[tuple[str, str]]]]:
    """How many cases passed, and which did not, by section and title."""
    passed = 0
    odd: dict[str, set[tuple[str, str]]] = {}
    for case in ElementTree.parse(results).iter("testcase"):
        tags = {part.tag for part in case}
        name = (case.attrib["package"], case.attrib["classname"])
        if tags & {"failure", "error"}:
            odd.setdefault("failed", set()).add(name)
        elif "skipped" in tags:
            odd.setdefault("skipped", set()).add(name)
        else:
            passed += 1
    return passed, odd
