"""API tokens: credentials of programs in place of a login. Only the SHA-256 of a secret is stored.

    tokens.owner_of(secret, now)            # the token's owner, or None
    tokens.bearer.bearer_of(request, now)   # of a request, or None without a token; raises WrongToken, LockedOut

Importing this package loads no Django models, so it may be imported before the apps are ready; its module `bearer` may
not.
"""

from echovessel.api.tokens.secret import owner_of

__all__ = ["owner_of"]
