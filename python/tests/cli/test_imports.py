"""Which libraries each verb imports that starts nothing."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2]
FRAMES = {"polars", "numpy", "scipy"}
DRAWING = {"altair", "vl_convert", "jinja2", "PIL", "rich"}
READING = {"tinycss2", "wirelab.site.discovery"}
"""Of the resources of a folder."""

CHECKS = ["check quickstart", "check fischer2021", "check milosevic2021", "check h2window2017", "check londono2016"]
PLANS = ["plan quickstart", "plan milosevic2021", "plan h2window2017", "plan elmangoush2017 --json"]
LISTS = [
    "list",
    *(f"list {kind}" for kind in ("experiments", "links", "protocols", "workloads", "pages", "impairments")),
]
LISTS += [f"list {kind}" for kind in ("metrics", "radios", "devices", "implementations")]
DESCRIBED = ["experiment fischer2021", "link nb-iot", "protocol h2", "workload page", "page h2window2017"]
DESCRIBED += ["impairment loss", "metric goodput", "radio nrf9160-nbiot", "device raspberry-pi-3"]
DESCRIBED += ["implementation nginx", "goodput"]


def imported(verb: str) -> set[str]:
    """Modules that are there when a verb has done its work."""
    script = (
        "import json, sys\nfrom wirelab.cli import main\n"
        f"try: main({verb.split()!r}, prog_name='wirelab')\nexcept SystemExit as ended: assert not ended.code, ended\n"
        "print(json.dumps(list(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=SOURCE, check=True)
    return set(json.loads(done.stderr.splitlines()[-1]))


@pytest.mark.parametrize("verb", [*CHECKS, *PLANS, *LISTS, *(f"describe {each}" for each in DESCRIBED)])
def test_a_verb_that_starts_nothing_imports_no_data_frames_and_no_charts(verb: str) -> None:
    assert not (FRAMES | DRAWING | READING) & imported(verb)


@pytest.mark.parametrize("verb", ["list radios", "list devices", "describe radio nrf9160-nbiot"])
def test_verbs_without_an_experiment_do_not_import_its_model(verb: str) -> None:
    assert not {"pydantic", "wirelab.experiment.experiment"} & imported(verb)


@pytest.mark.parametrize("verb", ["list protocols", "list pages", "list metrics", "describe protocol h2"])
def test_listing_names_does_not_import_experiments(verb: str) -> None:
    assert not {"wirelab.experiment.experiment", "wirelab.runner.start", "wirelab.plan"} & imported(verb)


def test_a_page_folder_is_read_without_data_frames(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("<!DOCTYPE html><title>Mine</title>")
    there = imported(f"check page --site {tmp_path}")
    assert there >= READING
    assert not (FRAMES | DRAWING) & there
