"""What an engine says of attempts that have not ended: why they wait, where they run;
and what they are told.
"""

import time
from collections.abc import Callable
from typing import Final

from weft.core.attempt_key import AttemptKey, Command
from weft.core.errors import Unavailable
from weft.core.states import Phase
from weft.plugins.runners.remote.engine import Engine
from weft.plugins.runners.remote.handles import Handle

_AGAIN_S: Final = 10.0
"""How often at most the engine is quoted about one attempt in one phase."""
_CHARS_MAX: Final = 300


class Notes:
    """What was last reported of each attempt, and when."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._last: dict[AttemptKey, tuple[str, float]] = {}

    def of_phase(self, key: AttemptKey, said: str) -> str:
        """Return what to report with a new phase."""
        self.forget(key)
        return self.news(key, said)

    def news(self, key: AttemptKey, said: str) -> str:
        """Return what to report in the same phase; empty: nothing new, or it is too soon."""
        now, note = self._clock(), said[:_CHARS_MAX]
        last, last_at = self._last.get(key, ("", now - _AGAIN_S))
        if note == last or now - last_at < _AGAIN_S:
            return ""
        self._last[key] = note, now
        return note

    def forget(self, key: AttemptKey) -> None:
        """Begin anew."""
        self._last.pop(key, None)

    def clear(self) -> None:
        """Begin anew with all."""
        self._last.clear()


async def tell_attempt(
    engine: Engine, command: Command, handle: Handle | None, phase: Phase | None
) -> str:
    """Tell an attempt in this phase, which has a handle if it is known and a phase if it has not
    ended. Return why it could not be told; empty: it was.
    """
    if handle is None or phase is None:
        return "it does not run any more"
    if command.signal is None and handle.assignment.spec.timeout_s is None:
        return "it has no time limit"
    if command.signal is not None and phase < Phase.EXECUTING:
        return "it waits in the engine"
    try:
        return await engine.tell(handle.assignment, command)
    except Unavailable as error:
        return error.message
