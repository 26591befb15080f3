"""Why a claim has its verdict, in whole sentences: what is against it, which bound its interval leaves open, or what
else keeps it from a verdict.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from wirelab.replicate.needed import BY_RULE, ON_THE_BOUND
from wirelab.report.blocks import Cell
from wirelab.report.numbers import plain
from wirelab.report.replication.digits import short
from wirelab.report.replication.words import duration, levels
from wirelab.report.statement import listed
from wirelab.schema.replication import Needed, ReplicatedClaim, ReplicatedPart
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
COUNTED = ", as the publication's own tables count, "
TOLERANCE = re.compile(r"; smallest tolerance that confirms the magnitude: [\d.]+")
BOUND, DESIGN, QUALITY, ABSENT, OTHER = range(5)
OPEN = {
    BOUND: ("leaves a bound open", "leave a bound open"),
    OTHER: ("is inconclusive", "are inconclusive"),
    DESIGN: ("cannot be decided here", "cannot be decided here"),
    QUALITY: ("rests on data of unusable quality", "rest on data of unusable quality"),
    ABSENT: ("has no interval", "have no interval"),
}
"""What keeps parts open, in the order of a reason, of one part and of several."""


def why(claim: ReplicatedClaim) -> Cell:
    """The reason, what would decide the claim, and why its quality is not good. Without a verdict, what the points
    say. The tooltip has the reason as it was judged.
    """
    over = claim["over_grid"]
    if claim["verdict"] is None and over is not None and over["points"]:
        # What the file of claims notes follows the reason.
        _, _, note = claim["why"].partition(". ")
        sentences = [*_over_points(claim, over), *([note] if note else [])]
        title = f"{levels(claim['levels'])}: {claim['why']}"
    else:
        sentences, title = [_reason(claim)], claim["why"]
    if not any("quality" in each for each in sentences):
        sentences += _quality(claim)
    return Cell(" ".join(f"{short(each[:1].upper() + each[1:])}." for each in sentences), title=title)


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


def named(part: ReplicatedPart) -> str:
    """By its name, which the columns have too: `E1.3, mean response time: HTTP/1.1 below HTTP/2`."""
    return f"{part['id']}, {part['text']}"


def needs(needed: Needed) -> str:
    """`4 times as many values would confirm it (n = 400, 2 min more)`."""
    if needed["n"] is None:
        return needed["why"]
    more = "" if needed["hours"] is None else f", {duration(needed['hours'] * 3600)} more"
    return f"{needed['why']} (n = {needed['n']:,}{more})"


def _over_points(claim: ReplicatedClaim, over: OverGrid) -> list[str]:
    """`Confirmed at 3 and contradicted at 1 of 8 points`."""
    confirmed, contradicted, points = over["confirmed"], over["contradicted"], over["points"]
    kind = "confirmed" if confirmed else "contradicted" if contradicted else "decided"
    if points == 1:
        first = f"{'not ' * (kind == 'decided')}{kind} at the only point that was run"
    elif over["robust"]:
        first = f"{kind} at each of {points} points that were run"
    elif kind == "decided":
        first = f"decided at none of {points} points that were run"
    else:
        first = f"confirmed at {confirmed} and contradicted at {contradicted} of {points} points"
    needed = claim["needed"]
    if kind == "decided":
        return [first, *_at_first(claim, points)]
    return [first if needed is None or needed["n"] is None else f"{first}; at the first of them {needs(needed)}"]


def _at_first(claim: ReplicatedClaim, points: int) -> list[str]:
    where = "" if points == 1 else "at the first of them "
    return [f"{where}{_open(claim)}"] if claim["shown"] == "inconclusive" else []


def _reason(claim: ReplicatedClaim) -> str:
    standing: Standing | None = claim["verdict"] or claim["shown"]
    match standing:
        case "inconclusive":
            return _open(claim)
        case "depends-on-outlier-rule":
            return f"{_both(claim)}; {_open(claim)}"
        case "contradicted":
            return _against(claim)
        case "confirmed" if len(parts := _deciding(claim)) > 1:
            return f"{_all(len(parts))} are confirmed"
        case _:
            return TOLERANCE.sub("", claim["why"])


def _both(claim: ReplicatedClaim) -> str:
    """The verdicts without and with the outlier rule."""
    without, by_rule = claim.get("verdicts") or (_whole(claim), "another verdict")
    return f"{without} without the paper's outlier rule, {by_rule} with it"


def _whole(claim: ReplicatedClaim) -> str:
    """The verdict of its parts, which are judged without the rule."""
    kinds = {part["verdict"] for part in _deciding(claim)}
    return next((kind for kind in ("contradicted", "inconclusive") if kind in kinds), "confirmed")


def _against(claim: ReplicatedClaim) -> str:
    parts = _deciding(claim)
    against = [part for part in parts if part["verdict"] == "contradicted"]
    if len(parts) < 2 or not against:
        return TOLERANCE.sub("", claim["why"])
    kinds = Counter(part["verdict"] for part in parts)
    rest = [f"{kinds[kind]} {kind}" for kind in ("confirmed", "inconclusive") if kinds[kind]]
    counts = listed([f"{_are(len(against), len(parts))} contradicted", *rest])
    such = "against it" if len(against) == 1 else "against it, first"
    return f"{counts}; {such}: {named(against[0])}: {TOLERANCE.sub('', against[0]['why'])}"


def _are(count: int, whole: int) -> str:
    return f"{_all(whole)} are" if count == whole else f"{count} of {whole} parts {'is' if count == 1 else 'are'}"


def _all(parts: int) -> str:
    return "both parts" if parts == 2 else f"all {parts} parts"


def _open(claim: ReplicatedClaim) -> str:
    """What keeps the claim open: a clause for each kind of part, and how many values would decide it."""
    parts, needed = _deciding(claim), claim["needed"]
    kinds: dict[int, list[ReplicatedPart]] = {}
    for part in parts:
        if part["verdict"] == "inconclusive":
            kinds.setdefault(_kind(part), []).append(part)
    clauses = [*_clauses({kind: kinds[kind] for kind in OPEN if kind in kinds}, len(parts))]
    if BOUND in kinds and DESIGN not in kinds:
        clauses += _objections(kinds[BOUND][0])
    if needed is not None and needed["n"] is not None:
        clauses.append(needs(needed))
    elif needed is not None:
        clauses += [each for each in (ON_THE_BOUND, BY_RULE) if each in needed["why"]]
    return "; ".join(clauses) or claim["why"]


def _clauses(kinds: dict[int, list[ReplicatedPart]], whole: int) -> Iterator[str]:
    """`2 of 6 parts leave a bound open, such as …`; of a claim in one part the words alone."""
    for number, (kind, parts) in enumerate(kinds.items()):
        words = _words(kind, parts[0])
        if whole == 1:
            yield f"the quality is unusable: {words}" if kind == QUALITY else words
            continue
        count = _all(whole) if len(parts) == whole else f"{len(parts)} of {whole} parts"
        head = f"{count if number == 0 else len(parts)} {OPEN[kind][len(parts) > 1]}"
        such = f"{'such as' if len(parts) > 1 else 'namely'} {named(parts[0])}: "
        yield f"{head}, {such}{words}" if kind in {BOUND, OTHER} else f"{head}: {words}"


def _kind(part: ReplicatedPart) -> int:
    link = part["link"]
    if link is not None and link["flag"] == "unusable":
        return QUALITY
    if all(judged["low"] is None and judged["high"] is None for judged in part["judged"]):
        return ABSENT
    if any(_contained(part, judged) for judged in part["judged"]):
        return BOUND
    return DESIGN if _objections(part) else OTHER


def _words(kind: int, part: ReplicatedPart) -> str:
    match kind:
        case _ if kind == BOUND:
            judged = next(each for each in part["judged"] if _contained(part, each))
            bounds = listed([f"{bound:.3g}" for bound in _contained(part, judged)])
            of = f" ({judged['of']})" if judged["of"] else ""
            return f"the deciding interval{of} {_interval(judged)} contains {bounds}"
        case _ if kind == DESIGN:
            return "; ".join(_objections(part))
        case _ if kind == QUALITY and part["link"] is not None:
            return _first_cause(part["link"])
    return TOLERANCE.sub("", part["why"])


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


def _quality(claim: ReplicatedClaim) -> list[str]:
    link = claim["link"]
    if link is None or link["flag"] == "good":
        return []
    return [f"quality {link['flag']}: {_first_cause(link)}"]


def _first_cause(link: VerdictQuality) -> str:
    """`in 2 of 9 comparisons, the difference of …, and 1 more reason`."""
    first, *more = link["why"].split("; ")
    head = re.match(r"(\d+ of )its (\d+ \w+): (.*)", first)
    words = (
        first if head is None else head[3] if head[2].startswith("1 ") else f"in {head[1]}{head[2]}, first: {head[3]}"
    )
    return words + (f", and {len(more)} more reason{'s' * (len(more) != 1)}" if more else "")


def _deciding(claim: ReplicatedClaim) -> Sequence[ReplicatedPart]:
    return [part for part in claim["parts"] if part["decides"]]
