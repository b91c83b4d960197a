"""The database of a home: the embedded server or an external one, at this program's schema.

Logins: the owner (`admin`), who migrates, and one per role, who may call that role's functions.
Their passwords are random and kept in `secrets.json`, apart for each database.
"""

import asyncio
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit, urlunsplit

from weft.core.errors import Conflict, Invalid
from weft.run.home import Home
from weft.run.secrets_file import EMBEDDED
from weft.store import OlderProgramsConnected, open_admin
from weft.store.embedded import EmbeddedServer, new_password
from weft.telemetry.log import get_logger

log = get_logger()

LOGINS = ("weft_api", "weft_driver", "weft_worker")
_SUPERUSER = "postgres"


class BadDsn(Invalid):
    """`--database` is not a URL of PostgreSQL."""

    code = "UP.BAD_DSN"


class SecretsLost(Conflict):
    """The embedded server exists, but its passwords are missing."""

    code = "UP.SECRETS_LOST"


class EmbeddedDatabase:
    """The server in the home."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self.log_path = home.role_logs / "postgres.log"
        self._server = EmbeddedServer(home.pg, home.socket_dir())

    async def start(self) -> subprocess.Popen[bytes]:
        """Start the server as our child; create it the first time."""
        secrets = self.logins()
        if not self._server.is_initialised:
            # The passwords come first: a crash between the two must not lock us out.
            self._home.write_secrets(secrets, EMBEDDED, in_use=False)
            await asyncio.to_thread(self._server.initialise, password_of(secrets["admin"]))
        process = self._server.spawn(log=self.log_path)
        await asyncio.to_thread(self._server.wait_ready)
        return process

    def logins(self) -> dict[str, str]:
        """Return the logins with their kept passwords; the path of the socket may have changed."""
        known = self._home.secrets(EMBEDDED)
        if self._server.is_initialised and "admin" not in known:
            raise SecretsLost(
                "cannot log in to the embedded database",
                detail=f"{self._home.secrets_file} is missing, damaged or without its passwords.",
                hint=f"Restore it from a copy, or move {self._home.pg} away to start over.",
            )
        return {
            name: self._server.dsn(user, password_of(known.get(name, "")) or new_password())
            for name, user in (("admin", _SUPERUSER), *zip(LOGINS, LOGINS, strict=True))
        }

    async def stop(self, *, fast: bool) -> None:
        """Stop the server."""
        await asyncio.to_thread(self._server.stop, fast=fast)


def check_dsn(dsn: str) -> str:
    """Return a DSN that is a URL of PostgreSQL. Raise `BadDsn`, without the password in it."""
    why = "It must begin with postgresql://."
    try:
        parts = urlsplit(dsn)
        if parts.scheme in {"postgresql", "postgres"} and (parts.port or 1) > 0:
            return dsn
    except ValueError as error:
        why = f"{error}."
    raise BadDsn(
        "the setting `database` is not a URL of PostgreSQL",
        detail=why,
        hint="Write it as postgresql://user:password@host:5432/database.",
    )


def external_secrets(dsn: str, known: Mapping[str, str]) -> dict[str, str]:
    """Return the logins on an external server: passwords as known, or new ones."""
    check_dsn(dsn)
    return {
        "admin": dsn,
        **{
            name: with_login(dsn, name, password_of(known.get(name, "")) or new_password())
            for name in LOGINS
        },
    }


async def prepare_schema(
    admin_dsn: str, secrets: Mapping[str, str], user: str, token: str, *, only_ours: bool = False
) -> None:
    """Bring the schema to this program's version and let the roles and the local user in.

    Where all programs are `only_ours`, those of an earlier release are gone, and so may go what
    only they called.

    Raises what `admin.migrate` raises, such as `SchemaTooNew`. Safe to repeat.
    """
    async with open_admin(admin_dsn) as admin:
        applied = await admin.migrate()
        if applied:
            log.info("up.migrated", migrations=len(applied), last=applied[-1])
        if only_ours:
            with suppress(OlderProgramsConnected):  # somebody connected by hand
                await admin.contract()
        await admin.set_login_passwords({name: password_of(secrets[name]) for name in LOGINS})
        await admin.ensure_local_user(user=user, token=token)


def password_of(dsn: str) -> str:
    """Return the password in a DSN; empty if there is none."""
    return unquote(urlsplit(dsn).password or "")


def with_login(dsn: str, user: str, password: str) -> str:
    """Return the DSN with another login.

    >>> with_login("postgresql://me:pw@db:5432/weft?user=x&sslmode=require", "weft_api", "s")
    'postgresql://weft_api:s@db:5432/weft?sslmode=require'
    """
    parts = urlsplit(dsn)
    hosts = parts.netloc.rpartition("@")[2]
    query = [(k, v) for k, v in parse_qsl(parts.query) if k not in {"user", "password"}]
    login = f"{quote(user, safe='')}:{quote(password, safe='')}"
    return urlunsplit(parts._replace(netloc=f"{login}@{hosts}", query=urlencode(query)))
