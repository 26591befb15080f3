from pathlib import Path

import pytest

from tests.asked import load_experiment
from tests.described import KNOWN
from wirelab.errors import WirelabError
from wirelab.experiment.duration.formula import PROCESSING_NS
from wirelab.experiment.duration.trial import KEPT_CPU_NS, TRIAL_OVERHEAD_NS, trial_cpu_ns
from wirelab.experiment.experiment import Experiment
from wirelab.experiment.file.workload import LOAD_TIMEOUT_NS
from wirelab.plan import make_plan
from wirelab.schema import PageLoads

PAGE = """
title = "Pages"
metric = "load-time"
[factors]
protocol = ["http1", "h2"]
[workload]
kind = "page"
"""
HTML = '<!DOCTYPE html><title>Mine</title>\n<link rel=stylesheet href=a.css>\n<img src="b.png">\n'


def load(folder: Path, text: str, *sets: str) -> Experiment:
    path = folder / "experiment.toml"
    path.write_text(text)
    return load_experiment(str(path), sets, KNOWN)


def loads(experiment: Experiment) -> list[PageLoads]:
    found = [scenario.workload for scenario in experiment.scenarios]
    assert all(isinstance(each, PageLoads) for each in found)
    return found  # type: ignore[return-value]


def site(folder: Path) -> Path:
    path = folder / "mine"
    path.mkdir()
    (path / "index.html").write_text(HTML)
    (path / "a.css").write_text("body{}")
    (path / "b.png").write_bytes(b"png")
    return path


def test_the_default_page_is_fischer2021s(tmp_path: Path) -> None:
    experiment = load(tmp_path, PAGE)
    for workload in loads(experiment):
        assert (workload.page.name, workload.page.resources, workload.page.body_bytes) == ("fischer2021", 17, 394_000)
        assert (workload.loads, workload.timeout_ns, workload.rows) == (10, LOAD_TIMEOUT_NS, 10)
    [(digest, page)] = experiment.pages().items()
    assert digest == page.site.digest == loads(experiment)[0].page.sha256


def test_a_page_has_its_keys(tmp_path: Path) -> None:
    [first, _] = loads(load(tmp_path, PAGE + 'page = "text-44kb"\nloads = 3\ntimeout = "5 s"'))
    assert (first.page.name, first.loads, first.timeout_ns) == ("text-44kb", 3, 5 * 10**9)


def test_a_page_of_images_is_a_grid_of_how_many_and_how_large(tmp_path: Path) -> None:
    sets = ("workload.page.objects=1,3", "workload.page.object-size=1kB,2kB")
    experiment = load(tmp_path, PAGE + 'page = { objects = 9, object-size = "9 kB" }', *sets)
    names = {workload.page.name for workload in loads(experiment)}
    assert names == {f"{count} of {size} kB" for count in ("1 image", "3 images") for size in (1, 2)}
    assert len(experiment.scenarios) == 8
    assert experiment.scenarios[0].levels["workload.page.objects"] == 1


def test_one_parameter_of_a_page_of_images_is_varied_and_the_other_stays(tmp_path: Path) -> None:
    experiment = load(tmp_path, PAGE + 'page = { objects = 2, object-size = "9 kB" }', "workload.page.objects=1")
    assert {workload.page.name for workload in loads(experiment)} == {"1 image of 9 kB"}


def test_pages_are_levels(tmp_path: Path) -> None:
    experiment = load(tmp_path, PAGE, 'workload.page=text-44kb,{ objects = 1, object-size = "1 kB" }')
    assert [workload.page.resources for workload in loads(experiment)] == [1, 2, 1, 2]


def test_a_users_folder_is_looked_up_next_to_the_file(tmp_path: Path) -> None:
    site(tmp_path)
    [first, _] = loads(load(tmp_path, PAGE + 'page = { site = "mine" }'))
    assert (first.page.name, first.page.resources) == ("mine", 3)


def test_a_changed_file_makes_another_scenario_of_the_same_page(tmp_path: Path) -> None:
    folder = site(tmp_path)
    text = PAGE + 'page = { site = "mine" }'
    before = make_plan(load(tmp_path, text))
    assert [s.key for s in make_plan(load(tmp_path, text)).scenarios] == [s.key for s in before.scenarios]
    (folder / "b.png").write_bytes(b"PNG")
    after = make_plan(load(tmp_path, text))
    assert not {s.key for s in after.scenarios} & {s.key for s in before.scenarios}


def test_a_missing_resource_is_reported_with_file_and_line(tmp_path: Path) -> None:
    folder = site(tmp_path)
    (folder / "b.png").unlink()
    with pytest.raises(WirelabError) as refused:
        load(tmp_path, PAGE + 'page = { site = "mine" }')
    assert f"{folder / 'index.html'}:3" in str(refused.value)
    assert "no such file (b.png)" in str(refused.value)


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ('"fischer"', "unknown page"),
        ("3", "is not a page"),
        ('{ site = "nowhere" }', "cannot be read"),
        (r'{ site = "nowhere\u0000" }', "cannot be read: .*embedded null"),
        ('{ site = "~nowhere/mine" }', "is in no user's home folder"),
        ('{ site = "mine", objects = 3 }', "is a key of generated pages, and this page is a folder's"),
        ('{ sit = "mine" }', "did you mean 'site'"),
        ('{ document = "start.html" }', r'document: is a key of folders, and this page is none \("start.html"\)'),
        ("{ objects = 0 }", "must be at least 1"),
        ("{ objects = 1000 }", "must be at most 999"),
        ('{ objects = 3, object-size = "99 B" }', "too small for an image"),
        ('{ objects = 900, object-size = "1 MB" }', "900 images of 1 MB are 900 MB"),
    ],
)
def test_a_value_that_is_not_a_page_is_refused_at_its_key(tmp_path: Path, written: str, words: str) -> None:
    site(tmp_path)
    with pytest.raises(WirelabError, match=words) as refused:
        load(tmp_path, f"{PAGE}page = {written}")
    assert refused.value.exit_code == 2
    assert "nowhere" in written or "experiment.toml:8:" in str(refused.value)


def test_parameters_of_images_do_not_apply_to_a_folder(tmp_path: Path) -> None:
    site(tmp_path)
    with pytest.raises(WirelabError) as refused:
        load(tmp_path, PAGE + 'page = { site = "mine" }', "workload.page.objects=3")
    reported = "--set: workload.page.objects: is a key of generated pages, and this page is a folder's (3)\n"
    assert str(refused.value).startswith(reported)


def test_parameters_of_images_are_checked_together_in_any_order(tmp_path: Path) -> None:
    """One of 10 MB is a page, twenty are not."""
    sets = ["workload.page.object-size=10 MB", "workload.page.objects=1"]
    for each in (sets, sets[::-1]):
        assert {workload.page.name for workload in loads(load(tmp_path, PAGE, *each))} == {"1 image of 10 MB"}
    with pytest.raises(WirelabError) as refused:
        load(tmp_path, PAGE, "workload.page.object-size=10 MB")
    reported = "--set: workload.page.object-size: 20 images of 10 MB are 200 MB\nhint: at most 60 MB together"
    assert str(refused.value) == reported


def test_the_number_of_images_is_checked_at_each_level(tmp_path: Path) -> None:
    with pytest.raises(WirelabError, match=r"workload\.page\.objects: must be at most 999 \(1000\)"):
        load(tmp_path, PAGE, "workload.page.objects=1,1000")
    with pytest.raises(WirelabError, match=r"workload\.page has no key 'objectz'\nhint: did you mean 'objects'"):
        load(tmp_path, PAGE, "workload.page.objectz=1")


def test_another_document_of_a_folder_may_be_named_before_or_after_it(tmp_path: Path) -> None:
    (site(tmp_path) / "start.html").write_text(HTML)
    sets = ["workload.page.document=start.html", 'workload.page={ site = "mine" }']
    for each in (sets, sets[::-1]):
        assert {workload.page.name for workload in loads(load(tmp_path, PAGE, *each))} == {"mine/start.html"}


@pytest.mark.parametrize("page", ["", 'page = "text-44kb"'])
def test_another_document_without_a_folder_is_refused_at_its_key(tmp_path: Path, page: str) -> None:
    with pytest.raises(WirelabError) as refused:
        load(tmp_path, PAGE + page, "workload.page.document=start.html")
    assert str(refused.value) == (
        '--set: workload.page.document: is a key of folders, and this page is none ("start.html")\n'
        'hint: name the folder as well: { site = "DIR", document = "start.html" }, or --site DIR'
    )


def test_a_page_that_is_set_by_its_name_has_no_parts(tmp_path: Path) -> None:
    with pytest.raises(WirelabError, match='is a part of a page, and "text-44kb" has none to vary'):
        load(tmp_path, PAGE, "workload.page.objects=3", "workload.page=text-44kb")


def test_every_mistake_of_a_folder_is_reported(tmp_path: Path) -> None:
    folder = site(tmp_path)
    for name in ("a.css", "b.png"):
        (folder / name).unlink()
    with pytest.raises(WirelabError) as refused:
        load(tmp_path, PAGE + 'page = { site = "mine" }')
    assert [line.partition(": ")[2] for line in str(refused.value).splitlines() if "hint" not in line] == [
        "no such file (a.css)",
        "no such file (b.png)",
    ]


def test_a_key_of_other_workloads_is_refused_with_what_a_page_has_for_it(tmp_path: Path) -> None:
    with pytest.raises(WirelabError, match="did you mean 'loads'"):
        load(tmp_path, PAGE + "exchanges = 3")


def test_a_plan_of_pages_is_written_and_read_back(tmp_path: Path) -> None:
    plan = make_plan(load(tmp_path, PAGE), budget_ns=10**10)
    assert type(plan).model_validate(plan.to_json()) == plan
    assert plan.experiment.preview is not None
    assert all(scenario.expected_trial_ns > 0 for scenario in plan.scenarios)


IMAGES = 'page = { objects = 20, object-size = "1 kB" }\nloads = 3\n[link]\nrtt = "20 ms"'


@pytest.mark.parametrize(
    ("protocol", "trips"), [("http1", 2 * 1 + 1 + 4), ("https1", 2 * 2 + 1 + 4), ("h2", 2 + 1 + 1)]
)
def test_the_estimated_load_time_has_handshakes_the_document_and_rounds_of_resources(
    tmp_path: Path, protocol: str, trips: int
) -> None:
    [scenario] = make_plan(load(tmp_path, PAGE + IMAGES, f"protocol={protocol}")).scenarios
    assert scenario.expected_exchange_ns == PROCESSING_NS + trips * 20_000_000
    assert scenario.expected_trial_ns == TRIAL_OVERHEAD_NS + 3 * scenario.expected_exchange_ns


def test_a_large_page_takes_the_time_of_its_bytes(tmp_path: Path) -> None:
    text = PAGE + 'page = "text-2mb"\n[link]\nrate = "1 Mbit/s"\nqueue = "64 kB"'
    for scenario in make_plan(load(tmp_path, text)).scenarios:
        assert 16 < scenario.expected_exchange_ns / 1e9 < 17


def test_the_estimated_cpu_time_of_a_load_follows_its_resources_and_bytes(tmp_path: Path) -> None:
    few, many = (
        make_plan(load(tmp_path, PAGE + IMAGES, "protocol=h2", f"workload.page.objects={count}")).scenarios[0]
        for count in (10, 100)
    )
    assert trial_cpu_ns(many) - trial_cpu_ns(few) > 3 * 90 * KEPT_CPU_NS
