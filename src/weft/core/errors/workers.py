"""Errors about workers and pools, and about the functions that run there."""

from weft.core.errors.kinds import Conflict, Forbidden, Internal, Invalid, NotFound, TooLarge


class PoolNotFound(NotFound):
    """The pool does not exist."""

    code = "WORKER.POOL_NOT_FOUND"
    sqlstate = "WF302"


class PoolHasMachines(Conflict):
    """A pool with machines cannot be left out."""

    code = "WORKER.POOL_HAS_MACHINES"
    sqlstate = "WF309"


class PoolInUse(Conflict):
    """Queues of other tenants use the pool."""

    code = "WORKER.POOL_IN_USE"
    sqlstate = "WF127"


class PoolNotShared(Conflict):
    """A pool is that of another tenant."""

    code = "WORKER.POOL_NOT_SHARED"
    sqlstate = "WF126"


class TransportNotFound(NotFound):
    """The transport does not exist."""

    code = "WORKER.TRANSPORT_NOT_FOUND"


class DeadMessageNotFound(NotFound):
    """There is no such dead message."""

    code = "WORKER.DEAD_MESSAGE_NOT_FOUND"


class DeadMessageFinal(Conflict):
    """The dead message cannot be sent again."""

    code = "WORKER.DEAD_MESSAGE_FINAL"


class LicenceNotFound(NotFound):
    """The licence does not exist."""

    code = "WORKER.LICENCE_NOT_FOUND"


class BadLicenceName(Invalid):
    """A licence cannot have this name."""

    code = "WORKER.BAD_LICENCE_NAME"


class ServedQueueNotFound(NotFound):
    """A worker names a queue that does not exist."""

    code = "WORKER.QUEUE_NOT_FOUND"
    sqlstate = "WF308"


class ImpossibleCapacity(Invalid):
    """A worker says that it has what no host has."""

    code = "WORKER.IMPOSSIBLE_CAPACITY"
    sqlstate = "WF310"


class WorkerAlive(Conflict):
    """Another live worker has this name."""

    code = "WORKER.NAME_TAKEN"
    sqlstate = "WF301"


class IncarnationEnded(Conflict):
    """The worker was declared lost."""

    code = "WORKER.INCARNATION_ENDED"
    sqlstate = "WF303"


class WorkerAtWork(Conflict):
    """The worker was heard of just now, so that it cannot be given up."""

    code = "WORKER.AT_WORK"
    sqlstate = "WF311"


class WorkerNotFound(NotFound):
    """No worker has this name."""

    code = "WORKER.NOT_FOUND"
    sqlstate = "WF305"


class WorkerAmbiguous(Conflict):
    """Workers of several pools have this name."""

    code = "WORKER.AMBIGUOUS"
    sqlstate = "WF306"


class WorkerEnded(Conflict):
    """The worker's process ended normally."""

    code = "WORKER.ENDED"
    sqlstate = "WF307"


class ResultTooLarge(TooLarge):
    """The result of a function is too large."""

    code = "WORKER.RESULT_TOO_LARGE"


class CallDied(Internal):
    """The call neither returned nor raised: its process died or was killed."""

    code = "CLIENT.CALL_DIED"
    advice = "`weft logs` shows its output."


class LinkRefused(Forbidden):
    """The token of a worker outside does not allow that."""

    code = "WORKER.LINK_REFUSED"


class LinkFrameRefused(Invalid):
    """A worker outside sent what the server does not read."""

    code = "WORKER.LINK_FRAME_REFUSED"


class SpoolFull(Conflict):
    """The server keeps no more output of this worker outside, of this job, or of its tenant."""

    code = "WORKER.SPOOL_FULL"
