"""What the log says of a database that does not answer: once when it begins, once at its end."""

import time

from weft.core.database_name import database_name
from weft.core.errors import StoreUnavailable, WeftError
from weft.telemetry.log import log

_HINT = "Check that the server runs, and host and port in the setting `{}`."


class Outage:
    """Whether the database of a program is out of reach, and since when."""

    def __init__(self, dsn: str, setting: str = "database") -> None:
        """`setting`: that says where it is."""
        self._hint = _HINT.format(setting)
        self._database = database_name(dsn)
        self._began_at: float | None = None
        self._said: set[str] = set()

    @property
    def is_over(self) -> bool:
        """Return whether nothing is known to be wrong."""
        return self._began_at is None

    def begin(self, error: WeftError) -> None:
        """Log why the database is out of reach, unless it was said before."""
        # The general hint is for callers who may try again; a role does that by itself.
        hint = self._hint if isinstance(error, StoreUnavailable) else error.hint
        self._say(error.message, error.detail, hint)

    def suspect(self) -> None:
        """Log that the database has not answered yet."""
        self._say(
            "the database has not answered yet",
            "The connection is neither accepted nor refused.",
            "Check host and port, and whether a firewall drops packets.",
        )

    def end(self) -> None:
        """Log that the database answers again."""
        if self._began_at is not None:
            silent_s = round(time.monotonic() - self._began_at, 3)
            log.info("database.reached", database=self._database, silent_s=silent_s)
        self._began_at = None
        self._said.clear()

    def _say(self, error: str, detail: str, hint: str) -> None:
        if self._began_at is None:
            self._began_at = time.monotonic()
        if detail in self._said:
            return
        self._said.add(detail)
        log.warning(
            "database.unreachable", database=self._database, error=f"{error}; trying again",
            detail=detail, hint=hint,
        )  # fmt: skip
