"""Errors about workers."""

from weft.core.errors.kinds import (
    Conflict,
    Invalid,
    NotFound,
)


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
