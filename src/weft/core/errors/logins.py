"""Errors about logins."""

from weft.core.errors.kinds import (
    Conflict,
    Invalid,
    NotFound,
    Unauthenticated,
    Unavailable,
)


class LoginLinkRefused(Unauthenticated, code="API.LOGIN_LINK_REFUSED"):
    """The code of a login link is unknown, used, replaced by another, or has expired."""


class InvitationRefused(Unauthenticated, code="API.INVITATION_REFUSED", sqlstate="WF182"):
    """The invitation of a worker is unknown, used, or has expired."""


class LoginRefused(Unauthenticated, code="API.LOGIN_REFUSED"):
    """An issuer does not let somebody in, or what came back from it is not believed."""


class IssuerNotFound(NotFound, code="API.ISSUER_NOT_FOUND"):
    """People cannot log in at such an issuer."""


class IssuerAmbiguous(Invalid, code="API.ISSUER_AMBIGUOUS"):
    """People can log in at several issuers."""


class IssuerNotAnswering(Unavailable, code="API.ISSUER_NOT_ANSWERING"):
    """An issuer cannot be asked now."""


class NoDeviceLogin(Conflict, code="API.NO_DEVICE_LOGIN"):
    """The issuer has no device endpoint."""


class TooManyFailedLogins(Unavailable, code="API.TOO_MANY_FAILED_LOGINS", status=429):
    """An address has sent more requests with wrong tokens than the setting allows."""
