"""Errors about sources."""

from weft.core.errors.kinds import Conflict, Forbidden, NotFound


class SourceNotFound(NotFound, code="API.SOURCE_NOT_FOUND", sqlstate="WF143"):
    """The source does not exist."""


class SourceTaken(Conflict, code="API.SOURCE_TAKEN", sqlstate="WF265"):
    """Another line has a source of this name."""


class SourceOfAnother(Forbidden, code="API.SOURCE_OF_ANOTHER"):
    """Only its owner, or an operator, may change a source."""
