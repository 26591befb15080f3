"""Damage to files: wrong bytes, wrong values of JSON and TOML, and other things in a file's place."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

WRONG: tuple[Any, ...] = ({"a": 1}, {}, [1], [], "word", "", -7, 0, 0.5, 1e300, 2**63, 2**64, True, None)
WRONG_TOML = (
    "1", '""', "[]", "{}", "true", "nan", "inf", "-1", "[[]]", "{ a = 1 }", '["a", 1]', "1979-05-27", '"1e99 s"',
    '"word"', "9" * 400, "1e308", '["1 ms", "2 ms"]', '"\\u0000"', '"../.."', '"/dev/zero"',
)  # fmt: skip
Place = tuple[str | int, ...]
Change = Callable[[bytes, random.Random], bytes]


def mutated(content: bytes, suffix: str, chance: random.Random) -> bytes:
    """Damaged content of a file with such a name."""
    return chance.choice([*BYTES.values(), *DOCUMENTS.get(suffix, ()), *DOCUMENTS.get(suffix, ())])(content, chance)


def damage(path: Path, chance: random.Random) -> str:
    """Damage a file, or put something else in its place; how."""
    if chance.random() < 0.25:
        how, place = chance.choice(sorted(PLACES.items()))
        place(path, chance)
        return how
    content = mutated(path.read_bytes(), path.suffix, chance)
    path.write_bytes(content)
    return f"{len(content)} bytes, {content[:20]!r}"


def forget_digests(campaign: Path) -> None:
    """Make the journal one of an earlier version, so that what is wrong in a record reaches its reader."""
    path = campaign / "journal.jsonl"
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    kept = [{key: value for key, value in line.items() if key not in {"records", "crc32"}} for line in lines]
    path.write_text("".join(json.dumps(line) + "\n" for line in kept), encoding="utf-8")


def _cut(content: bytes, chance: random.Random) -> bytes:
    return content[: chance.randrange(len(content) + 1)]


def _flipped(content: bytes, chance: random.Random) -> bytes:
    flipped = bytearray(content)
    for _ in range(chance.choice((1, 1, 8)) if content else 0):
        flipped[chance.randrange(len(flipped))] ^= 1 << chance.randrange(8)
    return bytes(flipped)


def _not_utf8(content: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(content) + 1)
    return content[:at] + b"\xff\xfe" + content[at:]


def _other_text(content: bytes, chance: random.Random) -> bytes:
    others = (b"", b"{}", b"[]", b"[1]", b"null", b"\n", b"\0" * 5000, b"[" * 100_000, b'{"schema_version": 1}')
    return chance.choice(others)


def _moved(content: bytes, chance: random.Random) -> bytes:
    """A part is left out, or stands twice."""
    first, last = sorted(chance.randrange(len(content) + 1) for _ in range(2))
    return content[:first] + content[last:] if chance.random() < 0.5 else content[:last] + content[first:]


def places(value: Any, at: Place = ()) -> Iterator[Place]:
    """Where each value of a document stands."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inner:
        yield (*at, key)
        yield from places(each, (*at, key))


def inside(document: Any, place: Place) -> Any:
    """The object or list that a value stands in."""
    for key in place[:-1]:
        document = document[key]
    return document


def _json(content: bytes, chance: random.Random) -> bytes:
    """Another value, or none, somewhere in a document, or in one line of a file of lines."""
    try:
        parts, end = [json.loads(content)], b""
    except ValueError:
        parts, end = [json.loads(line) for line in content.splitlines()], b"\n"
    document = chance.choice(parts)
    found = list(places(document))
    for place in chance.sample(found, 1) if found else []:
        holder, key = inside(document, place), place[-1]
        if chance.random() < 0.3:
            del holder[key]
        elif type(holder[key]) in {int, float} and chance.random() < 0.5:
            holder[key] = chance.choice((0, 1, 10**6, 2**31, 2**53, 2**62))
        else:
            holder[key] = chance.choice(WRONG)
    return b"".join(json.dumps(part).encode() + end for part in parts)


def _toml(content: bytes, chance: random.Random) -> bytes:
    """Another value, none, or one twice; or a line that is somewhere else."""
    lines = content.decode().splitlines()
    for _ in range(chance.choice((1, 1, 2))):
        at = chance.randrange(len(lines))
        key, sign, value = lines[at].partition(" = ")
        match chance.randrange(5):
            case 0 if sign:
                lines[at] = f"{key}x = {value}"
            case 1:
                del lines[at]
            case 2:
                lines.insert(chance.randrange(len(lines)), lines[at])
            case _ if sign:
                lines[at] = f"{key} = {chance.choice(WRONG_TOML)}"
        lines = lines or [""]
    return "\n".join(lines).encode()


def _folder(path: Path, _: random.Random) -> None:
    path.unlink()
    path.mkdir()


def _link(path: Path, chance: random.Random) -> None:
    path.unlink()
    path.symlink_to(chance.choice(("/nonexistent", path.name, "..")))


def _missing(path: Path, _: random.Random) -> None:
    path.unlink()


def _trial_is_a_file(path: Path, chance: random.Random) -> None:
    if path.parent.parent.name != "trials":
        _link(path, chance)
        return
    shutil.rmtree(path.parent)
    path.parent.write_text("x")


def _trial_is_a_link(path: Path, chance: random.Random) -> None:
    if path.parent.parent.name != "trials":
        _missing(path, chance)
        return
    aside = path.parents[2] / "aside"
    path.parent.rename(aside)
    path.parent.symlink_to(aside)


BYTES: dict[str, Change] = {
    "cut": _cut, "flipped": _flipped, "not UTF-8": _not_utf8, "other text": _other_text, "moved": _moved,
}  # fmt: skip
DOCUMENTS: dict[str, list[Change]] = {".json": [_json] * 4, ".jsonl": [_json] * 4, ".toml": [_toml] * 4}
PLACES: dict[str, Callable[[Path, random.Random], None]] = {
    "folder": _folder, "link": _link, "missing": _missing, "trial is a file": _trial_is_a_file,
    "trial is a link": _trial_is_a_link,
}  # fmt: skip
