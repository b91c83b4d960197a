"""Errors about limits of money, and prices."""

from weft.core.errors.kinds import Conflict, Invalid, NotFound


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
