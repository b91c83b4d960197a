"""Errors about queues."""

from weft.core.errors.documents import InvalidDocument
from weft.core.errors.kinds import Conflict, Invalid, NotFound, Unavailable


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


class TooManyEvaluations(Invalid):
    """What guards, expressions or patterns say of a request takes too long."""

    code = "API.TOO_MANY_EVALUATIONS"
    advice = (
        "Name the queue of the jobs, send fewer jobs that differ in what guards and patterns "
        "read, or ask an operator to simplify those."
    )


class NothingEvaluates(Unavailable):
    """Guards, expressions or patterns cannot be evaluated now."""

    code = "API.NOTHING_EVALUATES"
    advice = "Try again in a minute; if it stays so, tell an operator, who finds why in the log."


class InvalidGuard(InvalidDocument):
    """A guard that cannot be used."""

    code = "API.INVALID_GUARD"
    fact = "a guard cannot be used"
    advice = "Correct the expression at the position; the guide on queues lists what it may read."
