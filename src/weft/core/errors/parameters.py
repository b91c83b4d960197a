"""Errors about parameters."""

from weft.core.errors.kinds import Conflict, NotFound


class ParameterNotFound(NotFound, code="API.PARAMETER_NOT_FOUND", sqlstate="WF144"):
    """The parameter does not exist."""


class ParameterOfOtherType(Conflict, code="API.PARAMETER_OF_OTHER_TYPE", sqlstate="WF246"):
    """The parameter has values of another type."""
