"""What the package offers by name."""

import subprocess
import sys

import pytest

import wirelab_energy


@pytest.mark.parametrize("name", wirelab_energy.__all__)
def test_every_name_that_is_offered_is_there(name: str) -> None:
    assert getattr(wirelab_energy, name).__module__.startswith("wirelab_energy.")


def test_another_name_is_refused() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'load_battery'"):
        wirelab_energy.load_battery  # noqa: B018 (what is tested)


def test_errors_and_units_import_no_model() -> None:
    code = "import sys, wirelab_energy.errors, wirelab_energy.units; print([m for m in sys.modules if 'wirelab' in m])"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == "['wirelab_energy', 'wirelab_energy.errors', 'wirelab_energy.units']\n"
