"""The database of a home: the embedded server or an external one, at this program's schema.

Logins: the owner (`admin`), who migrates, and one per role, who may call that role's functions.
Their passwords are random and kept in `secrets.json`, apart for each database.
"""

import asyncio
import subprocess
from collections.abc import Mapping
from contextlib import suppress

from weft.core.errors import Conflict
from weft.run.home import Home, InterruptedRestore
from weft.run.login import LOGINS, check_dsn, password_of, with_login
from weft.run.secrets_file import EMBEDDED
from weft.store.embedded import EmbeddedServer, new_password
from weft.telemetry.log import log

_SUPERUSER = "postgres"


class SecretsLost(Conflict, code="UP.SECRETS_LOST"):
    """The embedded server exists, but its passwords are missing."""


class RestoreInterrupted(Conflict, code="UP.RESTORE_INTERRUPTED"):
    """A `weft restore` of this home was killed between its steps."""

    def __init__(self, home: Home, restore: InterruptedRestore) -> None:
        aside = restore.moved_to
        if aside is None:
            before, back = (
                "Nothing was there before.",
                f"To begin with nothing, remove {home.pg} and",
            )
        elif aside.exists():
            before = f"What was there before stands in {aside}."
            back = f"To go back instead, rename that to {home.pg}, in place of what is there, and"
        else:
            before = f"What was there before still stands in {home.pg}."
            back = "To go on with that instead,"
        super().__init__(
            f"a restore of {home.path} was interrupted",
            detail=before,
            hint=f"Run `weft restore {restore.backup}` again. {back} remove {home.restore_file}.",
        )


class EmbeddedDatabase:
    """The server in the home."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self.log_path = home.role_logs / "postgres.log"
        self._server = EmbeddedServer(home.pg, home.socket_dir())

    async def start(self) -> subprocess.Popen[bytes]:
        """Start the server as our child; create it the first time.

        Raises `RestoreInterrupted`, `SecretsLost`, and what `EmbeddedServer` raises.
        """
        if (interrupted := self._home.interrupted_restore()) is not None:
            raise RestoreInterrupted(self._home, interrupted)
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
    admin_dsn: str,
    secrets: Mapping[str, str],
    user: str,
    token: str,
    *,
    home: str = "",
    only_ours: bool = False,
) -> None:
    """Bring the schema to this program's version and let the roles and the local user in.

    `home`: what the server calls the home that its logins serve.

    Where all programs are `only_ours`, those of an earlier release are gone, and so may go what
    only they called.

    Raises `LoginsTaken`, and what `admin.migrate` raises, such as `SchemaTooNew`. Safe to repeat.
    """
    from weft.store import OlderProgramsConnected, open_admin  # noqa: PLC0415 (the supervisor first starts roles)

    async with open_admin(admin_dsn) as admin:
        await admin.check_logins(home)
        applied = await admin.migrate()
        if applied:
            log.info("up.migrated", migrations=len(applied), last=applied[-1])
        if only_ours:
            with suppress(OlderProgramsConnected):  # somebody connected by hand
                await admin.contract()
        passwords = {name: password_of(secrets[name]) for name in LOGINS}
        await admin.set_login_passwords(passwords, home)
        await admin.ensure_local_user(user=user, token=token)
