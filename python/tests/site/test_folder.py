"""Folders of users' own: what is found, and what is refused."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from wirelab.errors import CombinedError, WirelabError
from wirelab.site import Kind, Page, Reason, discovery, folder
from wirelab.site.folder import read_folder


def site(path: Path, files: dict[str, str | bytes]) -> Path:
    for name, text in files.items():
        file = path / "site" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode() if isinstance(text, str) else text)
    return path / "site"


def read(path: Path, files: dict[str, str | bytes]) -> Page:
    return read_folder(site(path, files))


def paths(page: Page) -> list[str]:
    return [each.path for each in page.site.resources]


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user may enter: pytest closes its own to others than who runs it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder


@contextmanager
def as_nobody() -> Iterator[None]:
    """Not as root, who may read every file."""
    if os.geteuid():
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


def test_resources_are_in_the_order_of_discovery_with_their_kind(tmp_path: Path) -> None:
    html = "<link rel=stylesheet href=css/a.css><script src=a.js async></script><p><img src=1.png>"
    css = "@import 'b.css';p{background:url(../2.png)}@font-face{src:url(/f.woff2)}"
    page = read(
        tmp_path,
        {
            "index.html": html,
            "css/a.css": css,
            "css/b.css": "",
            "a.js": "js",
            "1.png": "1",
            "2.png": "22",
            "f.woff2": "",
        },
    )
    assert [(r.path, r.kind, r.media_type, r.parent, r.at_bytes, r.blocking) for r in page.site.resources] == [
        ("/index.html", Kind.DOCUMENT, "text/html", None, 0, True),
        ("/css/a.css", Kind.STYLESHEET, "text/css", 0, 36, True),
        ("/a.js", Kind.SCRIPT, "text/javascript", 0, 59, False),
        ("/1.png", Kind.IMAGE, "image/png", 0, 86, False),
        ("/css/b.css", Kind.STYLESHEET, "text/css", 1, len(css), True),
        ("/2.png", Kind.IMAGE, "image/png", 1, len(css), False),
        ("/f.woff2", Kind.FONT, "font/woff2", 1, len(css), False),
    ]
    assert page.bodies == (html.encode(), css.encode(), b"js", b"1", b"", b"22", b"")
    assert [r.body_bytes for r in page.site.resources] == [len(body) for body in page.bodies]


def test_the_same_files_give_the_same_digest_and_other_bytes_another(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {"index.html": "<img src=a.png>", "a.png": "a"}
    first = read(tmp_path / "1", files)
    assert read(tmp_path / "2", {**files, "not-named.png": "x"}) == first
    assert read(tmp_path / "3", {**files, "a.png": "b"}).site.digest != first.site.digest


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("a%20b.png", "/a%20b.png"),
        ("a b.png", "/a%20b.png"),
        ("a&#32;b.png#part", "/a%20b.png"),
        (" \n/./x/../a b.png?v=1&amp;w=2 ", "/a%20b.png?v=1&w=2"),
        ("x/%2E%2e/a b.png", "/a%20b.png"),
        ("é.png", "/%C3%A9.png"),
        ("%C3%A9.png?é", "/%C3%A9.png?%C3%A9"),
        ("sub\\c.png", "/sub/c.png"),
        ("100%.png", "/100%.png"),
        ('^|`[].png?a|b^c`[]"', "/%5E%7C%60[].png?a|b^c`[]%22"),
    ],
)
def test_a_url_is_resolved_to_its_file(tmp_path: Path, url: str, path: str) -> None:
    files = {name: name.encode() for name in ["a b.png", "é.png", "sub/c.png", "100%.png", "^|`[].png"]}
    page = read(tmp_path, {"index.html": f"<meta charset=utf-8><img src='{url}'>", **files})
    assert paths(page) == ["/index.html", path]
    assert page.bodies[1] == page.site.resources[1].file.encode()


def test_a_stylesheet_in_the_documents_encoding_names_its_files(tmp_path: Path) -> None:
    html, css = "<meta charset=koi8-r><link rel=stylesheet href=a.css>", "p{background:url(ж.png)}"
    page = read(tmp_path, {"index.html": html, "a.css": css.encode("koi8-r"), "ж.png": ""})
    assert page.site.resources[2].file == "ж.png"


def test_the_base_of_a_document_applies_to_its_urls_and_not_to_its_stylesheets(tmp_path: Path) -> None:
    html = "<base href='sub/'><link rel=stylesheet href=a.css><img src=b.png><p style='background:url(c.png)'>"
    names = ["sub/a.css", "sub/b.png", "sub/c.png", "sub/d.png"]
    page = read(tmp_path, {**dict.fromkeys(names, ""), "index.html": html, "sub/a.css": "p{background:url(d.png)}"})
    assert paths(page)[1:] == [f"/{name}" for name in names]


def test_other_hosts_and_players_are_reported_and_not_fetched(tmp_path: Path) -> None:
    html = (
        "<base href='https://a.example/b/'><img src=c.png><img src=c.png><img src=//d.example/e.png><video src=f.mp4>"
    )
    page = read(tmp_path, {"index.html": html})
    assert paths(page) == ["/index.html"]
    assert [(each.url, each.why) for each in page.site.left_out] == [
        ("https://a.example/b/c.png", Reason.ELSEWHERE),
        ("//d.example/e.png", Reason.ELSEWHERE),
        ("https://a.example/b/f.mp4", Reason.EMBEDDED),
    ]


def test_a_base_with_an_invalid_host_counts_as_another_host(tmp_path: Path) -> None:
    page = read(tmp_path, {"index.html": "<base href='https://[x/'><img src=a.png>"})
    assert [each.why for each in page.site.left_out] == [Reason.ELSEWHERE]


def test_data_in_the_document_itself_is_not_fetched(tmp_path: Path) -> None:
    html = (
        "<img src='data:image/png;base64,AA=='><p style='filter:url(#f)'><iframe src=about:blank></iframe><img src=#x>"
    )
    page = read(tmp_path, {"index.html": html})
    assert paths(page) == ["/index.html"]
    assert page.site.left_out == ()


def test_a_resource_named_twice_is_listed_once_at_its_first_place(tmp_path: Path) -> None:
    html = "<link rel=preload as=style href=a.css><link rel=stylesheet href=a.css><img src=b.png><p><img src=b.png>"
    page = read(
        tmp_path,
        {"index.html": html, "a.css": "p{background:url(b.png)}p{background:url(c.png)}", "b.png": "", "c.png": ""},
    )
    assert paths(page) == ["/index.html", "/a.css", "/b.png", "/c.png"]
    assert page.site.resources[1].at_bytes == html.index("<link rel=stylesheet")
    assert page.site.resources[1].blocking


def test_resources_of_a_preloaded_or_print_stylesheet_are_not_fetched(tmp_path: Path) -> None:
    html = "<link rel=preload as=style href=a.css><link rel=stylesheet media=print href=b.css>"
    css = "p{background:url(not-there.png)}"
    assert paths(read(tmp_path, {"index.html": html, "a.css": css, "b.css": css}))[1:] == ["/a.css", "/b.css"]


def test_a_frame_is_followed_and_blocks_nothing(tmp_path: Path) -> None:
    frame = "<link rel=stylesheet href=a.css><iframe src=index.html></iframe><iframe src=f.html></iframe>"
    page = read(tmp_path, {"index.html": "<iframe src=f.html></iframe>", "f.html": frame, "a.css": ""})
    assert [(each.path, each.parent, each.blocking) for each in page.site.resources] == [
        ("/index.html", None, True),
        ("/f.html", 0, False),
        ("/a.css", 1, False),
    ]


def test_stylesheets_that_import_one_another_are_read_once(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {"a.css": "@import 'b.css';@import 'a.css';", "b.css": "@import 'a.css';"}
    assert len(read(tmp_path, {"index.html": "<link rel=stylesheet href=a.css>", **files}).bodies) == 3


def test_another_document_may_be_the_page(tmp_path: Path) -> None:
    path = site(tmp_path, {"sub/my page.html": "<img src=a.png>", "sub/a.png": ""})
    assert paths(read_folder(path, "sub/../sub/my page.html")) == ["/sub/my%20page.html", "/sub/a.png"]


def test_a_link_that_stays_in_the_folder_is_a_file(tmp_path: Path) -> None:
    path = site(tmp_path, {"index.html": "<img src=a.png>", "real.png": "r"})
    (path / "a.png").symlink_to("real.png")
    (tmp_path / "elsewhere").symlink_to(path)
    assert read_folder(tmp_path / "elsewhere").bodies[1] == b"r"


@pytest.mark.parametrize(
    ("url", "complaint"),
    [
        ("no.png", "no such file (no.png)"),
        ("index.html/x.png", "no such file (index.html/x.png)"),
        ("%00", "no such file (%00)"),
        ("x" * 300, "cannot be read: File name too long"),
        ("../secret.png", "leaves the folder (../secret.png)"),
        ("sub/../../secret.png", "leaves the folder (sub/../../secret.png)"),
        ("%2e%2E/secret.png", "leaves the folder (%2e%2E/secret.png)"),
        ("..\\secret.png", "leaves the folder (..\\secret.png)"),
        ("sub%2f..%2f..%2fsecret.png", "has an encoded slash (sub%2f..%2f..%2fsecret.png)"),
        ("out.png", "leaves the folder (out.png)"),
        ("out/secret.png", "leaves the folder (out/secret.png)"),
        ("loop", "cannot be read: "),
        ("sub", "is a folder (sub)"),
        ("sub/", "is a folder (sub/)"),
        (".", "is a folder (.)"),
        ("/", "is a folder (/)"),
        ("pipe", "is not a regular file (pipe)"),
    ],
)
@pytest.mark.parametrize("by", ["html", "style", "css"])
def test_a_file_that_is_not_available_is_named_with_its_place(
    tmp_path: Path, url: str, complaint: str, by: str
) -> None:
    (tmp_path / "secret.png").write_text("secret")
    line = 2
    files: dict[str, str | bytes] = {"sub/x": ""}
    if by == "html":
        files["index.html"] = f"<p>\n<img src='{url}'>"
    elif by == "style":
        files["index.html"], line = (
            f"<style>\np{{}}\np{{background:url('{url.replace(chr(92), chr(92) * 2)}')}}</style>",
            3,
        )
    else:
        files["index.html"] = "<link rel=stylesheet href=a.css>"
        files["a.css"] = f"p{{}}\np{{background:url('{url.replace(chr(92), chr(92) * 2)}')}}"
    path = site(tmp_path, files)
    (path / "out.png").symlink_to("../secret.png")
    (path / "out").symlink_to(tmp_path)
    (path / "loop").symlink_to("loop")
    os.mkfifo(path / "pipe")
    with pytest.raises(WirelabError) as caught:
        read_folder(path)
    name = path / ("a.css" if by == "css" else "index.html")
    assert str(caught.value).startswith(f"{name}:{line}: {complaint}")
    assert caught.value.exit_code == 2


def test_a_file_that_may_not_be_read_is_named_with_its_place(open_folder: Path) -> None:
    path = site(open_folder, {"index.html": "<img src=a.png>", "a.png": ""})
    (path / "a.png").chmod(0)
    with as_nobody(), pytest.raises(WirelabError, match=r"html:1: cannot be read: Permission denied \(a\.png\)"):
        read_folder(path)


def test_html_that_pythons_parser_cannot_read_is_read_or_refused_by_name(tmp_path: Path) -> None:
    path = site(tmp_path, {"index.html": "<![what[<img src=a.png>", "a.png": ""})
    try:
        assert paths(read_folder(path))[0] == "/index.html"
    except WirelabError as error:
        assert str(error).startswith(f"{path}/index.html: is not HTML: ")


def test_a_base_that_leaves_the_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(WirelabError, match=r"index\.html:1: leaves the folder \(\.\./\)"):
        read(tmp_path, {"index.html": "<base href='../'><img src=a.png>"})


def test_a_folder_without_a_document_says_which_one_it_looked_for(tmp_path: Path) -> None:
    with pytest.raises(WirelabError) as caught:
        read(tmp_path, {"a.html": ""})
    assert str(caught.value) == (
        f"{tmp_path}/site/index.html: no such file (index.html)\n"
        "hint: a page begins with index.html; another document: --set workload.page.document=a.html (or, in place of "
        f'--site, --set \'workload.page={{ site = "{tmp_path}/site", document = "a.html" }}\')'
    )


def test_a_file_that_differs_in_case_is_offered(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {"index.html": "<img src=img/Logo.png>", "Img/logo.PNG": ""}
    with pytest.raises(WirelabError) as caught:
        read(tmp_path / "1", files)
    assert caught.value.hint == f"did you mean 'Img/logo.PNG'? (looked for {tmp_path}/1/site/img/Logo.png)"
    with pytest.raises(WirelabError, match=r"did you mean 'Index\.html'\?.* workload\.page\.document=Index\.html"):
        read(tmp_path / "2", {"Index.html": ""})


def test_every_error_of_a_page_is_reported_once_and_the_first_ten_in_full(tmp_path: Path) -> None:
    tags = "\n".join(f"<img src={number}.png><img src={number}.png>" for number in range(12))
    with pytest.raises(CombinedError) as caught:
        read(tmp_path, {"index.html": f"<link rel=stylesheet href=a.css><img src=../x.png>\n{tags}", "a.css": ""})
    places = [str(error).partition("\n")[0].removeprefix(f"{tmp_path}/site/") for error in caught.value.errors]
    assert places == [
        "index.html:1: leaves the folder (../x.png)",
        *(f"index.html:{number + 2}: no such file ({number}.png)" for number in range(9)),
        "index.html: the page has 3 more mistakes",
    ]


def test_mistakes_in_several_files_are_reported_together(tmp_path: Path) -> None:
    html, css = "<link rel=stylesheet href=a.css><iframe src=f.html></iframe>", "p{background:url(1.png)}"
    with pytest.raises(CombinedError) as caught:
        read(tmp_path, {"index.html": html, "a.css": css, "f.html": "<img src=2.png>"})
    assert [error.what for error in caught.value.errors] == ["no such file (1.png)", "no such file (2.png)"]


def test_the_root_folder_is_refused_with_the_reason() -> None:
    with pytest.raises(WirelabError, match=r"^/: is refused: every file of this machine would be inside"):
        read_folder(Path("/"))


@pytest.mark.parametrize(
    ("document", "complaint"),
    [
        ("../out.html", "leaves the folder"),
        ("/index.html/../../x.html", "leaves the folder"),
        ("x.html", "no such file"),
        ("a.png", "is neither HTML nor text by its name"),
        ("", "is neither HTML nor text by its name"),
        ("sub.html", "is a folder"),
    ],
)
def test_a_document_that_is_not_in_the_folder_or_not_html_is_refused(
    tmp_path: Path, document: str, complaint: str
) -> None:
    path = site(tmp_path, {"index.html": "", "a.png": "", "sub.html/x": ""})
    (tmp_path / "out.html").write_text("")
    with pytest.raises(WirelabError, match=complaint):
        read_folder(path, document)


def test_a_path_that_is_not_a_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(WirelabError, match="file: is not a folder"):
        read_folder(tmp_path / "file")
    with pytest.raises(WirelabError, match="no: cannot be read: No such file"):
        read_folder(tmp_path / "no")


def test_a_page_of_too_many_resources_is_refused_at_the_first_too_many(tmp_path: Path) -> None:
    html = "\n".join(f"<img src=a.png?{number}>" for number in range(discovery.MAX_RESOURCES))
    with pytest.raises(WirelabError, match=r"html:1000: is one resource more than 1000 \(a\.png\?999\)"):
        read(tmp_path, {"index.html": html, "a.png": ""})
    fewer = html.rpartition("\n")[0]
    assert len(read(tmp_path, {"index.html": fewer}).bodies) == discovery.MAX_RESOURCES


def test_a_page_of_too_many_bytes_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discovery, "MAX_BYTES", 100)
    monkeypatch.setattr(folder, "MAX_BYTES", 100)
    with pytest.raises(WirelabError, match=r"html:1: brings the page to 101 B, at most 100 B \(a\.png\)"):
        read(tmp_path, {"index.html": "<img src=a.png>", "a.png": "a" * 86})
    with pytest.raises(WirelabError, match=r"html:1: has 101 B, at most 100 B \(a\.png\)"):
        read(tmp_path, {"a.png": "a" * 101})


def test_a_chain_of_too_many_stylesheets_is_refused(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {f"{n}.css": f"@import '{n + 1}.css';" for n in range(discovery.MAX_DEPTH + 1)}
    with pytest.raises(WirelabError, match=r"31\.css:1: is named through more than 32 files \(32\.css\)"):
        read(tmp_path, {"index.html": "<link rel=stylesheet href=0.css>", **files})
