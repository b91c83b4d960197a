"""Errors of the driver."""

from weft.core.errors.kinds import Conflict


class EpochStale(Conflict):
    """A driver that no longer leads tried to write."""

    code = "DRIVER.EPOCH_STALE"
    sqlstate = "WF401"
