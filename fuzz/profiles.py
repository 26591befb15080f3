"""Writes the link of every shipped profile as the agent gets it: `profiles.py FOLDER`; more seeds of `link_text`."""

import sys
from pathlib import Path

from wirelab.experiment.library import profiles
from wirelab.experiment.link.single import single_link
from wirelab.link_facts import asking

folder = Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
with asking() as ask:
    for name in profiles():
        (folder / f"profile-{name}").write_text(single_link(name, (), ask).model_dump_json(exclude_none=True))
