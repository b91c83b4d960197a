"""Errors about the link of workers outside."""

from weft.core.errors.kinds import (
    Conflict,
    Forbidden,
    Invalid,
)


class LinkRefused(Forbidden, code="WORKER.LINK_REFUSED"):
    """The token of a worker outside does not allow that."""


class LinkFrameRefused(Invalid, code="WORKER.LINK_FRAME_REFUSED"):
    """A worker outside sent what the server does not read."""


class SpoolFull(Conflict, code="WORKER.SPOOL_FULL"):
    """This job, its worker outside or its tenant has as much output at the server as it may."""
