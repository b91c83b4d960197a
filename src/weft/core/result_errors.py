"""What may be wrong with the result of a function; raised where it was called, and again where it
is read.
"""

from weft.core.errors import Internal, TooLarge


class ResultTooLarge(TooLarge):
    """What a function returned is longer than a result may be."""

    code = "WORKER.RESULT_TOO_LARGE"


class CallDied(Internal):
    """A call ended without returning or raising: its process died, or was killed."""

    code = "CLIENT.CALL_DIED"
    advice = "`weft logs` shows what it wrote until then."
