"""Errors about tenants and their users."""

from weft.core.errors.kinds import Conflict, Invalid, NotFound


class UserNotFound(NotFound):
    """The tenant has no user of this name."""

    code = "API.USER_NOT_FOUND"
    sqlstate = "WF118"


class UserExists(Conflict):
    """The tenant has a user of this name, in capitals or not."""

    code = "API.USER_EXISTS"
    sqlstate = "WF119"


class TenantExists(Conflict):
    """There is a tenant of this name, in capitals or not."""

    code = "API.TENANT_EXISTS"
    sqlstate = "WF122"


class TenantNotFound(NotFound):
    """The site has no tenant of this name, or it is not one that the caller may see."""

    code = "API.TENANT_NOT_FOUND"
    sqlstate = "WF136"


class QuotaExceeded(Conflict):
    """A user or a tenant would have more than their quota allows."""

    code = "API.QUOTA_EXCEEDED"
    status = 429
    retry_after_s = 60
    """Jobs have to end first. Clients with the usual patience fail at once instead."""
    sqlstate = "WF134"


class UnknownTenant(Invalid):
    """Something names a tenant that does not exist."""

    code = "API.UNKNOWN_TENANT"
    sqlstate = "WF128"


class LastAdministrator(Conflict):
    """Without this user nobody could administer the tenant."""

    code = "API.LAST_ADMINISTRATOR"
    sqlstate = "WF120"


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
