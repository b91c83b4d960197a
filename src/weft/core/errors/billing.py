"""Errors about billing projects and prices."""

from weft.core.errors.kinds import Conflict, NotFound


class ProjectNotFound(NotFound):
    """No such billing project, or the caller is no member of it."""

    code = "API.PROJECT_NOT_FOUND"
    sqlstate = "WF105"


class RatesFixed(Conflict):
    """Prices for a moment that has passed, or for which there are some."""

    code = "BILLING.RATES_FIXED"
    sqlstate = "WF107"
