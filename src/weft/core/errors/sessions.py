"""Errors about sessions of browsers."""

from weft.core.errors.kinds import (
    Forbidden,
    NotFound,
)


class ForeignRequest(Forbidden, code="API.FOREIGN_REQUEST"):
    """A browser sends a session along with a request that no page of this server has made."""


class SessionNotFound(NotFound, code="API.SESSION_NOT_FOUND"):
    """The caller has no such session."""
