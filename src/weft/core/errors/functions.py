"""Errors about calls of Python functions."""

from weft.core.errors.kinds import (
    Internal,
    TooLarge,
)


class ResultTooLarge(TooLarge, code="WORKER.RESULT_TOO_LARGE"):
    """The result of a function is too large."""


class CallDied(Internal, code="CLIENT.CALL_DIED"):
    """The call neither returned nor raised: its process died or was killed."""

    advice = "`weft logs` shows its output."
