"""Errors about billing projects and prices."""

from weft.core.errors.kinds import Conflict, Invalid, NotFound


class ProjectNotFound(NotFound):
    """The billing project does not exist, or the caller is not a member of it."""

    code = "API.PROJECT_NOT_FOUND"
    sqlstate = "WF105"


class ProjectExists(Conflict):
    """The tenant has or had a billing project of this name, in capitals or not."""

    code = "API.PROJECT_EXISTS"
    sqlstate = "WF123"


class ProjectOpen(Conflict):
    """A billing project that is to be deleted is not closed, or is paused with batches."""

    code = "API.PROJECT_OPEN"
    sqlstate = "WF124"


class ProjectClosed(Conflict):
    """A closed billing project takes no new batches."""

    code = "API.PROJECT_CLOSED"
    sqlstate = "WF125"


class BillingLimitReached(Conflict):
    """A billing project that cancels at its limit takes no more jobs."""

    code = "API.BILLING_LIMIT_REACHED"
    sqlstate = "WF135"


class SoftLimitAboveLimit(Invalid):
    """A soft limit would be above the limit of the same project, user, batch or group."""

    code = "API.SOFT_LIMIT_ABOVE_LIMIT"
    sqlstate = "WF140"


class ReportTooLarge(Invalid):
    """A report by attribute would read the sums of too many batches."""

    code = "BILLING.REPORT_TOO_LARGE"
    status = 422
    sqlstate = "WF133"


class RatesFixed(Conflict):
    """Prices that begin in the past, or at a time that already has prices."""

    code = "BILLING.RATES_FIXED"
    sqlstate = "WF107"


class FlavourNotFound(NotFound):
    """The pool has no flavour of this name."""

    code = "BILLING.FLAVOUR_NOT_FOUND"
    sqlstate = "WF110"


class RatesNotFound(NotFound):
    """The version of the prices does not exist."""

    code = "BILLING.RATES_NOT_FOUND"
    sqlstate = "WF109"
