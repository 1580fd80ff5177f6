"""Which staff may read whose words, and the mask that the others see in their place."""

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, PermissionsMixin

READ, FORGET = "persona.read_words", "persona.forget_words"
MASK = "•••"
# The additional permission to forget a whole persona or account.
WHOLLY = {"persona": "persona.delete_persona", "owner": "auth.delete_user"}

Staff = AbstractBaseUser | AnonymousUser


def may_read(user: Staff, owner_id: int | None) -> bool:
    """Whether `user` may read the words of that owner's personas: their own, or any with the permission."""
    return _owns(user, owner_id) or _holds(user, READ)


def may_forget(user: Staff, owner_id: int | None, kind: str) -> bool:
    """Whether `user` may forget a target of this kind that belongs to that owner."""
    return _owns(user, owner_id) or may_forget_of_all(user, kind)


def may_forget_of_all(user: Staff, kind: str) -> bool:
    """Whether `user` may forget targets of this kind of any owner."""
    return _holds(user, FORGET) and (kind not in WHOLLY or _holds(user, WHOLLY[kind]))


def excerpt(text: str, length: int = 90) -> str:
    """The beginning of `text`, for a column."""
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"


def _owns(user: Staff, owner_id: int | None) -> bool:
    return user.pk is not None and user.pk == owner_id


def _holds(user: Staff, permission: str) -> bool:
    return isinstance(user, PermissionsMixin) and user.has_perm(permission)
