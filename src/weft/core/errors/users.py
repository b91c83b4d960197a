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
