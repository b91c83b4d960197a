"""Errors about secrets."""

from weft.core.errors.kinds import Conflict, NotFound


class SecretNotFound(NotFound, code="API.SECRET_NOT_FOUND"):
    """The caller has no secret of this name."""

    advice = "List yours with `weft secret ls`; `weft secret set NAME` makes one."


class TooManySecrets(Conflict, code="API.TOO_MANY_SECRETS", sqlstate="WF132"):
    """The caller has as many secrets as a user may have."""

    advice = "Remove one with `weft secret rm NAME`."


class SecretUnreadable(Conflict, code="API.SECRET_UNREADABLE"):
    """A secret was changed or moved in the database, or a later release stored it."""


class SecretKeyMissing(Conflict, code="API.SECRET_KEY_MISSING"):
    """The key that encrypts secrets, or that encrypted one, is not on this host."""

    advice = (
        "Copy secret-keys.json from the home of `weft up`, readable by you alone, or set "
        "WEFT_SECRET_KEYS."
    )
