"""Sources, sinks and look-ups of kind `sql`, on a real PostgreSQL."""

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import parse_qs, urlsplit

import asyncpg
import pytest

from callbacks.sink_site import KEYS, ROW, site
from contexts import connected
from weft.core.addresses import parse_allowed_hosts
from weft.ports.lookup import LookUpAway
from weft.ports.sink import SinkMessage
from weft.ports.source import Reading, SourceFailed, SourceSite
from weft_lines.lookups.sql import SqlLookUp
from weft_lines.sinks import sql
from weft_lines.sinks.sql import SqlSink
from weft_lines.sources import sql as asks
from weft_lines.sources.sql import SqlSource
from weft_testing.sink_suite import BODY, SinkSuite

HERE = parse_allowed_hosts("127.0.0.1")
TABLES = """
    CREATE TABLE scene (
        id bigint PRIMARY KEY, tile text, cloud numeric, published timestamptz, day date);
    CREATE TABLE product (delivery uuid PRIMARY KEY, tile text, n int CHECK (n < 9), whole jsonb);
    CREATE TABLE got (name text PRIMARY KEY, whole text)
"""


class Archive:
    """A database of its own, reached over TCP as databases elsewhere are."""

    def __init__(self, dsn: str, port: int) -> None:
        self.dsn = dsn
        parts = urlsplit(dsn)
        self.login = parts.netloc.rpartition("@")[0]
        self.url = f"postgresql://{self.login}@127.0.0.1:{port}{parts.path}?sslmode=disable"
        self.port = port
        self.swallow: bytes | None = None
        """Of a connection that sends this, the answer to the rest is lost."""
        self.n_bytes = 0
        """That the server has sent."""
        self.silent: bytes | None = None
        """A connection that sends this gets no answer any more, and stays."""

    async def execute(self, text: str, *values: object) -> None:
        async with connected(self.dsn) as connection:
            await connection.execute(text, *values)

    async def fetch(self, text: str) -> list[asyncpg.Record]:
        async with connected(self.dsn) as connection:
            return [*await connection.fetch(text)]


@asynccontextmanager
async def relay(dsn: str) -> AsyncIterator[Archive]:
    """Give a port that leads to the socket of the server."""
    directory = parse_qs(urlsplit(dsn).query)["host"][0]

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        back, forth = await asyncio.open_unix_connection(f"{directory}/.s.PGSQL.5432")
        lost = silent = False

        async def copy(one: asyncio.StreamReader, to: asyncio.StreamWriter, *, up: bool) -> None:
            nonlocal lost, silent
            while piece := await one.read(1 << 16):
                if up and found.swallow is not None and found.swallow in piece:
                    lost = True
                silent = silent or (up and found.silent is not None and found.silent in piece)
                if silent:
                    continue
                found.n_bytes += 0 if up else len(piece)
                if up or not lost:
                    to.write(piece)
                else:
                    writer.transport.abort()
                    return
            to.close()

        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(copy(reader, forth, up=True))
                group.create_task(copy(back, writer, up=False))
        except* ConnectionError:
            pass  # one side is gone
        finally:
            forth.transport.abort()
            writer.transport.abort()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        found = Archive(dsn, server.sockets[0].getsockname()[1])
        yield found


@pytest.fixture
async def archive(empty_database: dict[str, str]) -> AsyncIterator[Archive]:
    async with relay(empty_database["admin"]) as found:
        await found.execute(TABLES)
        yield found


class Reader:
    """Reads as a driver does: it hands back the cursor of what it has kept."""

    def __init__(self, archive: Archive, query: str, items_max: int = 500, **more: Any) -> None:  # noqa: ANN401
        self.options = {"url": archive.url, "query": query, **more}
        self.site = SourceSite(allowed=HERE, timeout_s=20, items_max=items_max)
        self.cursor: Any = None

    async def read(self) -> Reading:
        reading = await asyncio.to_thread(SqlSource().read, self.options, self.cursor, self.site)
        self.cursor = json.loads(json.dumps(reading.cursor))
        return reading

    async def keys(self) -> list[str]:
        """Read until there is nothing more."""
        found: list[str] = []
        while True:
            reading = await self.read()
            found += [one.key for one in reading.items]
            if not reading.more:
                return found

    async def failure(self) -> str:
        with pytest.raises(SourceFailed) as caught:
            await self.read()
        return str(caught.value)


async def test_rows_are_items(archive: Archive) -> None:
    await archive.execute("INSERT INTO scene VALUES (7, 'T1', 12.5, '2026-04-13T10:13:47Z')")
    reader = Reader(
        archive,
        "SELECT id AS key, tile, cloud, published FROM scene WHERE tile = :tile;",
        values={"tile": "T1"},
    )
    (item,) = (await reader.read()).items
    assert item.key == "7"
    assert item.fields == {
        "key": "7",
        "tile": "T1",
        "cloud": 12.5,
        "published": "2026-04-13T10:13:47+00:00",
    }
    reader.options["values"] = {"tile": "'; DROP TABLE scene --"}
    assert (await reader.read()).items == []
    reader.options["query"] = "SELECT tile FROM scene"
    (item,) = (await reader.read()).items
    assert item.fields is None
    assert "no key" in item.error


async def test_cursor_leaves_no_row_out(archive: Archive) -> None:
    """Also not of many that have the same date, or that are committed later."""
    await archive.execute(
        "INSERT INTO scene SELECT n, 'T', 0, '2026-04-13T10:00:00Z'::timestamptz "
        "+ interval '1 min' * (n / 5) FROM generate_series(1, 40) n; "
        "INSERT INTO scene VALUES (99, 'T', 0, NULL), (98, 'T', 0, now() + interval '1 year')"
    )
    reader = Reader(
        archive,
        "SELECT id AS key, published FROM scene",
        items_max=3,
        cursor={"field": "published", "first": "2026-04-13T09:00:00Z", "overlap": "2m"},
    )
    found = await reader.keys()
    assert sorted(found, key=int) == [*map(str, [*range(1, 41), 98])]
    assert len(set(found)) == len(found)
    await archive.execute("INSERT INTO scene VALUES (50, 'T', 0, '2026-04-13T10:07:30Z')")
    again = await reader.keys()
    assert "50" in again
    assert "1" not in again


async def test_numbers_and_dates_are_cursors(archive: Archive) -> None:
    await archive.execute(
        "INSERT INTO scene SELECT n, 'T', 0, NULL, '2026-04-01'::date + n "
        "FROM generate_series(1, 5) n"
    )
    by_number = Reader(
        archive,
        "SELECT id AS key FROM scene WHERE id > :cursor",
        items_max=2,
        cursor={"field": "key", "first": "2"},
    )
    assert await by_number.keys() == ["3", "4", "5"]
    assert await by_number.keys() == []
    by_day = Reader(
        archive, "SELECT id AS key, day FROM scene", items_max=2, cursor={"field": "day"}
    )
    assert await by_day.keys() == ["1", "2", "3", "4", "5"]
    assert await by_day.keys() == ["5"]


@pytest.mark.parametrize(
    ("made", "between"),
    [
        ("(n + 0.123456789012345678901234567890)::numeric", "4.5"),
        ("n * 1e20::float8", "4.5e20"),
        ("n::float4 / 7", "0.65"),
        ("'a' || n", "'a45'"),
        ("(20990100 + n)::text", "'209901045'"),
        ("lpad(n::text, 32, '0')::uuid", "'00000000-0000-0000-0000-000000000004'"),
        ("'1999-01-01'::date - interval '1 day' * (9 - n)", "'1998-12-27 01:00'"),
    ],
)
async def test_whatever_has_an_order_is_a_cursor(
    archive: Archive, made: str, between: str
) -> None:
    """Each reading goes on where the one before has ended, exactly."""
    await archive.execute(
        "CREATE TABLE x AS SELECT MADE AS at, n AS key FROM generate_series(1, 5) n".replace(
            "MADE", made
        )
    )
    reader = Reader(archive, "SELECT key, at FROM x", items_max=2, cursor={"field": "at"})
    if "interval" in made:
        reader.options["cursor"]["overlap"] = "0s"
    assert await reader.keys() == ["1", "2", "3", "4", "5"]
    assert await reader.keys() == []
    await archive.execute("INSERT INTO x VALUES (MADE, 9)".replace("MADE", between))
    assert await reader.keys() == []
    await archive.execute("INSERT INTO x SELECT at, 10 FROM x ORDER BY at DESC LIMIT 1")
    assert await reader.keys() == []
    assert reader.cursor["newest"] is not None


async def test_overlap_of_numbers_finds_what_is_committed_late(archive: Archive) -> None:
    await archive.execute(
        "CREATE TABLE x AS SELECT n::numeric AS key FROM unnest('{7,8,11}'::int[]) n"
    )
    reader = Reader(
        archive, "SELECT key FROM x", items_max=2, cursor={"field": "key", "overlap": 3}
    )
    assert await reader.keys() == ["7", "8", "11"]
    await archive.execute("INSERT INTO x VALUES (10), ('NaN')")
    assert await reader.keys() == ["10", "11", "NaN"]
    assert reader.cursor["newest"] == "11"
    reader.options["cursor"]["overlap"] = "1h"
    assert "key is a number: write one" in await reader.failure()
    for overlap, query, why in (
        ("1h", "SELECT 7 AS key", "key is a number: write one"),
        (3, "SELECT now() AS key", 'key is a date: write a time such as "1h"'),
        ("1h", "SELECT 'x' AS key", "key is of type text, which has none"),
    ):
        cursor = {"field": "key", "overlap": overlap}
        assert why in await Reader(archive, query, cursor=cursor).failure()


async def test_what_a_query_may_not_do(archive: Archive) -> None:
    """Each is a failure that says where, and changes nothing."""
    await archive.execute("INSERT INTO scene SELECT n FROM generate_series(1, 9) n")
    said = {
        query: await Reader(archive, query, **more).failure()  # type: ignore[arg-type]
        for query, more in {
            "SELECT id AS key,\n  tille FROM scene": {},
            "DELETE FROM scene RETURNING id AS key": {},
            "SELECT id AS key FROM scene -- all": {"items_max": 8},
            "SELECT setval('s', 1) AS key": {},
            "SELECT set_config('transaction_read_only', 'off', false) AS key": {},
            "SELECT id FROM scene": {"cursor": {"field": "publisched"}},
            "SELECT id FROM scene WHERE tile = 1": {},
            "SELECT id FROM scene WHERE id = :id": {"values": {"id": "x"}},
        }.items()
    }
    for part, one in zip(
        (
            'query, line 2: column "tille"',
            "query, line 1: syntax error",
            "more than 8 rows",
            "does not exist",
            "transaction read-write mode",
            "cursor: column q.publisched",
            "query, line 1: operator does not exist",
            "invalid input syntax",
        ),
        said.values(),
        strict=True,
    ):
        assert part in one
    assert len(await archive.fetch("SELECT FROM scene")) == 9


async def test_query_that_takes_too_long_ends_at_the_server(archive: Archive) -> None:
    reader = Reader(archive, "SELECT 1 AS key FROM pg_sleep(60)")
    reader.site = SourceSite(allowed=HERE, timeout_s=1)
    assert "did not answer in time" in await reader.failure()
    running = """
        SELECT FROM pg_stat_activity
        WHERE state = 'active' AND query LIKE '%pg_sleep(60)%' AND pid <> pg_backend_pid()
    """
    async with asyncio.timeout(20):
        while await archive.fetch(running):
            pass


async def test_server_that_falls_silent_costs_the_timeout_and_no_more(
    archive: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also in the middle of a transaction, whose ROLLBACK would never be answered."""
    monkeypatch.setattr(sql, "_TIMEOUT_S", 1.0)
    archive.silent = b"canary"
    reader = Reader(archive, "SELECT 'canary' AS key")
    reader.site = SourceSite(allowed=HERE, timeout_s=1)
    message = SinkMessage(1, "t", "d7", BODY, {"statement": "SELECT 'canary'"})
    async with asyncio.timeout(20):
        assert "did not answer in time" in await reader.failure()
        answered = await SqlSink(site()).send({"url": archive.url, "sealed": None}, message)
    assert "did not answer in time" in str(answered.error)
    assert not answered.delivered


@asynccontextmanager
async def hostile(*answers: bytes) -> AsyncIterator[str]:
    """Give the address of a server that answers each piece by the next of these."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            for one in answers:
                await reader.read(1 << 16)
                writer.write(one[:1] + (len(one) + 3).to_bytes(4, "big") + one[1:])
            await reader.read(1 << 16)
        finally:
            writer.transport.abort()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        yield f"postgresql://ann:secret@127.0.0.1:{port}/x?sslmode=disable"


SASL = b"R" + (10).to_bytes(4, "big") + b"SCRAM-SHA-256\0\0"


@pytest.mark.parametrize(
    ("answers", "why"),
    [
        (
            (SASL, b"R" + (11).to_bytes(4, "big") + b"garbage"),
            "cannot be read (InternalClientError)",
        ),
        ((b"E" + bytes(1 << 17),), "connection was closed"),
    ],
    ids=["garbage", "large"],
)
async def test_answers_that_nobody_can_read_are_failures(
    monkeypatch: pytest.MonkeyPatch, answers: tuple[bytes, ...], why: str
) -> None:
    monkeypatch.setattr(asks, "ANSWER_BYTES_MAX", 1 << 16)
    async with hostile(*answers) as url:
        options = {"url": url, "query": "SELECT 1 AS key"}
        with pytest.raises(SourceFailed) as caught:
            await asyncio.to_thread(SqlSource().read, options, None, SourceSite(allowed=HERE))
        message = SinkMessage(1, "t", "d7", BODY, {"statement": "SELECT 1"})
        answered = await SqlSink(site()).send({"url": url, "sealed": None}, message)
    assert all(why in str(one) for one in (caught.value, answered.error))


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda url: url.replace("127.0.0.1", "127.0.0.2"), "source_private_hosts"),
        (lambda url: url.partition("?")[0], "it has no TLS"),
        (lambda url: url.replace("//postgres:", "//ann:"), "password authentication failed"),
        (lambda url: url.replace("sslmode=disable", "sslmode=allow"), "the address: sslmode"),
    ],
)
async def test_databases_that_are_not_asked(archive: Archive, change: Any, why: str) -> None:  # noqa: ANN401
    reader = Reader(archive, "SELECT 1 AS key")
    login = archive.login.partition(":")
    reader.options["url"] = change(archive.url.replace(archive.login, f"postgres:{login[2]}"))
    said = await reader.failure()
    assert why in said
    assert login[2] not in said


async def test_variables_of_this_account_are_not_meant(
    archive: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {
        "PGHOST": "/x",
        "PGPASSWORD": "x",
        "PGTARGETSESSIONATTRS": "standby",
    }.items():
        monkeypatch.setenv(name, value)
    assert await Reader(archive, "SELECT 1 AS key").keys() == ["1"]


async def test_look_up_is_one_row(archive: Archive) -> None:
    await archive.execute("INSERT INTO scene VALUES (1, 'A', 3), (2, 'B', 4), (3, 'B', 5)")

    def about(tile: str, query: str = "SELECT id, cloud FROM scene WHERE tile = :tile") -> object:
        options = {"url": archive.url, "query": query, "values": {"tile": tile}}
        return SqlLookUp().look_up(options, SourceSite(allowed=HERE, timeout_s=10))

    assert await asyncio.to_thread(about, "A") == {"id": 1, "cloud": 3}
    assert await asyncio.to_thread(about, "' OR true --") is None
    for tile, query, why, alone in (
        ("B", "SELECT FROM scene WHERE tile = :tile", "more than one row", True),
        ("B", "SELECT x FROM scene WHERE tile = :tile", "line 1: column", True),
        ("B", "SELECT repeat(:tile, 9000000) AS x", "more than 64 KiB", True),
    ):
        with pytest.raises(LookUpAway) as caught:
            await asyncio.to_thread(about, tile, query)
        assert why in str(caught.value)
        assert caught.value.alone is alone
    assert archive.n_bytes < 1_000_000


class TestStatements(SinkSuite):
    """The suite of sinks, and what statements may say."""

    kind = "sql"

    @pytest.fixture(autouse=True)
    def _at(self, archive: Archive) -> None:
        self.archive = archive

    def sink(self) -> SqlSink:
        return SqlSink(site())

    def target(self) -> Mapping[str, str]:
        return {"statement": "INSERT INTO got VALUES (:delivery, :message) ON CONFLICT DO NOTHING"}

    def document(self) -> Mapping[str, Any]:
        """The password is a secret, as it is stored."""
        secret = KEYS.seal(self.archive.login, ROW)
        sealed = {"tenant_id": ROW.tenant_id, "user_id": ROW.user_id, "bodies": {ROW.name: secret}}
        url = self.archive.url.replace(self.archive.login, f"${{secret.{ROW.name}}}")
        return {**super().document(), "url": url, "sealed": _as_stored(sealed)}

    def wrong_targets(self) -> Mapping[str, Mapping[str, str]]:
        return {
            'statement, line 2: relation "gone"': {"statement": "INSERT\nINTO gone VALUES (:id)"},
            "the message has no tile": {"statement": "INSERT INTO got VALUES (:tile)"},
            "check constraint": {
                "statement": "INSERT INTO product VALUES (gen_random_uuid(), 'A', :id + 9)"
            },
            "multiple commands": {"statement": "SELECT 1; SELECT 2"},
        }

    async def arrived(self) -> list[tuple[str | None, bytes]]:
        rows = await self.archive.fetch("DELETE FROM got RETURNING name, whole")
        return [(row[0], row[1].encode()) for row in rows]

    async def test_values_have_the_types_of_their_columns(self) -> None:
        sink = self.sink()
        body = json.dumps({"tile": "'); DROP TABLE got --", "n": "3", "tags": ["a", {"b": None}]})
        text = "INSERT INTO product VALUES (:delivery, :tile, :n, :message)"
        message = SinkMessage(
            1,
            "default",
            "018f0000-0000-7000-8000-000000000001",
            body.encode(),
            {"statement": text},
        )
        answered = await sink.send(self.document(), message)
        again = await sink.send(self.document(), message)
        await sink.close()
        assert answered.delivered, answered
        assert (again.delivered, again.status) == (False, 23)
        (row,) = await self.archive.fetch("SELECT * FROM product")
        assert (str(row[0]), row[1], row[2]) == (message.name, "'); DROP TABLE got --", 3)
        assert json.loads(row[3]) == json.loads(body)

    async def test_answer_that_is_lost(self) -> None:
        """The statement is committed, weft does not know it, and the next try finds it there."""
        sink = self.sink()
        self.archive.swallow = b"COMMIT"
        first = await sink.send(self.document(), self.message(self.target()))
        self.archive.swallow = None
        second = await sink.send(self.document(), self.message(self.target()))
        await sink.close()
        assert not first.delivered
        assert second.delivered
        assert await self.arrived() == [("d7", BODY)]

    async def test_rows_stay_at_the_server(self) -> None:
        """They could be more than the driver's memory; all of them are made there."""
        sink = self.sink()
        await self.archive.execute("CREATE SEQUENCE n")
        for text in (
            "INSERT INTO got SELECT generate_series(1, 20) RETURNING repeat('x', 1000000)",
            "SELECT nextval('n'), repeat('x', 1000000) FROM generate_series(1, 20)",
            "SELECT FROM generate_series(1, 20) WHERE nextval('n') > 0",
            "SELECT FROM got WHERE name = 'none'",
        ):
            answered = await sink.send(self.document(), self.message({"statement": text}))
            assert answered.delivered, answered
        await sink.close()
        assert self.archive.n_bytes < 1_000_000
        (row,) = await self.archive.fetch("SELECT (SELECT count(*) FROM got), nextval('n')")
        assert [*row] == [20, 41]

    async def test_connections_are_used_again(self) -> None:
        """And know nothing of the statement before."""
        sink = self.sink()
        got = "INSERT INTO got VALUES (pg_backend_pid(), :message) ON CONFLICT (name) DO NOTHING"
        set_ = "SELECT set_config('{}', '{}', false)"
        await self.archive.execute("CREATE ROLE nobody_else")
        try:
            for text in (
                got,
                set_.format("role", "nobody_else"),
                got,
                set_.format("search_path", "nowhere"),
                got,
                "CREATE TEMP TABLE got ()",
                got,
            ):
                answered = await sink.send(self.document(), self.message({"statement": text}))
                assert answered.delivered, answered
        finally:
            await sink.close()
            await self.archive.execute("DROP ROLE nobody_else")
        assert len(await self.arrived()) == 1


def _as_stored(sealed: Mapping[str, Any]) -> Mapping[str, Any]:
    bodies = {name: base64.b64encode(one).decode() for name, one in sealed["bodies"].items()}
    return {**sealed, "bodies": bodies}
