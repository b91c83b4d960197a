"""Connections that are kept from one call to the next, and which of them a call takes.

A connection has the plans of the statements that it has run. PostgreSQL makes them anew when
autovacuum was at their tables, on each connection by itself: 5 ms for the document of a batch or a
job. So a user's calls stay on a connection, and others' calls leave it alone if they can: else
each of theirs that runs beside another one would move him to a connection with old plans.
"""

from collections.abc import Sequence

from asyncpg.pool import PoolConnectionProxy

from weft.store.turns import User


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
