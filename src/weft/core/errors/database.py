"""Errors of the database."""

from weft.core.errors.kinds import Internal, Unavailable


class StoreUnavailable(Unavailable):
    """The database cannot be reached now."""

    code = "STORE.UNAVAILABLE"


class IllegalTransition(Internal):
    """The state machine has no such transition; nothing was changed."""

    code = "STORE.ILLEGAL_TRANSITION"
    sqlstate = "WF900"
