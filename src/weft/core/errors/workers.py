"""Errors about workers and pools, and about the functions that run there."""

from weft.core.errors.kinds import Conflict, Internal, NotFound, TooLarge


class PoolNotFound(NotFound):
    """No such pool."""

    code = "WORKER.POOL_NOT_FOUND"
    sqlstate = "WF302"


class WorkerAlive(Conflict):
    """Another worker of this name lives."""

    code = "WORKER.NAME_TAKEN"
    sqlstate = "WF301"


class IncarnationEnded(Conflict):
    """A worker that was declared lost."""

    code = "WORKER.INCARNATION_ENDED"
    sqlstate = "WF303"


class ResultTooLarge(TooLarge):
    """What a function returned is longer than a result may be."""

    code = "WORKER.RESULT_TOO_LARGE"


class CallDied(Internal):
    """A call ended without returning or raising: its process died, or was killed."""

    code = "CLIENT.CALL_DIED"
    advice = "`weft logs` shows what it wrote until then."
