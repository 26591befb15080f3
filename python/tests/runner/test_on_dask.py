"""What names a Dask cluster."""

from __future__ import annotations

import pytest

from wirelab.errors import WirelabError
from wirelab.runner.on_dask import require_engine


def test_a_cluster_of_this_machine_or_a_scheduler() -> None:
    assert require_engine("dask") is None
    assert require_engine("dask://127.0.0.1:8786") == "tcp://127.0.0.1:8786"
    assert require_engine("dask+tls://cluster.example:8786") == "tls://cluster.example:8786"


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("ray", "unknown"),
        ("dask://127.0.0.1", "unknown"),
        ("dask://127.0.0.1:99999", "unknown"),
        ("http://127.0.0.1:1", "unknown"),
        ("dask://cluster.example:8786", "is not encrypted"),
    ],
)
def test_others_are_refused(name: str, what: str) -> None:
    with pytest.raises(WirelabError, match=what):
        require_engine(name)
