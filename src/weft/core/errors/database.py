"""Errors of the database."""

from weft.core.errors.kinds import Conflict, Internal, NotFound, Unavailable


class StoreUnavailable(Unavailable, code="STORE.UNAVAILABLE"):
    """The database cannot be reached now."""


class IllegalTransition(Internal, code="STORE.ILLEGAL_TRANSITION", sqlstate="WF900"):
    """The state machine has no such transition; nothing was changed."""


class ViewLoginNotFound(NotFound, code="STORE.VIEW_LOGIN_NOT_FOUND", sqlstate="WF181"):
    """No dashboard has a login of this name."""


class ViewLoginTaken(Conflict, code="STORE.VIEW_LOGIN_TAKEN", sqlstate="WF281"):
    """The server has a role of this name already."""


class ServerReplaced(Exception):
    """Another server of the database answers than the one at which a worker has registered."""


class EpochStale(Conflict, code="DRIVER.EPOCH_STALE", sqlstate="WF401"):
    """A driver that no longer leads tried to write."""
