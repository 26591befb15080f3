"""The forms of claims, one file each: what a part of a claim states, and how it is judged. Judges no family of claims.

Adding one: a file with a subclass of `Form`, and its line here.
"""

from wirelab.claims.forms.bend import Bend
from wirelab.claims.forms.causal_contrast import CausalContrast
from wirelab.claims.forms.change_point import ChangePoint
from wirelab.claims.forms.count import Count
from wirelab.claims.forms.equivalence import Equivalence
from wirelab.claims.forms.existence import Existence
from wirelab.claims.forms.from_level import FromLevel
from wirelab.claims.forms.interaction import Interaction
from wirelab.claims.forms.not_measured import NotMeasured
from wirelab.claims.forms.order import Order
from wirelab.claims.forms.quotient import Quotient
from wirelab.claims.forms.ratio import Ratio
from wirelab.claims.forms.same_order import SameOrder
from wirelab.claims.forms.share_beyond import ShareBeyond
from wirelab.claims.forms.trend import Trend
from wirelab.claims.forms.unanswered import Unanswered
from wirelab.claims.part import Form

FORMS: dict[str, type[Form]] = {
    form.name(): form
    for form in (
        Order,
        Ratio,
        Equivalence,
        Count,
        Trend,
        ChangePoint,
        FromLevel,
        Bend,
        Quotient,
        Existence,
        SameOrder,
        Interaction,
        CausalContrast,
        ShareBeyond,
        Unanswered,
        NotMeasured,
    )
}
