"""Errors about queues and their guards."""

from weft.core.errors.documents import InvalidDocument
from weft.core.errors.kinds import (
    Conflict,
    Invalid,
    NotFound,
    Unavailable,
)


class ServedQueueNotFound(NotFound, code="WORKER.QUEUE_NOT_FOUND", sqlstate="WF308"):
    """A worker names a queue that does not exist."""


class QueueNotFound(NotFound, code="API.QUEUE_NOT_FOUND"):
    """The queue does not exist."""


class QueueHasJobs(Conflict, code="API.QUEUE_HAS_JOBS", sqlstate="WF112"):
    """A queue with waiting jobs cannot be deleted."""


class QueueAlwaysOpen(Conflict, code="API.QUEUE_ALWAYS_OPEN"):
    """The queue `default` is never drained."""


class QueueFull(Conflict, code="API.QUEUE_FULL", sqlstate="WF113"):
    """The queue takes no more waiting jobs."""


class TooManyEvaluations(Invalid, code="API.TOO_MANY_EVALUATIONS"):
    """What guards, expressions or patterns say of a request takes too long."""

    advice = (
        "Name the queue of the jobs, send fewer jobs that differ in what guards and patterns "
        "read, or ask an operator to simplify those."
    )


class NothingEvaluates(Unavailable, code="API.NOTHING_EVALUATES"):
    """Guards, expressions or patterns cannot be evaluated now."""

    advice = "Try again in a minute; if it stays so, tell an operator, who finds why in the log."


class InvalidGuard(InvalidDocument, code="API.INVALID_GUARD"):
    """A guard that cannot be used."""

    fact = "a guard cannot be used"
    advice = "Correct the expression at the position; the guide on queues lists what it may read."
