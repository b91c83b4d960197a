"""Errors about users."""

from weft.core.errors.kinds import Conflict, NotFound


class UserNotFound(NotFound, code="API.USER_NOT_FOUND", sqlstate="WF118"):
    """The tenant has no user of this name."""


class UserExists(Conflict, code="API.USER_EXISTS", sqlstate="WF119"):
    """The tenant has a user of this name, in capitals or not."""


class JobsNotApart(Conflict, code="API.JOBS_NOT_APART"):
    """Jobs run as the account of the server, in no sandbox: those of a further user could read its
    files, and who asked did not say that they trust that user.
    """


class LastAdministrator(Conflict, code="API.LAST_ADMINISTRATOR", sqlstate="WF120"):
    """Without this user nobody could administer the tenant."""
