"""What a third-party server is configured with for a page: hints, media types, its folder. Starts no server."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from wirelab.site.manifest import Kind, Resource, Site

_AS = {Kind.STYLESHEET: "style", Kind.SCRIPT: "script", Kind.IMAGE: "image", Kind.FONT: "font"}

NO_PAGE: dict[str, object] = {"resources": (), "media_types": ()}
"""The variables of a workload that loads no page."""


def preload_link(resource: Resource) -> str:
    """The value of a Link field (RFC 8288) that hints at a resource. A font is fetched as of another origin, always; a
    hint that does not say so has it fetched twice.
    """
    use = _AS.get(resource.kind, "fetch")
    crossorigin = "; crossorigin" if use in {"font", "fetch"} else ""
    return f"<{resource.path}>; rel=preload; as={use}{crossorigin}"


def resource_texts(site: Site) -> tuple[dict[str, str], ...]:
    """What is known of each resource, the document first (`docs/contract.md`)."""
    return tuple(
        {
            "path": resource.path,
            "file": resource.file,
            "link": preload_link(resource),
            "media_type": resource.media_type,
            "extension": PurePosixPath(resource.file).suffix.removeprefix("."),
        }
        for resource in site.resources
    )


def page_variables(site: Site, folder: Path) -> dict[str, object]:
    """What the texts of a program's entry may ask of a page, whose files are in this folder (`docs/contract.md`)."""
    known = resource_texts(site)
    types = [(each["media_type"], each["extension"]) for each in known if each["extension"]]
    return {
        "site": str(folder),
        "document": f"/{site.document.file}",
        "resources": known,
        "media_types": tuple(dict.fromkeys(types)),
    }
