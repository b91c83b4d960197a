"""What the log says when something that a program needs does not answer: once when that begins,
and once at its end.
"""

import time

from weft.telemetry.log import log


class Outage:
    """Whether something is out of reach, and since when."""

    def __init__(self, begins: str, ends: str, **facts: str) -> None:
        """`begins`, `ends`: the events; `facts`: both of them have these."""
        self._begins, self._ends, self._facts = begins, ends, facts
        self._began_at: float | None = None
        self._said: set[str] = set()

    @property
    def is_over(self) -> bool:
        """Return whether nothing is known to be wrong."""
        return self._began_at is None

    def say(self, error: str, detail: str, hint: str) -> None:
        """Log why it is out of reach, unless it was said before."""
        if self._began_at is None:
            self._began_at = time.monotonic()
        if detail in self._said:
            return
        self._said.add(detail)
        log.warning(
            self._begins,
            **self._facts,
            error=f"{error}; trying again",
            detail=detail,
            hint=hint,
        )

    def end(self) -> None:
        """Log that it answers again."""
        if self._began_at is not None:
            silent_s = round(time.monotonic() - self._began_at, 3)
            log.info(self._ends, **self._facts, silent_s=silent_s)
        self._began_at = None
        self._said.clear()
