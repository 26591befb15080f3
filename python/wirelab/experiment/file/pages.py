"""Pages as an experiment file names them, and what is read or generated for that."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field, PlainValidator, ValidationInfo

from wirelab.errors import Where, WirelabError, did_you_mean
from wirelab.experiment.file.problems import field_names
from wirelab.experiment.file.quantities import Size, Table, inside
from wirelab.schema import PageIdentity, canonical_json
from wirelab.site import BUILTIN, Page, Site, count
from wirelab.site.bounds import LEAST_IMAGE_BYTES, MAX_BYTES, MAX_RESOURCES, MOST_IMAGES
from wirelab.units import SIZE_UNITS, UnitError, format_size

DEFAULT = "fischer2021"
MOST_BYTES = 60_000_000
"""Of all images together: they are held in memory."""


def _is_an_image(size_bytes: int) -> int:
    if size_bytes < LEAST_IMAGE_BYTES:
        raise UnitError("is too small for an image", hint=f"at least {LEAST_IMAGE_BYTES} B")
    return size_bytes


class ImagesTable(Table):
    """A document that names images which are all alike."""

    objects: int = Field(default=20, ge=1, le=MOST_IMAGES, description="How many images the document names.")
    object_size: Annotated[Size, AfterValidator(_is_an_image)] = Field(
        default=10_000,
        description="Size of each image. All images together have at most 60 MB.",
        json_schema_extra={"default": "10 kB"},
    )


class FolderTable(Table):
    """A folder of the user's own."""

    site: str = Field(min_length=1, description="The folder, relative to the experiment file; `~` is the home folder.")
    document: str = Field(default="index.html", min_length=1, description="The document in the folder.")


class PageParts(ImagesTable, FolderTable):
    """Keys of either table, each to be judged by itself; not even a folder is asked for."""

    site: str = Field(default=".", min_length=1)


PageChoice = str | ImagesTable | FolderTable


def read_page(value: object, info: ValidationInfo) -> PageChoice:
    """`"fischer2021"`, `{ objects = 20, object-size = "10 kB" }` or `{ site = "DIR" }`."""
    if isinstance(value, Mapping):
        return _read_table(value, info)
    if isinstance(value, str) and value in BUILTIN:
        return value
    if isinstance(value, str):
        raise UnitError("unknown page", f'{did_you_mean(value, BUILTIN)}; a folder of your own: {{ site = "DIR" }}')
    hint = f'"{DEFAULT}", {{ objects = 20, object-size = "10 kB" }} or {{ site = "DIR" }}'
    raise UnitError("is not a page", hint)


def check_size(page: PageChoice) -> None:
    """Refuse more images than are held in memory: how many and how large may be written in different places."""
    if isinstance(page, ImagesTable) and (size := page.objects * page.object_size) > MOST_BYTES:
        what = f"{count(page.objects, 'image')} of {format_size(page.object_size)} are {format_size(size)}"
        raise UnitError(what, hint=f"at most {format_size(MOST_BYTES)} together")


def _read_table(value: Mapping[str, object], info: ValidationInfo) -> ImagesTable | FolderTable:
    every = field_names(PageParts)
    for key in value:
        if key not in every:
            raise inside(str(key), value[key], UnitError("unknown key", did_you_mean(str(key), every)))
    model = FolderTable if FOLDER_KEYS & value.keys() else ImagesTable
    for key in value:
        if key not in field_names(model):
            raise inside(key, value[key], UnitError(NOT_GENERATED, GENERATED))
    if model is FolderTable and "site" not in value:
        [(key, document)] = value.items()
        hint = f'name the folder as well: {{ site = "DIR", document = {canonical_json(document)} }}, or --site DIR'
        raise inside(key, document, UnitError(NO_FOLDER, hint))
    return model.model_validate(value, context=info.context)


FOLDER_KEYS = frozenset(field_names(FolderTable))
NO_FOLDER = "is a key of folders, and this page is none"
NOT_GENERATED = "is a key of generated pages, and this page is a folder's"
GENERATED = f'a generated page: {{ objects = 20, object-size = "10 kB" }}, with 1 to {MOST_IMAGES} objects'

FORMS: Mapping[str, str] = {
    f'"{DEFAULT}"': "a built-in page (wirelab list pages)",
    '{ objects = 20, object-size = "10 kB" }': f"images that are all alike, from 1 to {MOST_IMAGES} objects (20) of "
    f"at least {LEAST_IMAGE_BYTES} B (10 kB) with their unit ({', '.join(SIZE_UNITS)}), at most "
    f"{format_size(MOST_BYTES)} together",
    '{ site = "DIR", document = "index.html" }': "a folder next to the experiment file (~ is the home folder) and the "
    f"document in it (index.html), at most {MAX_RESOURCES:,} resources and {format_size(MAX_BYTES)} together",
}
"""How a page is written, with bounds and, in brackets, defaults."""


class _PageSchema:
    """The schema for editors, made when it is asked for."""

    def __get_pydantic_json_schema__(self, _core: object, _handler: object) -> dict[str, object]:
        tables = (model.model_json_schema(by_alias=True) for model in (ImagesTable, FolderTable))
        return {"anyOf": [{"enum": sorted(BUILTIN)}, *tables]}


WrittenPage = Annotated[
    PageChoice,
    PlainValidator(read_page),
    _PageSchema(),
]


@dataclass(frozen=True)
class _Named:
    """What a choice of an experiment names."""

    identity: PageIdentity
    site: Site
    make: Callable[[], Page]


class Pages:
    """The pages that an experiment names, each read or described once; folders are looked up next to its file."""

    def __init__(self, folder: Path = Path()) -> None:
        self._folder = folder
        self._found: dict[PageChoice, _Named] = {}

    @property
    def sites(self) -> dict[str, Site]:
        """The manifests of those that were asked for, by digest."""
        return {each.identity.sha256: each.site for each in self._found.values()}

    def page(self, digest: str) -> Page:
        """One of them with its bodies; a built-in page is drawn now."""
        return next(each.make() for each in self._found.values() if each.identity.sha256 == digest)

    def identity(self, choice: PageChoice) -> PageIdentity:
        """What tells a page from others; raises what is wrong with a folder, with the file and the line."""
        if choice not in self._found:
            name, site, make = self._read(choice)
            identity = PageIdentity(
                name=name,
                sha256=site.digest,
                resources=len(site.resources),
                body_bytes=site.body_bytes,
            )
            self._found[choice] = _Named(identity, site, make)
        return self._found[choice].identity

    def _read(self, choice: PageChoice) -> tuple[str, Site, Callable[[], Page]]:
        match choice:
            case ImagesTable(objects=objects, object_size=size):
                from wirelab.site.synthetic import images

                page = images(objects, size)
                return f"{count(objects, 'image')} of {format_size(size)}", page.site, lambda: page
            case FolderTable(site=site, document=document):
                from wirelab.site.folder import read_folder

                path = self._folder / _expanded(site)
                page = read_folder(path, document)
                name = path.resolve().name
                return (name if document == _INDEX else f"{name}/{document}"), page.site, lambda: page
            case name:
                return name, BUILTIN[name].site, BUILTIN[name].make


def _expanded(site: str) -> Path:
    try:
        return Path(site).expanduser()
    except RuntimeError:
        raise WirelabError("is in no user's home folder", Where(site), "write the whole path") from None


_INDEX = FolderTable.model_fields["document"].default
