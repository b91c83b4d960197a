"""Errors about pools."""

from weft.core.errors.kinds import (
    Conflict,
    NotFound,
)


class PoolNotFound(NotFound, code="WORKER.POOL_NOT_FOUND", sqlstate="WF302"):
    """The pool does not exist."""


class PoolHasMachines(Conflict, code="WORKER.POOL_HAS_MACHINES", sqlstate="WF309"):
    """A pool with machines cannot be left out."""


class PoolInUse(Conflict, code="WORKER.POOL_IN_USE", sqlstate="WF127"):
    """Queues of other tenants use the pool."""


class PoolNotShared(Conflict, code="WORKER.POOL_NOT_SHARED", sqlstate="WF126"):
    """A pool is that of another tenant."""
