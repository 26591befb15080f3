"""What a stylesheet names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wirelab.site import Kind
from wirelab.site.css import scan_css, scan_style_attribute
from wirelab.site.decoding import decode_css


def named(text: str) -> list[tuple[str, Kind]]:
    return [(each.url, each.kind) for each in scan_css(text, 0)]


@pytest.mark.parametrize(
    ("text", "url", "kind"),
    [
        ("@import 'x';", "x", Kind.STYLESHEET),
        ("@charset 'utf-8'; @layer a; @IMPORT url(x) layer(b) screen;", "x", Kind.STYLESHEET),
        ('@import url("x");', "x", Kind.STYLESHEET),
        ("a{background:URL( x )}", "x", Kind.IMAGE),
        ("a{background:url('x')}", "x", Kind.IMAGE),
        ("a{background:url(\\78)}", "x", Kind.IMAGE),
        ("a{b{background:url(x)}}", "x", Kind.IMAGE),
        ("a{background:image-set('x' 1x, 'y' 2x)}", "x", Kind.IMAGE),
        ("a{background:-webkit-image-set(url(x) 1x, url(y) 2x)}", "x", Kind.IMAGE),
        ("a{background:cross-fade(url(x), red)}", "x", Kind.IMAGE),
        ("@media screen{@supports (a:b){a{cursor:url(x),auto}}}", "x", Kind.IMAGE),
        ("@page{background:url(x)}", "x", Kind.IMAGE),
        ("@font-face{src:url(x)}", "x", Kind.FONT),
        ("@font-face{src:local('y'),url(x) format('woff2'),url(z)}", "x", Kind.FONT),
        ("@font-face{src:url(a.eot);src:url(b) format('embedded-opentype'),url(x) format(woff)}", "x", Kind.FONT),
        ("@media screen{@font-face{src:url(x) format('woff2-variations')}}", "x", Kind.FONT),
    ],
)
def test_a_rule_names_what_a_browser_fetches_for_it(text: str, url: str, kind: Kind) -> None:
    assert named(text) == [(url, kind)]


@pytest.mark.parametrize(
    "text",
    [
        "/* url(x) */", "@namespace url(x);", "a{}@import 'x';", "@layer a{}@import 'x';", "a{content:'url(x)'}",
        "@media print{a{background:url(x)}}", "@import;", "@import x;", "@font-face{src:local(x)}",
        "@font-face{font-family:x}", "a{background:url()}", "a{background:url(un closed)}",
        "@font-face{src:url(x) format('svg')}",
    ],
)  # fmt: skip
def test_references_that_a_browser_does_not_fetch_are_left_out(text: str) -> None:
    assert named(text) == []


def test_an_import_for_print_is_fetched_and_neither_blocks_nor_applies() -> None:
    [screen, paper] = scan_css("@import 'a';@import 'b' print;", 0, blocking=True)
    assert (screen.blocking, screen.applied) == (True, True)
    assert (paper.blocking, paper.applied) == (False, False)


def test_references_have_their_order_and_their_lines() -> None:
    text = "@import 'a';\n@media all{\nb{background:url(b),\nurl(c)}}\nd{background:url(d)}"
    assert [(each.url, each.line) for each in scan_css(text, 0, line=10)] == [
        ("a", 10),
        ("b", 12),
        ("c", 13),
        ("d", 14),
    ]


def test_a_style_attribute_names_images() -> None:
    found = scan_style_attribute("color:red;background:url(a),url('b')", 7, line=3, base="x/")
    assert [(each.url, each.at_bytes, each.line, each.base) for each in found] == [("a", 7, 3, "x/"), ("b", 7, 3, "x/")]


@pytest.mark.parametrize(
    "text",
    [
        "(" * 50_000,
        "@media all{" * 5_000,
        "a{" * 50_000,
        "a{b:url(x" + "(" * 50_000,
        "@media " + "(" * 9_000 + ")" * 9_000 + "{}",
    ],
)
def test_deep_nesting_is_read(text: str) -> None:
    assert named("@import 'first' " + "(" * 9_000) == [("first", Kind.STYLESHEET)]
    assert named("a{b:url(first)}" + text)[0] == ("first", Kind.IMAGE)


@given(st.text("@import url(){};'\"\\/*,a-face:src\n", max_size=60))
def test_damaged_css_is_read(text: str) -> None:
    assert named("a{b:url(first)}" + text)[0] == ("first", Kind.IMAGE)


@pytest.mark.parametrize(
    ("data", "codec"),
    [(b"", "koi8-r"), (b'@charset "latin1";', "cp1252"), (b'@charset "utf-16";', "utf-8"), (b"\xef\xbb\xbfa", "utf-8")],
)
def test_a_stylesheet_without_an_encoding_has_that_of_its_document(data: bytes, codec: str) -> None:
    assert decode_css(data, "koi8-r").codec == codec
