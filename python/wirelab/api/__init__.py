"""What `import wirelab` gives: campaigns as tables (`load`), and verbs that make them (`run`, `choose`, `exact`)."""

from wirelab.api.campaign import Campaign, load
from wirelab.api.commands import Answer, choose, exact, run
from wirelab.api.drawn import Chart
from wirelab.errors import RunError, WirelabError

__all__ = ["Answer", "Campaign", "Chart", "RunError", "WirelabError", "choose", "exact", "load", "run"]
