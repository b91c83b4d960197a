"""Connections that are kept from one call to the next, which of them a call takes, and what the
log says when no database answers: once when it begins, once at its end.

A connection has the plans of the statements that it has run. PostgreSQL makes them anew when
autovacuum was at their tables, on each connection by itself: 5 ms for the document of a batch or a
job. So a user's calls stay on a connection, and others' calls leave it alone if they can: else
each of theirs that runs beside another one would move him to a connection with old plans.
"""

from collections.abc import Sequence

from asyncpg.pool import PoolConnectionProxy

from weft.core.database_name import database_name
from weft.core.errors import StoreUnavailable, WeftError
from weft.store.turns import User
from weft.telemetry.outage import Outage


class Kept:
    """A connection, and for whom it works."""

    __slots__ = ("calls", "connection", "n_calls", "user")

    def __init__(self, connection: PoolConnectionProxy) -> None:
        self.connection = connection
        self.user: User | None = None
        self.calls = 0
        """How many it has made for this user since it made one for another."""
        self.n_calls = 0

    def note(self, user: User | None) -> None:
        """Note a call for this user; None: for nobody, which changes nothing."""
        if user is None:
            return
        self.calls = self.calls + 1 if user == self.user else 1
        self.user = user


def index_for(user: User | None, kept: Sequence[Kept]) -> int:
    """Return the index of the connection that a call of this user takes: the one that has
    worked most often for them, else the one that has worked least often for its user. Of equals
    it is the last one, which was used last.
    """
    found, most, least = -1, 0, len(kept) - 1
    for at in range(len(kept) - 1, -1, -1):
        one = kept[at]
        if one.user == user and one.calls > most:
            found, most = at, one.calls
        elif one.calls < kept[least].calls:
            least = at
    return found if found >= 0 else least


_HINT = "Check that the server runs, and host and port in the setting `{}`."


class DatabaseOutage(Outage):
    """Whether the database of a program is out of reach, and since when."""

    def __init__(self, dsn: str, setting: str = "database") -> None:
        """`setting`: that says where it is."""
        name = database_name(dsn)
        super().__init__("database.unreachable", "database.reached", database=name)
        self._hint = _HINT.format(setting)

    def begin(self, error: WeftError) -> None:
        """Log why the database is out of reach, unless it was said before."""
        # The general hint is for callers who may try again; a role does that by itself.
        hint = self._hint if isinstance(error, StoreUnavailable) else error.hint
        self.say(error.message, error.detail, hint)

    def suspect(self) -> None:
        """Log that the database has not answered yet."""
        self.say(
            "the database has not answered yet",
            "The connection is neither accepted nor refused.",
            "Check host and port, and whether a firewall drops packets.",
        )
