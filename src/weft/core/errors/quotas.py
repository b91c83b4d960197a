"""Errors about quotas."""

from weft.core.errors.kinds import Conflict


class QuotaExceeded(Conflict, code="API.QUOTA_EXCEEDED", sqlstate="WF134", status=429):
    """A user or a tenant would have more than their quota allows."""

    retry_after_s = 60
    """Jobs have to end first. Clients with the usual patience fail at once instead."""
