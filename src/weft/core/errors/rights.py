"""Errors about rights and permissions."""

from weft.core.errors.kinds import (
    Forbidden,
)


class RightMissing(Forbidden, code="API.RIGHT_MISSING", sqlstate="WF121"):
    """The caller's role does not have the right that this needs."""


class PermissionMissing(Forbidden, code="API.PERMISSION_MISSING", sqlstate="WF130"):
    """The caller sees the batch, but may not do this to it."""


class NotInVisit(Forbidden, code="API.NOT_IN_VISIT"):
    """On a visit to another tenant, an administrator of the site asks for more than to read it."""
