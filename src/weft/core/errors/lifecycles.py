"""Errors about lifecycles and the statuses of jobs."""

from weft.core.errors.kinds import Conflict, Invalid, NotFound


class LifecycleNotFound(NotFound, code="API.LIFECYCLE_NOT_FOUND", sqlstate="WF141"):
    """The lifecycle does not exist."""


class LifecycleTaken(Conflict, code="API.LIFECYCLE_TAKEN", sqlstate="WF241"):
    """Another line has a lifecycle of this name."""


class InvalidStatusTransition(Conflict, code="API.INVALID_STATUS_TRANSITION", sqlstate="WF242"):
    """The lifecycle of the job does not allow this status now."""


class UnknownStatus(Invalid, code="API.UNKNOWN_STATUS", sqlstate="WF243"):
    """The lifecycle of the job has no such status."""


class NoLifecycle(Conflict, code="API.NO_LIFECYCLE", sqlstate="WF244"):
    """The batch of the job has no lifecycle."""


class StatusBusy(Conflict, code="API.STATUS_BUSY", sqlstate="WF245"):
    """The core of the job could not be moved just now."""
