"""Campaigns by name: a folder, or a name under results/."""

from __future__ import annotations

from pathlib import Path

from wirelab.errors import Where, WirelabError
from wirelab.launcher import launched
from wirelab.schema.campaign import OF_A_TEST, PLAN

RESULTS = Path("results")


def existing(campaign: Path) -> Path:
    """The campaign's folder; of a test's folder that of its campaign."""
    for place in (campaign, RESULTS / campaign):
        for folder in (place, place / OF_A_TEST):
            if (folder / PLAN).is_file():
                return not_an_option(folder)
    known = {*RESULTS.glob(f"*/{PLAN}"), *RESULTS.glob(f"*/{OF_A_TEST}/{PLAN}")}
    here = sorted({path.relative_to(RESULTS).parts[0] for path in known})
    hint = f"campaigns here: {', '.join(here)}" if here else f"{launched('run FILE')} makes one"
    if (kind := _kind(str(campaign))) is not None:
        hint = f"'{campaign}' is the name of {kind}: {launched(f'describe {campaign}')}; {hint}"
    where = (
        f"it has no {PLAN}" if campaign.is_absolute() else f"neither {campaign} nor {RESULTS / campaign} has a {PLAN}"
    )
    raise WirelabError(f"no campaign '{campaign}': {where}", hint=hint)


def writable(campaign: Path, hint: str = "copy the campaign to a folder that can be written") -> Path:
    """The campaign's folder, in which something is to be written."""
    from wirelab.runner.disk import require_writable

    folder = existing(campaign)
    require_writable(folder, folder, hint, "cannot be written")
    return folder


def not_an_option(path: Path) -> Path:
    """The same path, but none that a program could take for an option. Raises `WirelabError` if it is not text."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        raise WirelabError("the name is not UTF-8", Where(ascii(str(path))), "choose another name") from None
    return path.absolute() if str(path).startswith("-") else path


def _kind(name: str) -> str | None:
    """The kind of another thing with this name."""
    from wirelab.cli.list import KINDS

    kinds = (kind.removesuffix("s") for kind, listed in KINDS.items() if any(name == each for each, _ in listed()))
    kind = next(kinds, None)
    return kind and f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}"
