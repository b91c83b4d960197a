"""Errors about conditions."""

from weft.core.errors.kinds import NotFound


class ConditionNotFound(NotFound, code="API.CONDITION_NOT_FOUND", sqlstate="WF116"):
    """No job waits for this condition, or you may not see it."""
