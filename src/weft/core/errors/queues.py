"""Errors about queues."""

from weft.core.errors.documents import InvalidDocument
from weft.core.errors.kinds import Conflict, NotFound


class QueueNotFound(NotFound):
    """The queue does not exist."""

    code = "API.QUEUE_NOT_FOUND"


class QueueHasJobs(Conflict):
    """A queue with waiting jobs cannot be deleted."""

    code = "API.QUEUE_HAS_JOBS"
    sqlstate = "WF112"


class QueueAlwaysOpen(Conflict):
    """The queue `default` is never drained."""

    code = "API.QUEUE_ALWAYS_OPEN"


class QueueFull(Conflict):
    """The queue takes no more waiting jobs."""

    code = "API.QUEUE_FULL"
    sqlstate = "WF113"


class InvalidGuard(InvalidDocument):
    """A guard that cannot be used."""

    code = "API.INVALID_GUARD"
    fact = "a guard cannot be used"
    advice = "Correct the expression at the position; the guide on queues lists what it may read."
