"""What a document names, and where."""

import codecs

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from wirelab.site import Kind
from wirelab.site.decoding import decode_html
from wirelab.site.html import scan_html
from wirelab.site.reference import Reference, applies


def scan(text: str | bytes) -> list[Reference]:
    return scan_html(decode_html(text.encode() if isinstance(text, str) else text))


def urls(text: str, *, embedded: bool = False) -> list[str]:
    return [each.url for each in scan(text) if each.embedded is embedded]


@pytest.mark.parametrize(
    ("tag", "kind"),
    [
        ("<link rel=stylesheet href=x>", Kind.STYLESHEET),
        ("<LINK REL='next StyleSheet' HREF='x'>", Kind.STYLESHEET),
        ("<link rel='alternate stylesheet' href=x>", Kind.STYLESHEET),
        ("<link rel=preload as=font href=x>", Kind.FONT),
        ("<link rel=preload as=fetch href=x>", Kind.OTHER),
        ("<link rel=preload as=image href=y imagesrcset='x 1x, z 2x'>", Kind.IMAGE),
        ("<link rel=modulepreload href=x>", Kind.SCRIPT),
        ("<script src=x></script>", Kind.SCRIPT),
        ("<script type=module src=x></script>", Kind.SCRIPT),
        ("<script type='text/javascript' src=x></script>", Kind.SCRIPT),
        ("<img src=x>", Kind.IMAGE),
        ("<img src='x' />", Kind.IMAGE),
        ("<img src=x src=y>", Kind.IMAGE),
        ("<img src=x srcset='y 2x'>", Kind.IMAGE),
        ("<img src=y srcset='z 2x, x'>", Kind.IMAGE),
        ("<img src=y srcset='x 480w, z 800w'>", Kind.IMAGE),
        ("<img srcset='y 3x, x 2x'>", Kind.IMAGE),
        ("<img srcset='y 0.5x, x 2x'>", Kind.IMAGE),
        ("<img srcset='y nx, x'>", Kind.IMAGE),
        ("<img srcset='x'>", Kind.IMAGE),
        ("<input type=image src=x>", Kind.IMAGE),
        ("<video poster=x></video>", Kind.IMAGE),
        ("<body background=x>", Kind.IMAGE),
        ("<svg><image href=x /></svg>", Kind.IMAGE),
        ("<svg><use xlink:href=x /></svg>", Kind.IMAGE),
        ("<p style='background:url(x)'>", Kind.IMAGE),
        ("<style>p{background:url(x)}</style>", Kind.IMAGE),
        ("<style>@import 'x'</style>", Kind.STYLESHEET),
        ("<style>@font-face{src:url(x)}</style>", Kind.FONT),
        ("<iframe src=x><img src=y></iframe>", Kind.DOCUMENT),
    ],
)
def test_a_tag_names_what_a_browser_fetches_for_it(tag: str, kind: Kind) -> None:
    [found] = scan(f"<p>\n{tag}\n</p>")
    assert (found.url, found.kind, found.line) == ("x", kind, 2)


@pytest.mark.parametrize(
    "tag",
    [
        "<link rel=icon href=x>", "<link rel=canonical href=x>", "<link rel=preconnect href=x>", "<link href=x>",
        "<link rel=prefetch href=x>", "<link rel=manifest href=x>", "<link rel=preload href=x>",
        "<link rel=preload as=image type=image/heic href=x>", "<link rel=preload as=style media=print href=x>",
        "<link rel=stylesheet type=text/less href=x>", "<link rel=stylesheet disabled href=x>",
        "<link rel=stylesheet href=''>", "<script>'<img src=x>'</script>",
        "<script type=application/json src=x></script>",
        "<script nomodule src=x></script>", "<a href=x>", "<form action=x>", "<img alt=x>", "<img src='  '>",
        "<!-- <img src=x> -->", "<noscript><img src=x></noscript>", "<textarea><img src=x></textarea>",
        "<template><template></template><img src=x></template>", "<style media=print>p{background:url(x)}</style>",
        "<input src=x>", "<source srcset=x>",
    ],
)  # fmt: skip
def test_references_that_a_browser_does_not_fetch_are_left_out(tag: str) -> None:
    assert urls(f"{tag}<img src=after>") == ["after"]


@pytest.mark.parametrize("tag", ["video src", "audio src", "track src", "embed src", "object data", "source src"])
def test_resources_of_a_media_player_are_marked(tag: str) -> None:
    assert urls(f"<{tag}=x>", embedded=True) == ["x"]


@pytest.mark.parametrize(
    ("sources", "url"),
    [
        ("<source srcset='a 1x, b 2x'><source srcset=c>", "a"),
        ("<source type=image/heic srcset=a><source type=image/avif srcset=b>", "b"),
        ("<source media='(prefers-color-scheme: dark)' srcset=a>", "own"),
        ("<source media='(min-width: 800px)' srcset=a>", "a"),
        ("", "own"),
    ],
)
def test_a_picture_is_its_first_source_that_fits_or_else_its_img(sources: str, url: str) -> None:
    text = f"<picture>{sources}<img src=own></picture><img src=next>"
    assert urls(text) == [url, "next"]
    assert text[: scan(text)[0].at_bytes].endswith("<img src=own>")


def test_only_the_first_base_counts_and_only_for_what_follows() -> None:
    found = scan("<img src=1><base target=x><base href=a/><img src=2><base href=b/><img src=3>")
    assert [each.base for each in found] == ["", "a/", "a/"]


@pytest.mark.parametrize(
    ("tag", "head", "body"),
    [
        ("<link rel=stylesheet href=x>", True, False),
        ("<link rel=stylesheet media=print href=x>", False, False),
        ("<link rel='alternate stylesheet' href=x>", False, False),
        ("<link rel=preload as=style href=x>", False, False),
        ("<style>@import 'x'</style>", True, False),
        ("<style>@import 'x' print</style>", False, False),
        ("<script src=x></script>", True, False),
        ("<script src=x async></script>", False, False),
        ("<script src=x defer></script>", False, False),
        ("<script src=x type=module></script>", False, False),
        ("<script src=x async blocking=render></script>", True, False),
    ],
)
@pytest.mark.parametrize("begin", ["", "\ufeff<!DOCTYPE html>\n<html><head><title>a</title>"])
@pytest.mark.parametrize("between", ["<body>", "</head>\n<p>", "words"])
def test_rendering_waits_for_what_the_head_names(tag: str, head: bool, body: bool, begin: str, between: str) -> None:
    assert [each.blocking for each in scan(begin + tag)] == [head]
    assert [each.blocking for each in scan(begin + between + tag)] == [body]


def test_a_style_element_is_known_when_it_is_closed() -> None:
    text = "<style>\np{\nbackground:url(x)}</style ><img src=y>"
    first, second = scan(text)
    assert text[: first.at_bytes].endswith("</style >")
    assert (first.line, second.line) == (3, 3)


TEXTS = st.text(st.characters(exclude_characters="<>&", exclude_categories=["Cs"]), max_size=20)
CODECS = st.sampled_from(["utf-8", "utf-16-le", "utf-16-be", "cp1252", "shift_jis", "gbk", "big5", "euc_kr", "koi8-r"])
BOMS = {"utf-8": codecs.BOM_UTF8, "utf-16-le": codecs.BOM_UTF16_LE, "utf-16-be": codecs.BOM_UTF16_BE}


@given(texts=st.lists(TEXTS, min_size=1, max_size=6), codec=CODECS, newline=st.sampled_from(["\n", "\r\n", "\r", ""]))
def test_a_position_is_the_byte_behind_the_tag_in_any_encoding(texts: list[str], codec: str, newline: str) -> None:
    data = BOMS.get(codec, f"<meta charset={codec}>".encode())
    ends = []
    for number, text in enumerate(texts):
        data += (text + newline).encode(codec, "replace")
        data += f"<img{newline} alt='{text.replace(chr(39), '')}' src={number}.png>".encode(codec, "replace")
        ends.append(len(data))
    found = scan(data)
    assert [(each.url, each.at_bytes) for each in found] == [(f"{n}.png", end) for n, end in enumerate(ends)]


@given(noise=st.lists(st.binary(max_size=6), min_size=1, max_size=5), codec=CODECS)
def test_a_position_is_right_after_invalid_characters(noise: list[bytes], codec: str) -> None:
    assume(not codec.startswith("utf-16"))
    data, ends = BOMS.get(codec, f"<meta charset={codec}>".encode()), []
    for number, piece in enumerate(noise):
        # Two line ends bring every decoder back to where a character begins.
        data += piece.translate(None, b"<>&") + b"\n\n" + f"<img src={number}.png>".encode()
        ends.append(len(data))
    assert [each.at_bytes for each in scan(data) if each.url.endswith(".png")] == ends


@given(st.text("<>!-/=\"' \n&;abimgscrptyle[]?", max_size=60))
@example("<![")
def test_damaged_html_is_read(text: str) -> None:
    for each in scan(text + "<img src=x>"):
        assert 0 < each.at_bytes <= len(text) + 11


@pytest.mark.parametrize("text", ["<![if IE]>", "<![CDATA[ <img src=b>]]>", "<![x<img src=b>", "<![x[<img src=b>"])
def test_a_marked_section_is_a_comment_up_to_the_next_angle_bracket(text: str) -> None:
    assert urls(text + "<img src=a>") == ["a"]


@pytest.mark.parametrize(
    ("data", "codec"),
    [
        (b"plain", "utf-8"),
        ("é".encode(), "utf-8"),
        (b"\xe9", "cp1252"),
        (b"<meta charset=latin1>", "cp1252"),
        (b"<META http-equiv=Content-Type content='text/html; charset=Shift_JIS'>", "shift_jis"),
        (b"<meta charset='utf-16'>", "utf-8"),
        (b"<meta charset=rot13>", "utf-8"),
        (b"<meta charset=nonsense>", "utf-8"),
        (b" " * 1024 + b"<meta charset=koi8-r>", "utf-8"),
        (codecs.BOM_UTF16_BE + b"\0x", "utf-16-be"),
    ],
)
def test_an_encoding_is_found_as_a_browser_finds_it(data: bytes, codec: str) -> None:
    assert decode_html(data).codec == codec


@pytest.mark.parametrize(
    "media", ["", "all", "screen", "not print", "print, screen", "(max-width: 600px)", "only screen"]
)
def test_media_queries_for_a_screen_apply(media: str) -> None:
    assert applies(media)


@pytest.mark.parametrize(
    "media", ["print", "only print", "speech", "screen and (prefers-color-scheme:dark)", "print,speech"]
)
def test_other_media_queries_do_not_apply(media: str) -> None:
    assert not applies(media)
