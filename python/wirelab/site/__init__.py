"""What a page is: a manifest of its resources with their bodies, generated or read from a folder. Pure but for the
folder that is read or written; knows no protocol and no client. `folder` and `synthetic` have what makes a page.
"""

from wirelab.site.catalogue import BUILTIN
from wirelab.site.manifest import Kind, LeftOut, Reason, Resource, Site
from wirelab.site.page import Page
from wirelab.site.words import count, left_out_words, page_words

__all__ = [
    "BUILTIN",
    "Kind",
    "LeftOut",
    "Page",
    "Reason",
    "Resource",
    "Site",
    "count",
    "left_out_words",
    "page_words",
]
