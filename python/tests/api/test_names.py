"""What `import wirelab` offers."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import wirelab


def test_no_name_is_that_of_a_module_which_would_replace_it_once_imported() -> None:
    modules = {path.stem for path in Path(wirelab.__file__).parent.iterdir()}
    assert not modules & set(wirelab.__all__)


def test_every_name_is_there_and_imported_when_it_is_used() -> None:
    assert all(hasattr(wirelab, name) for name in wirelab.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = wirelab.nothing
    heavy = "import sys, wirelab; sys.exit(bool({'polars', 'altair', 'pandas', 'numpy'} & {*sys.modules}))"
    assert subprocess.run([sys.executable, "-c", heavy], check=False).returncode == 0
