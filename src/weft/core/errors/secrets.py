"""Errors about the secrets of jobs."""

from weft.core.errors.kinds import Conflict, NotFound


class SecretNotFound(NotFound):
    """The caller has no secret of this name."""

    code = "API.SECRET_NOT_FOUND"
    advice = "List yours with `weft secret ls`; `weft secret set NAME` makes one."


class TooManySecrets(Conflict):
    """The caller has as many secrets as a user may have."""

    code = "API.TOO_MANY_SECRETS"
    sqlstate = "WF132"
    advice = "Remove one with `weft secret rm NAME`."


class SecretUnreadable(Conflict):
    """A secret was changed or moved in the database, or a later release stored it."""

    code = "API.SECRET_UNREADABLE"


class SecretKeyMissing(Conflict):
    """The key that encrypts secrets, or that encrypted one, is not on this host."""

    code = "API.SECRET_KEY_MISSING"
    advice = (
        "Copy secret-keys.json from the home of `weft up`, readable by you alone, or set "
        "WEFT_SECRET_KEYS."
    )
