"""Errors about transports."""

from weft.core.errors.kinds import (
    Conflict,
    NotFound,
)


class TransportNotFound(NotFound, code="WORKER.TRANSPORT_NOT_FOUND"):
    """The transport does not exist."""


class DeadMessageNotFound(NotFound, code="WORKER.DEAD_MESSAGE_NOT_FOUND"):
    """There is no such dead message."""


class DeadMessageFinal(Conflict, code="WORKER.DEAD_MESSAGE_FINAL"):
    """The dead message cannot be sent again."""
