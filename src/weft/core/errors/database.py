"""Errors of the database."""

from weft.core.errors.kinds import Conflict, Internal, NotFound, Unavailable


class StoreUnavailable(Unavailable):
    """The database cannot be reached now."""

    code = "STORE.UNAVAILABLE"


class IllegalTransition(Internal):
    """The state machine has no such transition; nothing was changed."""

    code = "STORE.ILLEGAL_TRANSITION"
    sqlstate = "WF900"


class ViewLoginNotFound(NotFound):
    """No dashboard has a login of this name."""

    code = "STORE.VIEW_LOGIN_NOT_FOUND"
    sqlstate = "WF181"


class ViewLoginTaken(Conflict):
    """The server has a role of this name already."""

    code = "STORE.VIEW_LOGIN_TAKEN"
    sqlstate = "WF281"


class EpochStale(Conflict):
    """A driver that no longer leads tried to write."""

    code = "DRIVER.EPOCH_STALE"
    sqlstate = "WF401"
