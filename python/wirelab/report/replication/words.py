"""Claims of a replication in cells."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from wirelab.claims.over_grid import differ
from wirelab.report.blocks import Cell, dash
from wirelab.report.figures.replicated import Tone
from wirelab.report.model import level_words
from wirelab.report.numbers import Estimate, plain
from wirelab.report.replication.digits import short_interval
from wirelab.report.sections.common import LINK_TONES
from wirelab.schema.replication import LivePart, ReplicatedClaim, ReplicatedPart, Replication
from wirelab.schema.verdicts import Standing, VerdictQuality

NOT_MEASURED = "not-measured"
"""The form of a claim that nothing here could measure, which is no verdict of its own."""
WORDS = {"depends-on-outlier-rule": "depends on the outlier rule", NOT_MEASURED: "not measured"}
PLACES = ("bend", "change-point", "from-level")
"""Forms whose estimate is a place along the levels of a factor."""
TONES: dict[Standing, Tone] = {"confirmed": "good", "contradicted": "bad"}
NO_RATIO = "one of the additions that it compares may be 0, so that their ratio says nothing"
NOT_CONCLUSIVE = "quick run, not conclusive"
RAW = " The paper removed outliers before it printed; ours are without its rule."


def without_rule(records: Sequence[Replication]) -> str:
    """What a caption of our numbers adds for papers with an outlier rule."""
    return RAW if any(record["outlier_rule"] for record in records) else ""


def kind(claim: ReplicatedClaim) -> str | None:
    """Its verdict, or that it was not measured; None if it has none."""
    return NOT_MEASURED if claim["verdict"] is not None and claim["form"] == NOT_MEASURED else claim["verdict"]


def standing(value: str | None) -> str:
    """A verdict in words."""
    return "not run" if value is None else WORDS.get(value, value)


def tone(value: Standing | None) -> Tone:
    """The tone of a verdict."""
    return "none" if value is None else TONES.get(value, "unsure")


def is_quick(record: Replication) -> bool:
    """Whether a quick run is in it: its verdicts are shown with less weight."""
    return any(each["quick"] for each in record["campaigns"])


def title_of(path: str, record: Replication) -> str:
    """A choice in words."""
    return next((each["title"] for each in record["grid"]["choices"] if each["path"] == path), path)


def interpretation(name: str | None, record: Replication) -> str:
    """An interpretation in words."""
    found = (each["title"] for each in record["grid"]["interpretations"] if each["name"] == name)
    return next(found, "each choice at its first level")


def last_names(path: str, paths: Collection[str]) -> str:
    """`rtt` of `link.rtt`; as many names as it needs to differ from the others."""
    names = path.split(".")
    tails = [".".join(names[-count:]) for count in range(1, len(names) + 1)]
    differing = (tail for tail in tails if sum(f".{each}".endswith(f".{tail}") for each in paths) == 1)
    return next(differing, path)


def levels(at: Mapping[str, str]) -> str:
    """A point of the grid in words."""
    return ", ".join(level_words(path, level) for path, level in at.items()) or "as run"


def verdict(claim: ReplicatedClaim, record: Replication) -> Cell:
    """The verdict in the primary interpretation; a dash if there is none."""
    if claim["verdict"] is not None:
        at = f"{NOT_CONCLUSIVE}; " * is_quick(record) + levels(claim["levels"])
        return Cell(standing(kind(claim)), tone=tone(claim["verdict"]), title=at, weak=is_quick(record))
    if not leads(record):
        return dash("the paper has no primary interpretation: its range and counts lead")
    return dash("its scenarios were not run in the primary interpretation")


def leads(record: Replication) -> bool:
    """Whether the paper has a primary interpretation. One without choices has one interpretation, which leads."""
    return record["primary"] is not None or not record["grid"]["choices"]


def paper(claim: ReplicatedClaim) -> Cell:
    """What the paper prints."""
    value = claim["paper"]
    if value is None or value == "":
        return dash("no printed number is compared with it")
    return Cell(value if isinstance(value, str) else _magnitude(claim, value))


def ours(claim: ReplicatedClaim, leading: ReplicatedPart | None) -> Cell:
    """Our estimate with its interval; of a claim in parts that of the part with the printed magnitude, or of the part
    that its reason names.
    """
    part = shown(claim, leading)
    found = Estimate.of(claim["ours"] if part is None else part["ours"])
    if found is None or found.point is None:
        return dash("no part has an estimate" if len(claim["parts"]) > 1 else "it has no estimate")
    if is_no_ratio((part or claim)["form"], found):
        return dash(NO_RATIO)
    return _of_part(short_interval(found), f"{levels(claim['levels'])}; {found.method}", claim, part)


def effect(claim: ReplicatedClaim, leading: ReplicatedPart | None) -> Cell:
    """The range of our estimate over the points that count, of the same part."""
    part, found = shown(claim, leading), claim["over_grid"] and claim["over_grid"]["effect"]
    if not found and part is not None:
        found = part.get("range")
    if not found:
        return dash("fewer than two points have an estimate")
    title = f"least with {levels(found['least']['levels'])}; largest with {levels(found['largest']['levels'])}"
    least, largest = (_magnitude(claim, found[end]["value"]) for end in ("least", "largest"))
    return _of_part(least if least == largest else f"{least} to {largest}", title, claim, part)


def shown(claim: ReplicatedClaim, leading: ReplicatedPart | None) -> ReplicatedPart | None:
    """The part whose estimate a claim in several parts shows; None of a claim in one part, not counting later ones."""
    if sum("after_the_fact" not in part for part in claim["parts"]) < 2:
        return None
    if claim["ours"] is None or claim["ours"]["point"] is None:
        return leading
    return next((part for part in claim["parts"] if part["ours"] == claim["ours"]), None)


def is_no_ratio(form: str, found: Estimate) -> bool:
    """Whether a ratio of additions has an interval on both sides of 0: then it may be divided by 0."""
    return form == "causal-contrast" and found.low is not None and found.high is not None and found.low < 0 < found.high


def of_places(claim: ReplicatedClaim, leading: ReplicatedPart | None) -> bool:
    """Whether the estimate that is shown is a place along the levels of a factor."""
    return (shown(claim, leading) or claim)["form"] in PLACES


def _of_part(text: str, title: str, claim: ReplicatedClaim, part: ReplicatedPart | None) -> Cell:
    """A number of a claim, or of a part of it, which then has its name: `E3.2: 0.914 [0.914, 0.915]`."""
    text = f"{'place ' * of_places(claim, part)}{text}"
    return Cell(text, title=title) if part is None else Cell(f"{part['id']}: {text}", title=f"{part['text']}; {title}")


def named(part: ReplicatedPart) -> str:
    """By its name, which the columns have too: `E1.3 (mean response time: HTTP/1.1 below HTTP/2)`."""
    return f"{part['id']} ({part['text']})"


def begun(sentence: str) -> str:
    """With a capital; a name with digits, such as `h2window2017-streams`, stays as it is written."""
    first, _, _ = sentence.partition(" ")
    return sentence if re.search(r"\d", first) else sentence[:1].upper() + sentence[1:]


def opposite(part: ReplicatedPart, live: LivePart) -> bool:
    """Whether one of the clocks confirms what the other contradicts."""
    return {part["verdict"], live["verdict"]} == {"confirmed", "contradicted"}


def _magnitude(claim: ReplicatedClaim, value: float) -> str:
    """A count of comparisons is whole."""
    return f"{value:g}" if claim["form"] == "count" else plain(value)


def flipped(claim: ReplicatedClaim) -> bool:
    """Whether some points confirm it and others contradict it, with estimates that differ by 1 % or more."""
    over = claim["over_grid"]
    if over is None or not over["confirmed"] or not over["contradicted"]:
        return False
    values = {
        standing: [each["value"] for each in claim["points"] if each["counts"] and each["standing"] == standing]
        for standing in ("confirmed", "contradicted")
    }
    return any(differ(one, other) for one in values["confirmed"] for other in values["contradicted"])


def counted(claim: ReplicatedClaim) -> Cell:
    """At how many points it is confirmed and contradicted, of those that count."""
    over = claim["over_grid"]
    if kind(claim) == NOT_MEASURED:
        return dash("nothing here measures it")
    if over is None or not over["points"]:
        return dash("no point counts")
    whole = "" if over["size"] is None or over["size"] == over["points"] else f"; grid: {over['size']:,}"
    text = f"{over['confirmed']} / {over['contradicted']} of {over['points']}{whole}"
    size = "" if over["size"] is None else f"; the whole grid has {over['size']:,}"
    fitted = f"; fitted at {over['fitted']}, which do not count" if over["fitted"] else ""
    title = f"confirmed / contradicted of the points that count{size}{fitted}"
    return Cell(text, title=title, tone="clear" if over["robust"] else None)


def quality(link: VerdictQuality | None) -> Cell:
    """The quality of what a verdict rests on."""
    return dash("not graded") if link is None else Cell(link["flag"], title=link["why"], tone=LINK_TONES[link["flag"]])


def size(claim: ReplicatedClaim, leading: ReplicatedPart | None) -> Cell:
    """How many values the estimate rests on that stands next to it; without one, those of the verdict. A count's
    estimate has each scenario once for each comparison, so that its verdict's are shown.
    """
    part = shown(claim, leading)
    found = claim["ours"] if part is None else part["ours"]
    n = claim["n"] if found is None or claim["form"] == "count" else found["n"]
    each = sorted(point["n"] for point in claim["points"] if point["counts"] and point["n"])
    if not each or each[0] == each[-1] or not each[0] <= n <= each[-1]:
        return Cell(f"{n:,}")
    return Cell(f"{n:,} ({each[0]:,} to {each[-1]:,})", title="in brackets: values that a point's verdict rests on")


def duration(seconds: float) -> str:
    """In the largest unit that leaves 2 or more: `97 min`."""
    unit, size = next(((unit, size) for unit, size in (("h", 3600), ("min", 60)) if seconds >= 2 * size), ("s", 1))
    return f"{max(seconds / size, 1):.0f} {unit}"
