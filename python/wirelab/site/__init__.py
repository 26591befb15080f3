"""What a page is: a manifest of its resources with their bodies, generated or read from a folder. Pure but for the
folder that is read or written; knows no protocol and no client.
"""

from wirelab.site.catalogue import BUILTIN
from wirelab.site.discovery import MAX_BYTES, MAX_RESOURCES
from wirelab.site.folder import read_folder
from wirelab.site.manifest import Kind, LeftOut, Reason, Resource, Site
from wirelab.site.page import Page
from wirelab.site.synthetic import LEAST_IMAGE_BYTES, MOST_IMAGES, images
from wirelab.site.words import count, left_out_words, page_words

__all__ = [
    "BUILTIN",
    "LEAST_IMAGE_BYTES",
    "MAX_BYTES",
    "MAX_RESOURCES",
    "MOST_IMAGES",
    "Kind",
    "LeftOut",
    "Page",
    "Reason",
    "Resource",
    "Site",
    "count",
    "images",
    "left_out_words",
    "page_words",
    "read_folder",
]
