"""Tokens of the API: what a program shows instead of a login. Only the SHA-256 of a secret is kept.

    tokens.owner_of(secret, now)            # the user whose it is, or None
    tokens.bearer.bearer_of(request, now)   # of a request, or None where it shows none; raises WrongToken, LockedOut

Nothing here loads Django's models on import, so that the package may be imported before the apps are ready; its module
`bearer` may not.
"""

from echovessel.api.tokens.secret import owner_of

__all__ = ["owner_of"]
