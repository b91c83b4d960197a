"""Errors about operations on many batches."""

from weft.core.errors.kinds import Conflict, NotFound


class OperationNotFound(NotFound, code="API.OPERATION_NOT_FOUND", sqlstate="WF106"):
    """The operation does not exist."""


class OperationNotCancellable(Conflict, code="API.OPERATION_NOT_CANCELLABLE", sqlstate="WF139"):
    """The operation is on one batch: it goes on to its end."""
