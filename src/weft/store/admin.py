"""Work of the database's owner: migrate, set passwords, make the local user, audit."""

import base64
import hashlib
import hmac
import secrets
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import uuid4

import asyncpg

from weft import __version__
from weft.core.billing.rates import MachinePrice
from weft.sql import files_of, text_of
from weft.store.database import call_on, prepare_connection
from weft.store.errors import AWAY, LoginsTaken, RightsMissing, translated
from weft.store.migrate import MigrationStatus, contract, migrate, migration_status, require_schema
from weft.store.migration_plan import PlannedStep, plan_migration
from weft.store.single_connections import LONG_CALL_S, call_long, close_single, connect_single
from weft.telemetry.trace import new_trace_id

_ROUNDS = 4096
_SALT_BYTES = 16


def scram_verifier(password: str, salt: bytes | None = None) -> str:
    """Return what `ALTER ROLE … PASSWORD` takes in place of the password.

    The password is in ASCII: others would have to be normalised first.
    """
    assert password.isascii(), "passwords of logins are made by weft"
    salt = salt or secrets.token_bytes(_SALT_BYTES)
    salted = hashlib.pbkdf2_hmac("sha256", password.encode(), salt, _ROUNDS)
    client_key = hmac.digest(salted, b"Client Key", "sha256")
    stored_key = hashlib.sha256(client_key).digest()
    server_key = hmac.digest(salted, b"Server Key", "sha256")
    return f"SCRAM-SHA-256${_ROUNDS}:{_text(salt)}${_text(stored_key)}:{_text(server_key)}"


def _text(value: bytes) -> str:
    return base64.b64encode(value).decode()


FINDING_ROWS_MAX = 100
OWNER = "the owner"
HOME_TENANT = "default"
"""What a new installation calls its own tenant (`home_tenant`)."""


@dataclass(frozen=True)
class AuditFinding:
    """One check of the audit.

    Its name, its sentence, and the rows that contradict it (none: all is well).
    """

    check: str
    sentence: str
    rows: tuple[Mapping[str, Any], ...]


class CorrectedCost(NamedTuple):
    """What the usage of a billing project under corrected prices costs."""

    tenant: str
    project: str
    before: Decimal
    after: Decimal


class CorrectedRates(NamedTuple):
    """What a correction of prices changes."""

    prices: Mapping[str, tuple[Any, Any]]
    """Before and after, per unit and hour by resource; `valid_from`: texts."""
    n_attempts: int
    """How many attempts of existing batches were charged at them."""
    costs: list[CorrectedCost]


class Admin:
    """The owner's connection."""

    def __init__(self, connection: asyncpg.Connection) -> None:
        self._connection = connection

    async def migrate(self) -> list[str]:
        """Bring the schema up to date.

        Return what was done. Raises `SchemaTooNew`, `ServerTooOld`, `MigrationChanged`,
        `RightsMissing`.
        """
        return await migrate(self._connection)

    async def plan_migration(self) -> list[PlannedStep]:
        """Return what `migrate` and `contract` would do. Raises as `migrate`."""
        return await plan_migration(self._connection)

    async def contract(self, *, force: bool = False) -> list[str]:
        """Remove everything that only older programs use.

        Return what was done. Raises `SchemaNotExpanded`, `OlderProgramsConnected`.
        """
        return await contract(self._connection, force=force)

    async def status(self) -> MigrationStatus:
        """Say how schema and program compare."""
        return await migration_status(self._connection)

    async def add_view_login(
        self, login: str, *, tenant: str, password: str, timeout_s: int, connections: int
    ) -> None:
        """Make a login that reads the views of one tenant; its password does not leave this
        process.

        Raises `TenantNotFound`, `ViewLoginTaken`, `RightsMissing`, and as `require_schema`.
        """
        await self._ask(
            "add_view_login",
            login=login,
            tenant=tenant,
            scram=scram_verifier(password),
            timeout_s=timeout_s,
            connections=connections,
        )

    async def list_view_logins(self) -> Sequence[Mapping[str, Any]]:
        """Return logins of dashboards: login, tenant, created_at. Raises as `require_schema`."""
        return [row[0] for row in await self._ask("list_view_logins")]

    async def remove_view_login(self, login: str) -> None:
        """End a login of a dashboard. Raises `ViewLoginNotFound`, and as `require_schema`."""
        await self._ask("remove_view_login", login=login)

    async def _ask(self, function: str, **arguments: Any) -> list[asyncpg.Record]:  # noqa: ANN401 (what asyncpg can encode)
        await require_schema(self._connection)
        try:
            return await call_on(self._connection, function, **arguments)
        except asyncpg.InsufficientPrivilegeError:
            raise  # `open_admin` says which rights are missing
        except asyncpg.PostgresError as error:
            raise translated(error) from error

    async def check_logins(self, home: str) -> None:
        """Raise `LoginsTaken` if the login roles serve another database, of another home."""
        other = await self._connection.fetchrow(text_of("catalog", "logins_held"), home)
        if other is not None:
            raise LoginsTaken(
                f"the logins of this server serve the database {other['database']} "
                f"of the home {other['home']}"
            )

    async def set_login_passwords(self, passwords: Mapping[str, str], home: str = "") -> None:
        """Set the passwords of the login roles, which serve this home from now on; none of them
        leaves this process. What they ask is not compiled, which takes longer than running it.

        Raises `RightsMissing`.
        """
        mark = await self._connection.fetchval(text_of("catalog", "logins_mark"), home)
        await self._connection.execute(mark)
        for role, password in passwords.items():
            statement = await self._connection.fetchval(
                "SELECT format('ALTER ROLE %1$I LOGIN PASSWORD %2$L; "
                "ALTER ROLE %1$I IN DATABASE %3$I SET jit = off; ALTER ROLE %1$I IN DATABASE %3$I "
                "SET idle_in_transaction_session_timeout = %4$s', $1::text, $2::text, "
                # An api that is stopped in a transaction may have locks for which all others wait.
                "current_database(), $3::text)",
                role,
                scram_verifier(password),
                "'5s'" if role == "weft_api" else "DEFAULT",
            )
            await self._connection.execute(statement)

    async def ensure_local_user(self, *, user: str, token: str, tenant: str | None = None) -> None:
        """Make the tenant, user, project, queue and token of a home, as far as missing.

        `tenant`: its name; None: the installation's own one, `default` if there is none yet.
        """
        if tenant is None:
            ((home,),) = await call_on(self._connection, "home_tenant")
            tenant = home or HOME_TENANT
        await call_on(
            self._connection,
            "ensure_local_user",
            tenant=tenant,
            user_name=user,
            token_hash=hashlib.sha256(token.encode()).digest(),
        )

    async def missing_tenants(self, names: Sequence[str]) -> Sequence[str]:
        """Return those of the names that no tenant has, in their order."""
        rows = await call_on(self._connection, "missing_tenants", names=names)
        return [name for (name,) in rows]

    async def count_submitters(self) -> int:
        """Return how many users of all tenants may have jobs."""
        ((count,),) = await call_on(self._connection, "count_submitters")
        return int(count)

    async def has_user(self, tenant: str, user: str) -> bool:
        """Say whether this tenant has this user."""
        rows = await call_on(
            self._connection,
            "admit_user",
            of_tenant=tenant,
            of_name=user,
            of_role=None,
            may_create=False,
        )
        return bool(rows)

    async def add_rates(self, prices: Mapping[str, str], valid_from: datetime | None) -> int:
        """Set prices per unit and hour by resource, from a moment on; return their version.

        Those not named stay. Raises `RatesFixed`, and as `require_schema`.
        """
        (row,) = await self._ask("add_rates", prices=dict(prices), new_valid_from=valid_from)
        return int(row[0])

    async def set_machine_prices(self, prices: Sequence[MachinePrice], *, actor: str) -> int:
        """Set what machines cost per hour from now on; return how many flavours changed.

        Raises `FlavourNotFound`, and as `require_schema`.
        """
        documents = [price._asdict() for price in prices]
        (row,) = await self._ask("set_machine_prices", prices=documents, actor=actor)
        return int(row[0])

    async def correct_rates(
        self,
        version: int,
        prices: Mapping[str, str],
        valid_from: datetime | None,
        *,
        actor: str,
        reason: str | None,
        dry_run: bool,
    ) -> CorrectedRates:
        """Correct prices per unit and hour, and when they begin; return what that changes.

        With `dry_run` nothing is kept. Raises `RatesNotFound`, `RatesFixed`, and as
        `require_schema`.
        """
        await require_schema(self._connection)
        transaction = self._connection.transaction()
        await transaction.start()
        try:
            before = await self._prices_of(version)
            rows = await call_long(
                self._connection,
                "correct_rates",
                version=version,
                prices=dict(prices),
                new_valid_from=valid_from,
                actor=actor,
                reason=reason,
            )
            after = await self._prices_of(version)
            n_attempts = await self._connection.fetchval(
                "SELECT count(*) FROM weft.attempt WHERE rate_card_id = $1",
                version,
                timeout=LONG_CALL_S,
            )
        except asyncpg.PostgresError as error:
            await transaction.rollback()
            raise translated(error) from error
        await (transaction.rollback() if dry_run else transaction.commit())
        changed = {name: (before[name], new) for name, new in after.items() if before[name] != new}
        return CorrectedRates(changed, n_attempts, [CorrectedCost(*row) for row in rows])

    async def _prices_of(self, version: int) -> Mapping[str, Any]:
        """Return the prices of a version and its date; nothing if there is no such version."""
        cards = [row[0] for row in await call_on(self._connection, "list_rates")]
        return {
            name: value
            for card in cards
            if card["version"] == version
            for name, value in (
                *((rate["resource"], rate["price"]) for rate in card["rates"]),
                ("valid_from", card["valid_from"]),
            )
        }

    async def audit(self) -> list[AuditFinding]:
        """Recompute everything derived from the base rows, in one snapshot.

        Return each check with its differences. Raises as `require_schema`.
        """
        await require_schema(self._connection)
        async with self._connection.transaction(isolation="repeatable_read", readonly=True):
            return [
                AuditFinding(
                    check=file.name,
                    sentence=file.sentence,
                    rows=tuple(
                        dict(row)
                        for row in (await self._connection.fetch(file.text, timeout=LONG_CALL_S))[
                            :FINDING_ROWS_MAX
                        ]
                    ),
                )
                for file in files_of("audit")
            ]

    async def record_audit(
        self, findings: Sequence[AuditFinding], *, took_ms: int, actor: str = OWNER
    ) -> None:
        """Keep what an audit has found, for `weft system`. A server that only reads keeps nothing.

        Raises as `require_schema`.
        """
        await require_schema(self._connection)
        wrong = [
            {"check": finding.check, "sentence": finding.sentence, "n_rows": len(finding.rows)}
            for finding in findings
            if finding.rows
        ]
        with suppress(asyncpg.ReadOnlySQLTransactionError):
            async with self.recorded("audit", "weft audit", actor):
                await call_on(
                    self._connection,
                    "record_audit",
                    took_ms=took_ms,
                    version=__version__,
                    n_checks=len(findings),
                    wrong=wrong,
                )

    @asynccontextmanager
    async def recorded(self, action: str, command: str, actor: str) -> AsyncIterator[None]:
        """Do what follows in one transaction, with an entry in the trail if it changes anything.
        The owner is of no tenant: administrators of the site see it.
        """
        request = {
            "request_id": uuid4(),
            "user_name": actor,
            "trace_id": new_trace_id(),
            "action": action,
            "path": command,
        }
        async with self._connection.transaction():
            yield
            await call_on(self._connection, "record_request", request=request, n_rows=0)

    async def machines(self) -> list[Mapping[str, Any]]:
        """Return every machine with its owner. Raises as `require_schema`."""
        await require_schema(self._connection)
        text = text_of("catalog", "machines_with_owners")
        return [dict(row) for row in await self._connection.fetch(text)]

    async def changed_since(self, at: datetime) -> list[Mapping[str, Any]]:
        """Return what jobs have run or came since, for who gives up this database for a copy."""
        text = text_of("catalog", "changed_since")
        return [dict(row) for row in await self._connection.fetch(text, at, timeout=LONG_CALL_S)]


@asynccontextmanager
async def open_admin(dsn: str) -> AsyncIterator[Admin]:
    """Connect as the owner of the database. Raises `Unavailable`, `LoginRefused`.

    Database errors are translated while the connection is held, too.
    """
    try:
        connection = await connect_single(dsn, timezone="UTC")
        await prepare_connection(connection)
        await connection.execute("SET jit = off")  # as for the logins of weft
    except (asyncpg.PostgresError, *AWAY) as error:
        raise translated(error) from error
    try:
        yield Admin(connection)
    except asyncpg.InsufficientPrivilegeError as error:
        raise await _rights_missing(connection, error) from error
    except (asyncpg.PostgresError, *AWAY) as error:
        raise translated(error) from error
    finally:
        await close_single(connection)


async def _rights_missing(
    connection: asyncpg.Connection, error: asyncpg.InsufficientPrivilegeError
) -> RightsMissing:
    user = await connection.fetchval("SELECT quote_ident(current_user)")
    database = await connection.fetchval("SELECT quote_ident(current_database())")
    told = f"{error}. {error.detail or ''}".strip()
    return RightsMissing(
        f"the user {user} may not prepare the database {database} for weft",
        detail=f"{told[0].upper()}{told[1:]}",
        hint=f"As a superuser: ALTER DATABASE {database} OWNER TO {user}; "
        f"ALTER ROLE {user} CREATEROLE; and where another user made the roles of weft: "
        "GRANT weft_tenant, weft_system, weft_views, weft_api, weft_driver, weft_worker "
        f"TO {user} WITH ADMIN OPTION. See docs/guides/external-database.md.",
    )
