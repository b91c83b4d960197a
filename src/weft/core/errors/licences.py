"""Errors about licences."""

from weft.core.errors.documents import NoWorkerFits
from weft.core.errors.kinds import (
    Invalid,
    NotFound,
)


class NotEnoughLicences(NoWorkerFits, code="API.NOT_ENOUGH_LICENCES"):
    """A job that asks for more licences than there are."""

    fact = "a job asks for more licences than there are"
    advice = "Ask for at most as many as `weft licence ls` lists."


class LicenceNotFound(NotFound, code="WORKER.LICENCE_NOT_FOUND"):
    """The licence does not exist."""


class BadLicenceName(Invalid, code="WORKER.BAD_LICENCE_NAME"):
    """A licence cannot have this name."""
