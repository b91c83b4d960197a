"""Errors about tenants."""

from weft.core.errors.kinds import Conflict, Invalid, NotFound


class TenantExists(Conflict, code="API.TENANT_EXISTS", sqlstate="WF122"):
    """There is a tenant of this name, in capitals or not."""


class TenantNotFound(NotFound, code="API.TENANT_NOT_FOUND", sqlstate="WF136"):
    """The site has no tenant of this name, or it is not one that the caller may see."""


class UnknownTenant(Invalid, code="API.UNKNOWN_TENANT", sqlstate="WF128"):
    """Something names a tenant that does not exist."""
