"""Connections that are kept from one call to the next, which of them a call takes, and what the
log says when no database answers: once when it begins, once at its end.

A connection has the plans of the statements that it has run. PostgreSQL makes them anew when
autovacuum was at their tables, on each connection by itself: 5 ms for the document of a batch or a
job. So a user's calls stay on a connection, and others' calls leave it alone if they can: else
each of theirs that runs beside another one would move him to a connection with old plans.

One that nobody has used for a minute is closed, as it costs the server up to 20 MB; but those two
of a pool that have worked most stay, with their plans: one job alone needs two at a time, and the
first call on a new connection takes ten times as long as to open it.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress

import asyncpg
from asyncpg.pool import PoolConnectionProxy

from weft.core.database_name import database_name
from weft.core.errors import StoreUnavailable, WeftError
from weft.store.turns import User
from weft.telemetry.outage import Outage

REST_S = 60.0
"""Seconds without use, after which a connection is closed, if others are kept."""
STAY = 2
"""Connections of a pool that are not closed, however long they rest."""


class Kept:
    """A connection, and for whom it works."""

    __slots__ = ("calls", "connection", "n_calls", "rests_since", "user")

    def __init__(self, connection: PoolConnectionProxy) -> None:
        self.connection = connection
        self.user: User | None = None
        self.calls = 0
        """How many it has made for this user since it made one for another."""
        self.n_calls = 0
        self.rests_since = 0.0
        """When its last call ended, by the clock of the loop."""

    def note(self, user: User | None) -> None:
        """Note a call for this user; None: for nobody, which changes nothing."""
        if user is None:
            return
        self.calls = self.calls + 1 if user == self.user else 1
        self.user = user


class RestTimer:
    """Takes connections that rested for `REST_S` out of the list of those kept, and closes them,
    while more than `STAY` are kept. There is one timer, and none at rest.
    """

    def __init__(self, kept: list[Kept], forget: Callable[[Kept], None]) -> None:
        """`forget`: is told of each one that is closed, before its end."""
        self._kept = kept
        self._forget = forget
        self._timer: asyncio.TimerHandle | None = None

    def begin(self, kept: Kept) -> None:
        """Keep a connection, which rests from now on."""
        kept.rests_since = asyncio.get_running_loop().time()
        self._kept.append(kept)
        if self._timer is None and len(self._kept) > STAY:
            self._set_timer()

    def end(self) -> None:
        """Close nothing any more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _candidates(self) -> list[Kept]:
        return sorted(self._kept, key=lambda kept: kept.n_calls)[:-STAY]

    def _set_timer(self) -> None:
        oldest = min(kept.rests_since for kept in self._candidates())
        self._timer = asyncio.get_running_loop().call_at(oldest + REST_S, self._close)

    def _close(self) -> None:
        now, self._timer = asyncio.get_running_loop().time(), None
        # Nothing runs between the look and the end, so that nobody takes one that is closed.
        for kept in self._candidates():
            if kept.rests_since + REST_S <= now:
                self._kept.remove(kept)
                self._forget(kept)
                with suppress(asyncpg.InterfaceError):  # it ended, and went back by itself
                    kept.connection.terminate()
        if len(self._kept) > STAY:
            self._set_timer()


def index_for(user: User | None, kept: Sequence[Kept]) -> int:
    """Return the index of the connection that a call of this user takes: the one that has
    worked most often for them, else the one that has worked least often for its user. Of equals
    it is the one that has worked most of all: so one has the plans of all calls that come one by
    one, and stays when others have rested.
    """
    return max(range(len(kept)), key=lambda at: (*_fitness(kept[at], user), at))


def _fitness(kept: Kept, user: User | None) -> tuple[bool, int, int]:
    is_theirs = kept.user == user and kept.calls > 0
    return is_theirs, kept.calls if is_theirs else -kept.calls, kept.n_calls


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
