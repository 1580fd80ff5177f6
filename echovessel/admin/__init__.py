"""What the admin pages of the layers share: who may read, how lists stay fast, and forgetting in place of deletion."""

from echovessel.admin.filters import AboutPersona, InTalk, Lately
from echovessel.admin.pages import Forgettable, Page, Seen, SeenInline, WordsIndexed, forget_address, page_of
from echovessel.admin.permissions import FORGET, MASK, READ, excerpt, may_forget, may_read

__all__ = [
    "FORGET",
    "MASK",
    "READ",
    "AboutPersona",
    "Forgettable",
    "InTalk",
    "Lately",
    "Page",
    "Seen",
    "SeenInline",
    "WordsIndexed",
    "excerpt",
    "forget_address",
    "may_forget",
    "may_read",
    "page_of",
]
