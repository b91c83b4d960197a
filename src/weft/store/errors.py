"""Translate database errors to weft's errors.

No other layer sees asyncpg's errors.
"""

import asyncio
import errno
import os
import socket
from types import MappingProxyType

import asyncpg

from weft.core import errors

_BY_SQLSTATE = MappingProxyType(
    {kind.sqlstate: kind for kind in errors.error_classes() if vars(kind).get("sqlstate")}
)
RETRIED = (
    asyncpg.DeadlockDetectedError,
    asyncpg.SerializationError,
    asyncpg.LockNotAvailableError,
    asyncpg.UndefinedFunctionError,  # a migration replaced it during the call
    asyncpg.UniqueViolationError,  # another call made the same just now: the next try finds it
)
"""The whole call may be repeated at once: nothing was done."""
MIGRATE_HINT = "Run `weft db migrate`, or start `weft up` on it, which does the same."
AWAY = (
    OSError,
    asyncio.TimeoutError,
    asyncpg.InterfaceError,
    # A statement on a connection that the server has just ended ("cannot switch to state 12").
    asyncpg.InternalClientError,
    asyncpg.PostgresConnectionError,
    asyncpg.OperatorInterventionError,  # it starts or stops, or ended the session or the statement
    asyncpg.IdleInTransactionSessionTimeoutError,
    asyncpg.InsufficientResourcesError,
    asyncpg.InvalidCatalogNameError,
)
"""The database is away, full or starting. The call may or may not have taken effect."""
NUL = (asyncpg.CharacterNotInRepertoireError, asyncpg.UntranslatableCharacterError)
"""A text has a NUL that no check found. Everything else in a Python string can be stored."""
_FILE_FAILED = (asyncpg.InternalServerError, asyncpg.PostgresIOError)
_QUOTA_SPENT = os.strerror(errno.EDQUOT)
"""PostgreSQL has no code for it: a statement that writes fails with one of these."""
_TOO_LARGE = (
    asyncpg.ProgramLimitExceededError,
    asyncpg.NumericValueOutOfRangeError,
    asyncpg.StringDataRightTruncationError,
    asyncpg.StatementTooComplexError,
    asyncpg.DatetimeFieldOverflowError,
)
"""A value is larger than a row, an index or a type can take, and no check found it."""


class LoginRefused(errors.Unavailable, code="STORE.LOGIN_REFUSED"):
    """The database answers, but refuses this login."""


class DatabaseMissing(errors.Unavailable, code="STORE.DATABASE_MISSING"):
    """The server answers, but has no database of that name."""


class LoginsTaken(errors.Conflict, code="STORE.LOGINS_TAKEN"):
    """The roles that log in belong to the whole server, and serve another installation."""

    advice = (
        "Take two tenants of one installation, or two clusters "
        "(docs/guides/external-database.md). To take the logins over from a database that is "
        "not served any more, run there as its owner: COMMENT ON ROLE weft_api IS NULL"
    )


class RightsMissing(errors.Forbidden, code="STORE.RIGHTS_MISSING"):
    """The owner of the database lacks a right that a migration needs."""


class SchemaMissing(errors.Conflict, code="STORE.SCHEMA_MISSING"):
    """The database has no schema of weft."""


class SchemaTooOld(errors.Conflict, code="STORE.SCHEMA_TOO_OLD"):
    """The database was not migrated to a schema that this program can use."""


def translated(error: Exception) -> errors.WeftError:
    """Return weft's error for an asyncpg exception."""
    if isinstance(error, asyncpg.InvalidAuthorizationSpecificationError):
        return LoginRefused(
            "the database refused the login",
            detail=f"{error}.",
            hint="Check user, password and pg_hba.conf. `weft up` sets the passwords of the roles "
            "anew: another home that uses the same server takes them away from this one.",
        )
    if isinstance(error, asyncpg.InvalidCatalogNameError):
        return DatabaseMissing(
            "the database does not exist",
            detail=f"{error}.",
            hint="Create it (`CREATE DATABASE …`), or correct its name in the DSN.",
        )
    if isinstance(error, NUL):
        return errors.NulCharacter(
            errors.NulCharacter.fact, detail="The database cannot store it in a text or a key."
        )
    if isinstance(error, asyncpg.DiskFullError) or (
        isinstance(error, _FILE_FAILED) and _QUOTA_SPENT in f"{error}"
    ):
        return errors.DiskFull("the disk of the database is full", detail=_why_away(error))
    if isinstance(error, AWAY):
        return errors.StoreUnavailable(
            "could not reach the database",
            detail=_why_away(error),
            hint="Try again; if that does not help, run `weft doctor` and read the server's log.",
        )
    if isinstance(error, asyncpg.PostgresError) and error.sqlstate in _BY_SQLSTATE:
        kind = _BY_SQLSTATE[error.sqlstate]
        result: errors.WeftError = errors.WeftError.__new__(kind)
        # Some classes compose their text from ids; here the database has done that.
        errors.WeftError.__init__(
            result, str(error.args[0]), detail=error.detail or "", hint=error.hint or ""
        )
        result.subject = error.column_name or ""
        return result
    if isinstance(error, _TOO_LARGE):
        return errors.InvalidValue(
            "a value is too large to be stored",
            detail="A number has too many digits, or a text such as a path of names is too long.",
        )
    # Whose words these are is no business of the caller's: the log has them.
    return errors.Internal(
        "the database refused a call",
        detail="What it said is in the log.",
        hint="This is a defect of weft; the trace id finds it in the log.",
    )


def _why_away(error: Exception) -> str:
    """Return a sentence on what stands between us and the database."""
    said = getattr(error, "strerror", None) or f"{error}"
    if isinstance(error, socket.gaierror):
        return f"The name of its host cannot be resolved ({said})."
    if isinstance(error, ConnectionRefusedError):
        return f"No server accepts connections there ({said})."
    if isinstance(error, FileNotFoundError):
        return f"No server listens on its socket ({said})."
    if isinstance(error, TimeoutError):
        return "It did not answer in time."
    return f"{type(error).__name__}: {error}."
