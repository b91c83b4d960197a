"""Errors about queues, workers and pools, and about the functions that run there."""

from weft.core.errors.documents import InvalidDocument
from weft.core.errors.kinds import (
    Conflict,
    Forbidden,
    Internal,
    Invalid,
    NotFound,
    TooLarge,
    Unavailable,
)


class PoolNotFound(NotFound, code="WORKER.POOL_NOT_FOUND", sqlstate="WF302"):
    """The pool does not exist."""


class PoolHasMachines(Conflict, code="WORKER.POOL_HAS_MACHINES", sqlstate="WF309"):
    """A pool with machines cannot be left out."""


class PoolInUse(Conflict, code="WORKER.POOL_IN_USE", sqlstate="WF127"):
    """Queues of other tenants use the pool."""


class PoolNotShared(Conflict, code="WORKER.POOL_NOT_SHARED", sqlstate="WF126"):
    """A pool is that of another tenant."""


class TransportNotFound(NotFound, code="WORKER.TRANSPORT_NOT_FOUND"):
    """The transport does not exist."""


class DeadMessageNotFound(NotFound, code="WORKER.DEAD_MESSAGE_NOT_FOUND"):
    """There is no such dead message."""


class DeadMessageFinal(Conflict, code="WORKER.DEAD_MESSAGE_FINAL"):
    """The dead message cannot be sent again."""


class LicenceNotFound(NotFound, code="WORKER.LICENCE_NOT_FOUND"):
    """The licence does not exist."""


class BadLicenceName(Invalid, code="WORKER.BAD_LICENCE_NAME"):
    """A licence cannot have this name."""


class ServedQueueNotFound(NotFound, code="WORKER.QUEUE_NOT_FOUND", sqlstate="WF308"):
    """A worker names a queue that does not exist."""


class ImpossibleCapacity(Invalid, code="WORKER.IMPOSSIBLE_CAPACITY", sqlstate="WF310"):
    """A worker says that it has what no host has."""


class WorkerAlive(Conflict, code="WORKER.NAME_TAKEN", sqlstate="WF301"):
    """Another live worker has this name."""


class IncarnationEnded(Conflict, code="WORKER.INCARNATION_ENDED", sqlstate="WF303"):
    """The worker was declared lost."""


class WorkerAtWork(Conflict, code="WORKER.AT_WORK", sqlstate="WF311"):
    """The worker was heard of just now, so that it cannot be given up."""


class WorkerNotFound(NotFound, code="WORKER.NOT_FOUND", sqlstate="WF305"):
    """No worker has this name."""


class WorkerAmbiguous(Conflict, code="WORKER.AMBIGUOUS", sqlstate="WF306"):
    """Workers of several pools have this name."""


class WorkerEnded(Conflict, code="WORKER.ENDED", sqlstate="WF307"):
    """The worker's process ended normally."""


class ExecElsewhere(Conflict, code="WORKER.EXEC_ELSEWHERE"):
    """No command can run beside the job: of its place, or because its worker is elsewhere."""

    advice = "`weft logs` and `weft files` look into any job."


class ExecsFull(Conflict, code="WORKER.EXECS_FULL"):
    """As many commands run beside the job, or on its worker, as may."""

    advice = "Try again when one has ended, or raise the setting `exec_job_max`."


class ResultTooLarge(TooLarge, code="WORKER.RESULT_TOO_LARGE"):
    """The result of a function is too large."""


class CallDied(Internal, code="CLIENT.CALL_DIED"):
    """The call neither returned nor raised: its process died or was killed."""

    advice = "`weft logs` shows its output."


class LinkRefused(Forbidden, code="WORKER.LINK_REFUSED"):
    """The token of a worker outside does not allow that."""


class LinkFrameRefused(Invalid, code="WORKER.LINK_FRAME_REFUSED"):
    """A worker outside sent what the server does not read."""


class SpoolFull(Conflict, code="WORKER.SPOOL_FULL"):
    """This job, its worker outside or its tenant has as much output at the server as it may."""


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
