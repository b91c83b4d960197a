"""A line between databases: rows become jobs, and their messages rows, each once."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import asyncpg
import pytest

from contexts import connected
from e2e.conftest import until, weft_up
from plugins.test_sql_ends import Archive, relay

pytestmark = [pytest.mark.slow, pytest.mark.heavy]
LINE = """
[source.rows]
kind = "sql"
url = "URL"
query = "SELECT id AS key, tile FROM scene"
cursor = {{ field = "key", first = "0" }}
every = "1s"
job = "snow"
sink = "archive"

[configure.snow.let.site]
plugin = "sql"
url = "{look_up}"
query = "SELECT height FROM site WHERE tile = :tile"
values = {{ tile = "${{item.tile}}" }}

[configure.snow]
attributes = {{ tile = "item.tile", height = "string(site.height)" }}

[job.snow]
command = ["true"]

[sink.archive]
kind = "sql"
url = "URL"
statement = "INSERT INTO made VALUES (:delivery, :tile, :height) ON CONFLICT DO NOTHING"
message = "{{{{ {{'tile': job.attributes.tile, 'height': job.attributes.height}} | tojson }}}}"
"""


@contextmanager
def relayed(dsn: str) -> Iterator[Archive]:
    """Run the relay beside a test that waits for commands."""
    begun = threading.Event()
    found: list[tuple[Archive, Callable[[], object]]] = []

    async def run() -> None:
        ended = asyncio.Event()
        loop = asyncio.get_running_loop()
        async with relay(dsn) as one:
            found.append((one, lambda: loop.call_soon_threadsafe(ended.set)))
            begun.set()
            await ended.wait()

    thread = threading.Thread(target=asyncio.run, args=(run(),))
    thread.start()
    begun.wait(30)
    ((archive, end),) = found
    try:
        yield archive
    finally:
        end()
        thread.join(30)


def test_rows_become_jobs_and_messages_rows(
    empty_database: dict[str, str], tmp_path: Path
) -> None:
    hosts = dict.fromkeys(
        ("WEFT_SOURCE_PRIVATE_HOSTS", "WEFT_CALLBACK_PRIVATE_HOSTS"), "127.0.0.1"
    )
    with relayed(empty_database["admin"]) as archive:

        async def execute(text: str) -> list[asyncpg.Record]:
            async with connected(archive.dsn) as connection:
                return [*await connection.fetch(text)]

        for text in (
            "CREATE TABLE scene (id bigint PRIMARY KEY, tile text)",
            "CREATE TABLE site (tile text, height int)",
            "CREATE TABLE made (delivery uuid PRIMARY KEY, tile text, height int)",
            "INSERT INTO scene VALUES (1, 'A'), (2, 'B')",
            "INSERT INTO site VALUES ('A', 700), ('B', 800)",
        ):
            asyncio.run(execute(text))

        def said() -> str:
            return weft.run("source", "ls", "--json").stdout.decode()

        with weft_up(tmp_path / "home", **hosts) as weft:
            set_ = weft.run("secret", "set", "DB", stdin=archive.login.partition(":")[2].encode())
            assert set_.returncode == 0, set_.stderr
            user = archive.login.partition(":")[0]
            told = archive.url.replace(archive.login, f"{user}:${{secret.DB}}")
            file = tmp_path / "line.toml"
            file.write_text(LINE.format(look_up=told).replace("URL", archive.url))
            applied = weft.run("line", "apply", str(file))
            assert applied.returncode == 0, applied.stderr
            until(lambda: len(asyncio.run(execute("SELECT FROM made"))) == 2)
            rows = asyncio.run(execute("SELECT tile, height FROM made ORDER BY tile"))
            assert [tuple(row) for row in rows] == [("A", 700), ("B", 800)]
            asyncio.run(execute("ALTER TABLE scene RENAME TO gone"))
            until(lambda: "query, line 1: relation" in said())
            assert archive.login.partition(":")[2] not in said()
