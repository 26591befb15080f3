"""The scripts behind `make test`, `make check` and `make nightly`: what they print, choose and refuse."""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
from tests.interop.covering import covering

ROOT = Path(__file__).resolve().parents[2]


def sh(folder: Path, script: str) -> tuple[int, str]:
    """Exit code and everything printed, by the shell that runs the scripts."""
    done = subprocess.run(
        ["/bin/sh", "-euc", f". {ROOT}/scripts/stages.sh; {script}"],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=60,
    )  # fmt: skip
    return done.returncode, done.stdout


def rows(printed: str) -> dict[str, str]:
    """The table of stages: what stands behind each name."""
    _, _, table = printed.partition("CPU s\n")
    return {line[:28].strip(): line[28:].strip() for line in table.splitlines() if line.strip()}


def test_every_stage_has_its_seconds_at_the_end(tmp_path: Path) -> None:
    code, printed = sh(tmp_path, "begin late sh -c 'sleep 0.2; echo background'; stage one echo words; finish late")
    assert code == 0
    assert printed.index("words") < printed.index("background")
    table = rows(printed)
    assert list(table) == ["late", "one", "in all"]
    assert re.fullmatch(r"\d+\.\d +\d+\.\d \(background\)", table["late"])
    assert re.fullmatch(r"\d+\.\d +\d+\.\d", table["one"])


def test_only_the_stages_and_the_table_are_printed(tmp_path: Path) -> None:
    code, printed = sh(tmp_path, "stage good true; begin also true; finish also")
    assert code == 0
    assert [line.split()[0] for line in printed.splitlines() if line] == ["==", "==", "stage", "good", "also", "in"]


def test_a_stage_that_fails_ends_the_script_with_the_table_and_its_name(tmp_path: Path) -> None:
    never = "sh -c 'echo $$ >pid; exec sleep 1000'"
    code, printed = sh(tmp_path, f"begin never {never}; stage good sleep 0.3; stage bad false; stage next touch there")
    assert code == 1
    assert not Path("/proc", (tmp_path / "pid").read_text().strip()).exists()
    table = rows(printed)
    assert table["bad"].endswith("FAILED")
    assert table["never"].endswith("(background) (not finished)")
    assert "next" not in table
    assert not (tmp_path / "there").exists()
    assert printed.endswith("failed: bad\n")


def test_a_failed_background_stage_is_named_with_its_output(tmp_path: Path) -> None:
    code, printed = sh(tmp_path, "begin bad sh -c 'echo why; exit 3'; stage good true; finish bad; stage next true")
    assert code == 1
    assert "why\n" in printed
    assert rows(printed)["bad"].endswith("(background) FAILED")
    assert "next" not in rows(printed)


def test_cpu_seconds_are_those_of_the_stage_and_its_children(tmp_path: Path) -> None:
    busy = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done"
    _, printed = sh(tmp_path, f"stage busy sh -c '{busy}'; stage idle sleep 0.3")
    table = rows(printed)
    assert float(table["busy"].split()[1]) > float(table["idle"].split()[1])


def stamped(folder: Path, record: Path, **files: str) -> dict[str, int]:
    """The times of a clone's files, in the order of their names, after the record was applied."""
    folder.mkdir()
    subprocess.run(["git", "init", "--quiet"], cwd=folder, check=True)
    for name, text in files.items():
        (folder / name).write_text(text)
    subprocess.run(["git", "add", "."], cwd=folder, check=True)
    subprocess.run([sys.executable, ROOT / "scripts" / "stamps.py", record], cwd=folder, check=True)
    return {name: (folder / name).stat().st_mtime_ns for name in files}


def test_an_unchanged_file_keeps_its_time_stamp_across_clones(tmp_path: Path) -> None:
    record = tmp_path / "stamps.json"
    first = stamped(tmp_path / "first", record, same="a", changed="a")
    second = stamped(tmp_path / "second", record, same="a", changed="b", new="a")
    assert second["same"] == first["same"]
    assert second["changed"] > first["changed"]
    # What it had before the last clone is forgotten: the last build was of something else.
    third = stamped(tmp_path / "third", record, same="a", changed="a")
    assert third["same"] == first["same"]
    assert third["changed"] > second["changed"]


def touched(*changed: str) -> list[str]:
    command = [sys.executable, ROOT / "scripts" / "touched.py", *changed]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()


def test_a_changed_module_selects_its_rooms_tests_its_importers_and_the_architecture() -> None:
    found = touched("python/wirelab/stats/link/certificate.py")
    assert {"python/tests/stats/link/test_certificate.py", "python/tests/stats/link/test_grade.py"} <= set(found)
    assert "tests/test_architecture.py" in found
    assert "python/tests/claims/test_judge.py" not in found
    assert "python/tests/cli/describe/test_page.py" in touched("python/wirelab/units.py")


def test_a_changed_helper_selects_tests_that_import_it_and_data_the_rooms_that_read_it() -> None:
    assert "python/tests/experiment/link/test_rate.py" in touched("python/tests/asked.py")
    assert "python/tests/runner/test_commands.py" in touched("python/wirelab/data/implementations.toml")
    assert "python/tests/schema/test_border.py" in touched("schema/protocols.json")


def test_any_file_of_a_room_selects_its_tests() -> None:
    command = ["git", "ls-files", "python/wirelab", "python/wirelab_energy"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    script = runpy.run_path(str(ROOT / "scripts" / "touched.py"))
    few = {path for path in listed.stdout.split() if len(script["touched"]([Path(path)])) < 2}
    # They know nothing that could be tested alone.
    assert few <= {"python/wirelab/__main__.py", "python/wirelab/py.typed", "python/wirelab/__init__.py"}, few
    assert "python/tests/claims/test_judge.py" in touched("python/wirelab/claims/forms/ratio.py")
    found = touched("python/wirelab_energy/trace/answer.py")
    assert {"python/tests/wirelab_energy/trace/test_work.py", "python/tests/wirelab_energy/test_main.py"} <= set(found)
    assert "python/tests/metrics/test_radio.py" in touched("python/wirelab_energy/data/radios/nrf9160-nbiot.toml")


def test_a_test_selects_itself_and_a_document_nothing() -> None:
    assert touched("python/tests/test_units.py", "README.md") == ["python/tests/test_units.py"]


def _night(tmp_path: Path, parts: str, own: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """A night of such parts."""
    text = (ROOT / "scripts" / "nightly").read_text()
    text = re.sub(r'^parts=".*"$', f'parts="{parts}"', text, flags=re.MULTILINE)
    files = {
        "nightly": text.replace('if [ "${1:-}" = --part ]', f'{own}if [ "${{1:-}}" = --part ]'),
        "environment.sh": "uv=true agent=/bin/true\n",
        "install-test-needs": "#!/bin/sh\n",
    }
    (tmp_path / "scripts").mkdir()
    for name, content in files.items():
        (tmp_path / "scripts" / name).write_text(content)
        (tmp_path / "scripts" / name).chmod(0o755)
    return subprocess.run(
        [tmp_path / "scripts" / "nightly"], capture_output=True, text=True, check=False, timeout=60,
        env={**os.environ, "WIRELAB_AGENT": "/bin/true", **environment},
    )  # fmt: skip


def test_a_failed_nightly_part_is_reported_after_any_other_part(tmp_path: Path) -> None:
    own = "good() { echo 3 passed; }\nbad() { echo 1 passed; false; }\nlast() { true; }\n"
    done = _night(tmp_path, "good:1 bad:1 last:1", own)
    lines = [re.sub(r", in .*", "", line) for line in done.stdout.rsplit("\n\n", 1)[1].splitlines()]
    assert lines == ["nightly good: ok, 3 passed", "nightly bad: failed, 1 passed", "nightly last: ok, 0 passed"]
    assert done.returncode == 1


def test_generated_code_is_not_counted_and_its_readers_are() -> None:
    script = runpy.run_path(str(ROOT / "scripts" / "count"))
    head, mark = script["HEAD"], script["GENERATED_MARK"]
    generated = {path for path, text in script["_files"](None) if mark in text[:head]}
    assert {"python/wirelab/schema/link_spec.py", "python/wirelab/schema/link_facts.py"} <= generated
    assert "python/wirelab/schema/generated.py" not in generated


def test_a_night_ends_when_its_own_time_is_up(tmp_path: Path) -> None:
    done = _night(tmp_path, "slow:1 late:1", "slow() { sleep 50; }\nlate() { sleep 50; }\n", NIGHTLY_SECONDS="2")
    first, second = done.stdout.rsplit("\n\n", 1)[1].splitlines()
    assert first.startswith("nightly slow: failed, its 2 seconds are up, ")
    assert second.startswith("nightly late: failed, its 1 seconds are up, ")
    assert done.returncode == 1


def test_the_parts_of_nightly_are_its_functions_and_take_90_minutes() -> None:
    text = (ROOT / "scripts" / "nightly").read_text()
    parts = " ".join(re.findall(r'^parts="(.*)"$', text, re.MULTILINE))
    limits = {name: int(minutes) for name, minutes in re.findall(r"\b([a-z]+):(\d+)\b", parts)}
    assert "${NIGHTLY_SECONDS:-5400}" in text
    assert set(limits) == set(re.findall(r"^([a-z]+)\(\) \{", text, re.MULTILINE)) - {"tests"}


def test_an_unknown_nightly_part_is_refused_with_the_known_ones() -> None:
    done = subprocess.run(
        [ROOT / "scripts" / "nightly", "moon"], capture_output=True, text=True, check=False, timeout=60,
        env={**os.environ, "WIRELAB_AGENT": "/none"},
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: there is no part 'moon' of nightly; there are rabbitmq ")


def test_combinations_with_a_new_element_are_always_run() -> None:
    cases = [("a", 1), ("a", 2), ("b", 1), ("b", 2)]
    always = [case.values for case in covering(cases, (0,), (1,)) if not case.marks]
    assert always == [("a", 1), ("a", 2), ("b", 1)]


def test_no_example_in_a_doc_comment_is_left_to_rustdoc() -> None:
    """`scripts/test` leaves rustdoc's tests out: to look for them takes longer than anything that they could be."""
    fence = re.compile(r"^\s*//[/!] ?```(\w*)", re.MULTILINE)
    for path in sorted((ROOT / "crates").rglob("*.rs")):
        openings = fence.findall(path.read_text(encoding="utf-8"))[::2]
        assert set(openings) <= {"text", "json", "toml"}, path


TOYS = runpy.run_path(str(ROOT / "scripts" / "toys"))
KINDS = ("claim-form", "impairment", "metric", "protocol", "report-section", "third-party-client")


def test_there_is_a_toy_of_every_kind_of_plug_in_and_a_recipe_that_names_it() -> None:
    recipes = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert sorted(path.stem for path in TOYS["TOYS"].glob("*.patch")) == sorted(KINDS)
    assert sorted(re.findall(r"^### .+ \(`tests/toys/(.+)\.patch`\)$", recipes, re.MULTILINE)) == sorted(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_a_toy_applies_and_touches_few_files_none_of_them_generated(kind: str) -> None:
    patch = TOYS["TOYS"] / f"{kind}.patch"
    files = TOYS["files_of"](patch)
    assert 1 <= len(files) <= 3, files
    assert not [file for file in files if file.startswith(TOYS["GENERATED"])]
    assert any(command.startswith(("pytest ", "cargo test ")) for command in TOYS["commands"](patch))
    top = subprocess.run(["git", "rev-parse", "--show-toplevel"], cwd=ROOT, capture_output=True, text=True, check=False)
    if top.stdout.strip() != str(ROOT):
        pytest.skip(f"{ROOT} is not a git checkout: {top.stderr.strip() or top.stdout.strip()}")
    done = subprocess.run(["git", "apply", "--check", patch], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{patch.name} no longer applies: {done.stderr}"


def test_generated_files_are_those_that_a_toy_may_not_have() -> None:
    marked = {
        str(path.relative_to(ROOT))
        for path in (ROOT / "python" / "wirelab").rglob("*.py")
        if "by `make generate`; do not edit." in path.read_text(encoding="utf-8")
    }
    assert marked
    assert marked <= {*TOYS["GENERATED"]}


def test_a_clones_target_folder_has_the_libraries_of_others_and_nothing_of_wirelab(tmp_path: Path) -> None:
    built = tmp_path / "built"
    for name in ("deps/libserde-1.rlib", "deps/libwirelab_link-1.rlib", ".fingerprint/serde-1/lib-serde",
                 ".fingerprint/wirelab-link-1/lib-wirelab_link", "deps/contract-1", "wirelab-agent"):  # fmt: skip
        (built / name).parent.mkdir(parents=True, exist_ok=True)
        (built / name).write_text(name)
    target = tmp_path / "target"
    TOYS["link_libraries"](built, target)
    files = {str(path.relative_to(target)) for path in target.rglob("*") if path.is_file()}
    assert files == {"deps/libserde-1.rlib", ".fingerprint/serde-1/lib-serde"}
    # Cargo writes fingerprints in place: they are copies.
    (target / ".fingerprint/serde-1/lib-serde").write_text("changed")
    assert (built / ".fingerprint/serde-1/lib-serde").read_text() == ".fingerprint/serde-1/lib-serde"
