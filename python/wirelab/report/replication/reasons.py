"""Why a claim has its verdict, in whole sentences: what is against it, which bound its interval leaves open, or what
else keeps it from a verdict.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from wirelab.claims.over_grid import differ
from wirelab.replicate.needed import BY_RULE, NO_END, ON_THE_BOUND, UNUSABLE
from wirelab.report.blocks import Cell
from wirelab.report.numbers import Estimate, plain
from wirelab.report.protocols import describe
from wirelab.report.replication.digits import short, short_interval
from wirelab.report.replication.words import begun, duration, levels, named, opposite, shown
from wirelab.report.statement import listed
from wirelab.schema.replication import Needed, ReplicatedClaim, ReplicatedPart, Replication
from wirelab.schema.verdicts import Deciding, OverGrid, Standing, VerdictQuality

ESTIMATES = (
    "the margin is ",
    "smallest tolerance ",
    "direction ",
    "mean, time-outs ",
    "standard deviations ",
    "the cause predicts ",
    "more than half ",
    "the published ",
)
"""How clauses begin that say something of the estimate, and not why a part is open."""
COUNTED_AT = "mean, time-outs counted at "
LEFT_OUT = "mean, without time-outs, which are "
MOST_WORDS = 25
"""Of a sentence."""
RATIOS = ("order", "ratio")
NAME = re.compile(r"(?<![\w.-])[a-z][a-z0-9]*(?:-[a-z0-9]+)*(?![\w.-])")
"""A word that may be the name of a protocol, such as `https1`."""
NOWHERE = re.compile(r"\bis\b(?=.* not at the last level)(.*) not(?= at the last level)")
"""`is above X not at the last level`."""
COUNTED = ", as the publication's own tables count, "
TOLERANCE = re.compile(r"; smallest tolerance that confirms the magnitude: [\d.]+")
NOT_BY_VALUES = {
    ON_THE_BOUND: ON_THE_BOUND,
    BY_RULE: BY_RULE,
    NO_END: "an interval without an end does not say how many trials would decide it",
    UNUSABLE: "more values do not decide it on a machine whose programs wait so long for a CPU",
    "of CPU waiting": "more values do not decide it on a machine whose programs wait so long for a CPU",
}
"""What stands in the place of a number of values, by the words of the record."""
BOUND, DESIGN, QUALITY, ABSENT, OTHER = range(5)
OPEN = {
    BOUND: ("leaves a bound open", "leave a bound open"),
    OTHER: ("is inconclusive", "are inconclusive"),
    DESIGN: ("cannot be decided here", "cannot be decided here"),
    QUALITY: ("rests on data of unusable quality", "rest on data of unusable quality"),
    ABSENT: ("has no interval", "have no interval"),
}
"""What keeps parts open, in the order of a reason, of one part and of several."""


def why(claim: ReplicatedClaim, record: Replication) -> tuple[Cell, list[str]]:
    """The reason in a sentence, and behind it what would decide the claim, why its quality is not good, and what its
    parts outside the verdict find. Without a verdict, what the points say. The tooltip has the reason as it was judged.
    """
    over = claim["over_grid"]
    if claim["verdict"] is None and over is not None and over["points"]:
        # What the file of claims notes follows the reason.
        _, _, note = claim["why"].partition(". ")
        sentences = [*_over_points(claim, over, record), *([note] if note else [])]
        title = f"{levels(claim['levels'])}: {claim['why']}"
    else:
        sentences, title = _reason(claim, record), claim["why"]
        _, _, note = title.partition(". ")
        sentences += [note] if note and not any(note in each for each in sentences) else []
    part = shown(claim, leading(claim))
    sentences += [*_small(claim, part), *_live(claim)]
    if not any("quality" in each for each in sentences):
        sentences += _quality(claim)
    if part is not None and not any(f"{part['id']} (" in each for each in sentences):
        sentences += _says(part)
    sentences += _outside(claim, part)
    said = (NAME.sub(lambda found: _protocol(found[0], record), each) for each in sentences)
    first, *more = (f"{short(begun(each))}." for each in said)
    return Cell(first, title=title), more


def _says(part: ReplicatedPart) -> list[str]:
    """What the part that is shown says. One outside the verdict has one of its own."""
    if part["decides"]:
        return [f"{part['id']} is {part['text']}"]
    return [f"{part['id']} decides nothing, and is {part['verdict']}", f"it is {part['text']}"]


def _from_which(part: ReplicatedPart) -> list[str]:
    """What a part asks and finds (`b is above a from 45 % on`, or `b is not above a at the last level`), then its
    ratios, and what its means do with time-outs.
    """
    place, *more = NOWHERE.sub(r"is not\1", part["why"]).split("; ")
    asks = [f"{part['id']} stands outside the verdict: {part['title']}"] if "title" in part else []
    counted = {COUNTED_AT: "time-outs are counted at ", LEFT_OUT: "its means leave out time-outs, which are "}
    for words, instead in counted.items():
        more = [each.replace(words, instead) for each in more]
    return [*asks, place if asks else f"{part['id']}, outside the verdict: {place}", *more]


def _outside(claim: ReplicatedClaim, part: ReplicatedPart | None) -> list[str]:
    """From which level on something holds, where the claim says nothing of it; and what a place counts."""
    found = [
        sentence
        for each in claim["parts"]
        if not each["decides"] and each["form"] == "from-level" and each["ours"] is not None
        for sentence in _from_which(each)
    ]
    along = part.get("along", []) if part is not None else []
    return [*found, *([f"place 0 is {along[0]}, and place {len(along) - 1} is {along[-1]}"] if along else [])]


def leading(claim: ReplicatedClaim) -> ReplicatedPart | None:
    """Of a claim in several parts that which its reason names: the first that is against it, or that is open with an
    estimate, else the first with one. If none was measured where the claim is shown, the first with a range. None
    without any.
    """
    parts = [part for part in _deciding(claim) if part["ours"] is not None and part["ours"]["point"] is not None]
    parts = parts or [part for part in _deciding(claim) if "range" in part]
    against = [part for part in parts if part["verdict"] == "contradicted"]
    openly = [part for part in parts if part["verdict"] == "inconclusive"]
    bounded = [part for part in openly if _kind(part) == BOUND]
    return next(iter([*against, *bounded, *openly, *parts]), None)


def needs(needed: Needed) -> str:
    """`about 4 times as many values would confirm it (n = 400, 2 min more)`."""
    if needed["n"] is None:
        return needed["why"]
    more = "" if needed["hours"] is None else f", {duration(needed['hours'] * 3600)} more"
    return f"about {needed['why']} (n = {needed['n']:,}{more})"


def _over_points(claim: ReplicatedClaim, over: OverGrid, record: Replication) -> list[str]:
    """`Confirmed at 3 and contradicted at 1 of 8 points`."""
    confirmed, contradicted, points = over["confirmed"], over["contradicted"], over["points"]
    kind = "confirmed" if confirmed else "contradicted" if contradicted else "decided"
    if points == 1:
        first = f"{'not ' * (kind == 'decided')}{kind} at the only point that counts"
    elif over["robust"]:
        first = f"{kind} at each of {points} points that count"
    elif kind == "decided":
        first = f"decided at none of {points} points that count"
    else:
        first = f"confirmed at {confirmed} and contradicted at {contradicted} of {points} points"
    needed, where = claim["needed"], "" if points == 1 else "at the point that is shown "
    if kind == "decided":
        reason, *more = _open(claim, record) if claim["shown"] == "inconclusive" else [""]
        return [first, *filter(None, [reason and f"{where}{_lower(reason)}", *more])]
    return [first] if needed is None or needed["n"] is None else [first, f"at the point that is shown {needs(needed)}"]


def _lower(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]


def _reason(claim: ReplicatedClaim, record: Replication) -> list[str]:
    standing: Standing | None = claim["verdict"] or claim["shown"]
    match standing:
        case "inconclusive":
            return _open(claim, record)
        case "depends-on-outlier-rule":
            return [_both(claim), *_open(claim, record)]
        case "contradicted":
            return _against(claim)
        case "confirmed" if len(parts := _deciding(claim)) > 1:
            return [f"{_all(len(parts))} are confirmed"]
        case _:
            return _sentences(claim["why"])


def _sentences(words: str) -> list[str]:
    """A reason as it was judged; a long one as a sentence for each of its clauses."""
    words = TOLERANCE.sub("", words).replace(COUNTED_AT, "time-outs are counted at ")
    return [words] if len(words.split()) <= MOST_WORDS else words.split("; ")


def _both(claim: ReplicatedClaim) -> str:
    """The verdicts without and with the outlier rule."""
    without, by_rule = claim.get("verdicts") or (_whole(claim), "another verdict")
    return f"{without} without the paper's outlier rule, {by_rule} with it"


def _whole(claim: ReplicatedClaim) -> str:
    """The verdict of its parts, which are judged without the rule."""
    kinds = {part["verdict"] for part in _deciding(claim)}
    return next((kind for kind in ("contradicted", "inconclusive") if kind in kinds), "confirmed")


def _against(claim: ReplicatedClaim) -> list[str]:
    parts = _deciding(claim)
    against = [part for part in parts if part["verdict"] == "contradicted"]
    if len(parts) < 2 or not against:
        return _sentences(claim["why"])
    kinds = Counter(part["verdict"] for part in parts)
    rest = [f"{kinds[kind]} {kind}" for kind in ("confirmed", "inconclusive") if kinds[kind]]
    counts = listed([f"{_are(len(against), len(parts))} contradicted", *rest])
    such = "against it" if len(against) == 1 else "against it, first"
    return [f"{such}: {named(against[0])}", *_sentences(against[0]["why"]), counts]


def _are(count: int, whole: int) -> str:
    return f"{_all(whole)} are" if count == whole else f"{count} of {whole} parts {'is' if count == 1 else 'are'}"


def _all(parts: int) -> str:
    return "both parts" if parts == 2 else f"all {parts} parts"


def _open(claim: ReplicatedClaim, record: Replication) -> list[str]:
    """What keeps the claim open, for each kind of part, and how many values would decide it."""
    parts, needed = _deciding(claim), claim["needed"]
    kinds: dict[int, list[ReplicatedPart]] = {}
    for part in parts:
        if part["verdict"] == "inconclusive":
            kinds.setdefault(_kind(part), []).append(part)
    sentences = [*_of_kinds({kind: kinds[kind] for kind in OPEN if kind in kinds}, len(parts), record)]
    if BOUND in kinds and DESIGN not in kinds:
        sentences += _objections(kinds[BOUND][0])
    if needed is not None and needed["n"] is not None:
        sentences.append(needs(needed))
    elif needed is not None:
        sentences += [words for each, words in NOT_BY_VALUES.items() if each in needed["why"]][:1]
    return sentences or _sentences(claim["why"])


def _of_kinds(kinds: dict[int, list[ReplicatedPart]], whole: int, record: Replication) -> Iterator[str]:
    """`2 of 6 parts leave a bound open, such as …`; of a claim in one part the words alone."""
    for number, (kind, parts) in enumerate(kinds.items()):
        words = _words(kind, parts[0], record)
        if whole == 1:
            yield from [f"the quality is unusable: {words[0]}"] if kind == QUALITY else words
            continue
        count = _all(whole) if len(parts) == whole else f"{len(parts)} of {whole} parts"
        head = f"{count if number == 0 else f'of the rest {len(parts)}'} {OPEN[kind][len(parts) > 1]}"
        if kind in {BOUND, OTHER}:
            yield f"{head}, {'such as' if len(parts) > 1 else 'namely'} {named(parts[0])}"
            yield from words
        else:
            yield f"{head}: {words[0]}" if kind != QUALITY else head
            yield from words[kind != QUALITY :]


def _kind(part: ReplicatedPart) -> int:
    link = part["link"]
    if link is not None and link["flag"] == "unusable":
        return QUALITY
    if all(judged["low"] is None and judged["high"] is None for judged in part["judged"]):
        return ABSENT
    if any(_contained(part, judged) for judged in part["judged"]):
        return BOUND
    return DESIGN if _objections(part) else OTHER


def _words(kind: int, part: ReplicatedPart, record: Replication) -> list[str]:
    match kind:
        case _ if kind == BOUND:
            judged = next(each for each in part["judged"] if _contained(part, each))
            bounds = listed([_bound(bound, part["paper"], record["factor"]) for bound in _contained(part, judged)])
            of = f" ({judged['of']})" if judged["of"] else ""
            return [f"the deciding interval{of} {_interval(judged)} contains {bounds}"]
        case _ if kind == DESIGN:
            return _objections(part)
        case _ if kind == QUALITY and part["link"] is not None:
            where, cause = _first_cause(part["link"])
            return [f"{where}, first: {cause}" if where else cause]
    return _sentences(part["why"])


def _bound(bound: float, paper: float | str | None, factor: float) -> str:
    """`15, which is 12 × 1.25`, if it is a printed magnitude with its tolerance."""
    ends = {} if not isinstance(paper, float | int) or factor == 1 else {"×": paper * factor, "/": paper / factor}
    of = next((sign for sign, end in ends.items() if math.isclose(bound, end)), None)
    return f"{bound:.3g}" if of is None else f"{bound:.3g}, which is {paper:g} {of} {factor:g}"


def _contained(part: ReplicatedPart, judged: Deciding) -> list[float]:
    """The bounds that an interval leaves open."""
    low, high = judged["low"], judged["high"]
    return [
        bound for bound in part.get("bounds", []) if (low is None or low <= bound) and (high is None or bound <= high)
    ]


def _interval(judged: Deciding) -> str:
    low = "(−∞" if judged["low"] is None else f"[{_end(judged['low'])}"
    return f"{low}, ∞)" if judged["high"] is None else f"{low}, {_end(judged['high'])}]"


def _end(value: float) -> str:
    """A count is whole."""
    return plain(value, 0 if value == int(value) else None)


def _objections(part: ReplicatedPart) -> list[str]:
    """What its reason says after the estimate."""
    clauses = part["why"].split("; ")[1:]
    return [each for each in clauses if not each.startswith(ESTIMATES) and COUNTED not in each]


def _small(claim: ReplicatedClaim, part: ReplicatedPart | None) -> list[str]:
    """At how many points a ratio is so near to 1 that its verdict is on a difference without weight."""
    if claim["form"] not in RATIOS:
        return _small_part(part)
    found = [each for each in claim["points"] if each["counts"] and each["value"] is not None]
    near = [each for each in found if (value := each["value"]) and value > 0 and not differ(value, 1.0)]
    if not near:
        return []
    of = "the difference" if part is None else f"the difference of {part['id']}"
    where = f"at each of {len(found)} points" if len(near) == len(found) else f"at {len(near)} of {len(found)} points"
    sure = sum(each["standing"] == "confirmed" for each in found)
    confirmed = sum(each["standing"] == "confirmed" for each in near)
    there = f", and {confirmed} of its {sure} confirmations are there" if confirmed else ""
    return [f"{of} is below 1 % {where}{there}"]


def _small_part(part: ReplicatedPart | None) -> list[str]:
    """The same of a part, whose points have the ends of their range alone."""
    found = None if part is None or part["form"] not in RATIOS else part.get("range")
    if part is None or found is None or any(differ(found[end]["value"], 1.0) for end in ("least", "largest")):
        return []
    return [f"the difference of {part['id']} is below 1 % at each point"]


def _live(claim: ReplicatedClaim) -> list[str]:
    """Parts whose verdict is the opposite in real time, where computing takes time too."""
    return [
        f"in real time {part['id']} is {live['verdict']}: {short_interval(Estimate.of(live['ours']))}"
        for part in _deciding(claim)
        if (live := part.get("live")) is not None and opposite(part, live)
    ]


def _quality(claim: ReplicatedClaim) -> list[str]:
    link = claim["link"]
    if link is None or link["flag"] == "good":
        return []
    where, cause = _first_cause(link)
    return [f"quality {link['flag']} {where}", f"first: {cause}"] if where else [f"quality {link['flag']}: {cause}"]


def _first_cause(link: VerdictQuality) -> tuple[str, str]:
    """`in 2 of 9 comparisons`, if it is of several, and `the difference of …, and 1 more reason`."""
    first, *more = link["why"].split("; ")
    head = re.match(r"(?:(\d+ of )its (\d+ \w+)|its \w+): (.*)", first)
    where = "" if head is None or head[1] is None or head[2].startswith("1 ") else f"in {head[1]}{head[2]}"
    others = f", and {len(more)} more reason{'s' * (len(more) != 1)}" if more else ""
    return where, (first if head is None else head[3]) + others


def _protocol(name: str, record: Replication) -> str:
    """A protocol as the paper's claims name it; any other word stays."""
    return name if describe(name) is None else record["labels"].get(name, name)


def _deciding(claim: ReplicatedClaim) -> Sequence[ReplicatedPart]:
    return [part for part in claim["parts"] if part["decides"]]
