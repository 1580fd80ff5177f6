"""Shared parts of the admin pages: permissions to read words, lists that stay fast, and forgetting in place of
deletion."""

from echovessel.admin.filters import AboutPersona, InSession, Lately
from echovessel.admin.pages import (
    AdminPage,
    Forgettable,
    ReadOnlyAdmin,
    ReadOnlyInline,
    WordsIndexed,
    forget_address,
    page_of,
)
from echovessel.admin.permissions import FORGET, MASK, READ, excerpt, may_forget, may_read

__all__ = [
    "FORGET",
    "MASK",
    "READ",
    "AboutPersona",
    "AdminPage",
    "Forgettable",
    "InSession",
    "Lately",
    "ReadOnlyAdmin",
    "ReadOnlyInline",
    "WordsIndexed",
    "excerpt",
    "forget_address",
    "may_forget",
    "may_read",
    "page_of",
]
