"""Errors about tenants and their users."""

from weft.core.errors.kinds import Conflict, Invalid, NotFound


class UserNotFound(NotFound, code="API.USER_NOT_FOUND", sqlstate="WF118"):
    """The tenant has no user of this name."""


class UserExists(Conflict, code="API.USER_EXISTS", sqlstate="WF119"):
    """The tenant has a user of this name, in capitals or not."""


class TenantExists(Conflict, code="API.TENANT_EXISTS", sqlstate="WF122"):
    """There is a tenant of this name, in capitals or not."""


class TenantNotFound(NotFound, code="API.TENANT_NOT_FOUND", sqlstate="WF136"):
    """The site has no tenant of this name, or it is not one that the caller may see."""


class QuotaExceeded(Conflict, code="API.QUOTA_EXCEEDED", sqlstate="WF134", status=429):
    """A user or a tenant would have more than their quota allows."""

    retry_after_s = 60
    """Jobs have to end first. Clients with the usual patience fail at once instead."""


class UnknownTenant(Invalid, code="API.UNKNOWN_TENANT", sqlstate="WF128"):
    """Something names a tenant that does not exist."""


class LastAdministrator(Conflict, code="API.LAST_ADMINISTRATOR", sqlstate="WF120"):
    """Without this user nobody could administer the tenant."""


class ProjectNotFound(NotFound, code="API.PROJECT_NOT_FOUND", sqlstate="WF105"):
    """The billing project does not exist, or the caller is not a member of it."""


class ProjectExists(Conflict, code="API.PROJECT_EXISTS", sqlstate="WF123"):
    """The tenant has or had a billing project of this name, in capitals or not."""


class ProjectOpen(Conflict, code="API.PROJECT_OPEN", sqlstate="WF124"):
    """A billing project that is to be deleted is not closed, or is paused with batches."""


class ProjectClosed(Conflict, code="API.PROJECT_CLOSED", sqlstate="WF125"):
    """A closed billing project takes no new batches."""


class BillingLimitReached(Conflict, code="API.BILLING_LIMIT_REACHED", sqlstate="WF135"):
    """A billing project that cancels at its limit takes no more jobs."""


class SoftLimitAboveLimit(Invalid, code="API.SOFT_LIMIT_ABOVE_LIMIT", sqlstate="WF140"):
    """A soft limit would be above the limit of the same project, user, batch or group."""


class ReportTooLarge(Invalid, code="BILLING.REPORT_TOO_LARGE", sqlstate="WF133", status=422):
    """A report by attribute would read the sums of too many batches."""


class RatesFixed(Conflict, code="BILLING.RATES_FIXED", sqlstate="WF107"):
    """Prices that begin in the past, or at a time that already has prices."""


class FlavourNotFound(NotFound, code="BILLING.FLAVOUR_NOT_FOUND", sqlstate="WF110"):
    """The pool has no flavour of this name."""


class RatesNotFound(NotFound, code="BILLING.RATES_NOT_FOUND", sqlstate="WF109"):
    """The version of the prices does not exist."""
