"""`wirelab describe page NAME|DIR`, and how a page is written."""

from __future__ import annotations

import shlex
from pathlib import Path

from wirelab.cli.text import below, paragraph, section
from wirelab.errors import WirelabError, did_you_mean
from wirelab.launcher import launched


def describe_page(name: str) -> str:
    """A built-in page, or that of a folder or of a document in one, with every resource."""
    from wirelab.site import BUILTIN, count, left_out_words
    from wirelab.units import format_size

    path = Path(name)
    use = [("your own", launched("run page --site DIR"))]
    if name not in BUILTIN and (path.is_dir() or path.is_file()):
        from wirelab.site.folder import read_folder

        folder, document = (path, {}) if path.is_dir() else (path.parent, {"document": path.name})
        site, about = read_folder(folder, **document).site, "A folder of your own."
        sets = "".join(f" --set workload.page.{key}={shlex.quote(value)}" for key, value in document.items())
        use = [("in a run", launched(f"run page --site {shlex.quote(str(folder))}{sets}"))]
    else:
        if name not in BUILTIN:
            hint = f"{did_you_mean(name, BUILTIN)}; a folder of your own: describe page DIR"
            raise WirelabError(f"unknown page '{name}'", hint=hint)
        site, about = BUILTIN[name].site, BUILTIN[name].about
        use.insert(0, ("in a run", launched(f"run page --set workload.page={name}")))
    rows = [("path", "kind", "body", "known by")]
    rows += [
        (
            each.path, each.kind.value, format_size(each.body_bytes),
            "" if each.parent is None else f"byte {each.at_bytes:,} of {site.resources[each.parent].path}",
        )
        for each in site.resources
    ]  # fmt: skip
    much = f"{count(len(site.resources), 'resource')}, {format_size(site.body_bytes)}"
    parts = [f"{name}\n\n{paragraph(about)}", f"{much}, SHA-256 of the manifest {site.digest}"]
    parts += [paragraph(f"References that are not loaded: {words}")] if (words := left_out_words(site)) else []
    return "\n\n".join([*parts, section("resources", rows), section("use it", use), page_forms()])


def page_forms() -> str:
    """The forms that a page has in an experiment file and on the command line."""
    from wirelab.experiment.file.pages import FORMS

    vary = {
        "vary": launched("run page --set workload.page.objects=1,10,100"),
        "another document": launched("run page --site DIR --set workload.page.document=start.html"),
    }
    return "\n\n".join([below("forms of a page", FORMS), below("on the command line", vary)])
