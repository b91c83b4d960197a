"""Errors about conditions that jobs wait for."""

from weft.core.errors.kinds import NotFound


class ConditionNotFound(NotFound):
    """No job waits for this condition, or you may not see it."""

    code = "API.CONDITION_NOT_FOUND"
    sqlstate = "WF116"
