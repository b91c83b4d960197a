"""The owner of the database need not be a superuser; and what is missing is said."""

import asyncio
import base64
import hmac
import secrets
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from contexts import connected
from up.external_server import INSTALLED, ExternalServer, external_server
from weft.core.errors import WeftError
from weft.ports.store import Caller
from weft.run.database import external_secrets, prepare_schema
from weft.store import open_admin, open_api_store
from weft.store.admin import scram_verifier
from weft.store.embedded.account import server_account
from weft.store.embedded.server import _program
from weft.store.errors import (
    DatabaseMissing,
    LoginRefused,
    LoginsTaken,
    RightsMissing,
    SchemaMissing,
)

pytestmark = pytest.mark.heavy

LOGINS = ("weft_api", "weft_driver", "weft_worker")
ROLES = ("weft_tenant", "weft_system", "weft_views", *LOGINS)
PASSWORD = "owner's"


def _embedded_program() -> Path:
    return _program("postgres", server_account(Path("/nonexistent")))


@pytest.fixture(scope="module", params=[None, *INSTALLED], ids=lambda p: p and p.parts[-3])
def server(request: pytest.FixtureRequest) -> Iterator[ExternalServer]:
    """Give a cluster in which nobody has made the roles of weft yet."""
    with external_server(request.param or _embedded_program()) as server:
        yield server


@pytest.fixture
def names(server: ExternalServer) -> Iterator[tuple[str, str]]:
    """Give names for an owner and a database; leave the cluster as it was."""
    name = f"n{secrets.token_hex(4)}"
    yield f"{name}_owner", name
    execute(
        server.dsn(),
        f"DROP DATABASE IF EXISTS {name}",
        *(f"DROP ROLE IF EXISTS {role}" for role in ROLES),
        f"DROP ROLE IF EXISTS {name}_owner",
    )


def execute(dsn: str, *statements: str) -> None:
    async def run() -> None:
        async with connected(dsn) as connection:
            for statement in statements:
                await connection.execute(statement)

    asyncio.run(run())


def make(server: ExternalServer, names: tuple[str, str], rights: str, *more: str) -> str:
    """Make an owner with these rights, and its database; return the owner's DSN."""
    owner, database = names
    quoted = PASSWORD.replace("'", "''")
    execute(
        server.dsn(),
        f"CREATE ROLE {owner} LOGIN {rights} PASSWORD '{quoted}'",
        f"CREATE DATABASE {database} OWNER {owner} TEMPLATE template0",
        f"REVOKE CONNECT ON DATABASE {database} FROM PUBLIC",
        *(statement.format(owner=owner, database=database) for statement in more),
    )
    return server.dsn(owner, PASSWORD, database)


async def prepare(dsn: str, password: str) -> list[str]:
    """Do what `weft up` does at its start."""
    async with open_admin(dsn) as admin:
        applied = await admin.migrate()
        await admin.set_login_passwords(dict.fromkeys(LOGINS, password))
        await admin.ensure_local_user(tenant="local", user="me", token="a token")
        assert [finding for finding in await admin.audit() if finding.rows] == []
    return applied


async def authenticate(dsn: str) -> Caller | None:
    async with open_api_store(dsn) as store:
        return await store.authenticate("a token")


@pytest.mark.slow
def test_owner_that_may_create_roles_needs_nothing_else(
    server: ExternalServer, names: tuple[str, str]
) -> None:
    dsn = make(server, names, "CREATEROLE")
    first = asyncio.run(prepare(dsn, "first"))
    second = asyncio.run(prepare(dsn, "second"))

    assert first
    assert second == []
    assert asyncio.run(authenticate(server.dsn("weft_api", "second", names[1]))) is not None
    with pytest.raises(LoginRefused):
        asyncio.run(authenticate(server.dsn("weft_api", "first", names[1])))


@pytest.mark.slow
def test_second_home_on_a_server_does_not_take_the_logins(
    server: ExternalServer, names: tuple[str, str]
) -> None:
    """Only another home is refused: the one that they serve may go to a restored copy."""

    def start(dsn: str, home: str) -> None:
        secrets = external_secrets(dsn, {})
        asyncio.run(prepare_schema(dsn, secrets, "me", "a token", home=home))
        assert asyncio.run(authenticate(secrets["weft_api"])) is not None

    async def version(dsn: str) -> str | None:
        async with open_admin(dsn) as admin:
            return (await admin.status()).version

    owner, database = names
    first = make(server, names, "CREATEROLE")
    other, quoted = f'{database}, home "2', f'"{database}, home ""2"'
    execute(server.dsn(), f"CREATE DATABASE {quoted} OWNER {owner} TEMPLATE template0")
    second = server.dsn(owner, PASSWORD, quote(other))
    try:
        start(first, "/a on host")
        with pytest.raises(LoginsTaken, match=f"{database} of the home /a on host"):
            start(second, "/b on host")
        assert asyncio.run(version(second)) is None
        start(second, "/a on host")
        with pytest.raises(LoginsTaken, match="/a on host"):
            start(first, "/b on host")
        execute(first, "COMMENT ON ROLE weft_api IS NULL")
        start(first, "/b on host")
    finally:
        execute(server.dsn(), f"DROP DATABASE {quoted} WITH (FORCE)")


@pytest.mark.slow
@pytest.mark.parametrize("rights", ["NOCREATEROLE", "CREATEROLE"])
def test_what_the_error_advises_helps(
    server: ExternalServer, names: tuple[str, str], rights: str
) -> None:
    """A user without rights, or one who finds the roles made by somebody else (from 16 on)."""
    dsn = make(server, names, rights, *(f"CREATE ROLE {role}" for role in ROLES))
    before: WeftError | None = None
    try:
        asyncio.run(prepare(dsn, "password"))
    except WeftError as error:
        before = error
    if before is not None:
        execute(
            server.dsn(),
            *before.hint.partition(": ")[2]
            .replace("and where another user made the roles of weft: ", "")
            .partition(". See")[0]
            .split(";"),
        )
        asyncio.run(prepare(dsn, "password"))

    assert isinstance(before, RightsMissing) or rights == "CREATEROLE"
    assert asyncio.run(authenticate(server.dsn("weft_api", "password", names[1]))) is not None


@pytest.mark.slow
def test_owner_without_the_right_to_create_roles_is_told(
    server: ExternalServer, names: tuple[str, str]
) -> None:
    dsn = make(server, names, "")
    with pytest.raises(RightsMissing, match="may not prepare") as caught:
        asyncio.run(prepare(dsn, "password"))

    assert "create role" in caught.value.detail
    assert f"ALTER ROLE {names[0]} CREATEROLE" in caught.value.hint
    assert PASSWORD not in caught.value.detail + caught.value.hint


@pytest.mark.slow
def test_wrong_password_database_and_schema_are_told_apart(
    server: ExternalServer, names: tuple[str, str]
) -> None:
    async def audit(dsn: str) -> None:
        async with open_admin(dsn) as admin:
            await admin.audit()

    dsn = make(server, names, "CREATEROLE")
    with pytest.raises(SchemaMissing):
        asyncio.run(audit(dsn))
    with pytest.raises(LoginRefused):
        asyncio.run(audit(server.dsn(names[0], "wrong", names[1])))
    with pytest.raises(DatabaseMissing):
        asyncio.run(audit(server.dsn(database="nonesuch")))


def test_verifier_is_that_of_the_standard() -> None:
    """The exchange of RFC 7677, section 3, of which the server's signature proves its key."""
    nonce = "rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
    salt = "W22ZaJ0SNY7soEsUEjb6gQ=="
    told = f"n=user,r=rOprNGfwEbeRWgbNEkqO,r={nonce},s={salt},i=4096,c=biws,r={nonce}"
    verifier = scram_verifier("pencil", base64.b64decode(salt))
    server_key = base64.b64decode(verifier.rpartition(":")[2])
    signature = base64.b64encode(hmac.digest(server_key, told.encode(), "sha256")).decode()

    assert verifier.startswith(f"SCRAM-SHA-256$4096:{salt}$")
    assert signature == "6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="
