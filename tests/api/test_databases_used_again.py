"""A database that is used again cannot be told from a fresh copy of the template."""

# ruff: noqa: S608, ANN401 (names of our own; tests/conftest.py cannot be imported)

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from api.full_tenant import fill
from api.live import LiveApi, make_user
from contexts import connected
from recycling import RELATIONS
from weft.api.http.doors import ApiDoor
from weft.run.doors import api_doors
from weft.settings import Settings

LIVE_DOORS = api_doors()
CHANGES = (
    "CREATE INDEX ON weft.batch (created_at)",
    "ALTER TABLE weft.batch DISABLE TRIGGER ALL",
    "ALTER TABLE weft.batch ADD COLUMN more text",
    "ALTER TABLE weft.batch ALTER COLUMN name SET DEFAULT ''",
    "ALTER TABLE weft.batch SET (fillfactor = 50)",
    "CREATE VIEW weft.nothing AS SELECT 1",
    "CREATE OR REPLACE FUNCTION weft.nothing() RETURNS void LANGUAGE sql AS ''",
    "CREATE SEQUENCE weft.counter",
    "CREATE TYPE weft.mood AS ENUM ('good')",
    "CREATE SCHEMA more",
    "TRUNCATE weft.batch CASCADE",
    "GRANT SELECT ON weft.batch TO PUBLIC",
    "REVOKE USAGE ON SCHEMA weft FROM weft_api",
    "COMMENT ON TABLE weft.batch IS 'x'",
    "ANALYZE weft.job_state",
    "CREATE STATISTICS weft.more ON name, tenant_id FROM weft.batch",
    "DO $$BEGIN EXECUTE format('ALTER DATABASE %I SET jit = on', current_database()); END$$",
    "CREATE TABLE weft.large AS SELECT repeat('x', 1000) FROM generate_series(1, 20000)",
)

NO_MORE_VACUUM = """
    DO $$BEGIN
        WHILE EXISTS (SELECT FROM pg_stat_activity WHERE backend_type LIKE 'autovacuum%') LOOP
            PERFORM pg_sleep(0.01), pg_stat_clear_snapshot();
        END LOOP;
    END$$
"""


@pytest.fixture(scope="module", autouse=True)
def _nothing_else_changes_statistics(postgres: Any) -> Iterator[None]:
    reload = "SELECT pg_reload_conf()"
    postgres.execute("ALTER SYSTEM SET autovacuum = off", reload, NO_MORE_VACUUM)
    yield
    postgres.execute("ALTER SYSTEM RESET autovacuum", reload)


async def contents(dsn: str) -> Mapping[str, object]:
    """Return all rows of all tables, and the numbers of all sequences."""
    async with connected(dsn) as connection:
        return {
            name: await connection.fetch(
                f"SELECT last_value, is_called FROM {name}"
                if is_sequence
                else f"SELECT t::text FROM {name} t ORDER BY 1"
            )
            for name, is_sequence in await connection.fetch(RELATIONS)
        }


async def test_of_one_of_everything_nothing_is_left(
    postgres: Any, settings: Settings, doors: Sequence[ApiDoor], tmp_path: Path
) -> None:
    fresh = await contents(postgres.dsn(postgres.create_database()))
    with postgres.clean_database() as name:
        dsns = postgres.dsns(name)
        await make_user(dsns["admin"])
        async with LiveApi(dsns["weft_api"], settings, doors=doors) as live:
            admin = await asyncpg.connect(dsns["admin"])
            await fill(live, dsns, admin, tmp_path / "logs", word="full", first=100_000)
            await admin.execute("SET session_replication_role = replica")
            for held in ("rate", "job_state", "driver_state", "trail_head", "job_transition"):
                await admin.execute(f"DELETE FROM weft.{held}")
            await admin.close()
        full = await contents(dsns["admin"])
    changed = [name for name, rows in full.items() if rows != fresh[name]]
    assert len(changed) > 90, changed
    with postgres.clean_database() as again:
        assert again == name
        assert await contents(postgres.dsn(again)) == fresh


@pytest.mark.heavy
@pytest.mark.parametrize("change", CHANGES)
def test_what_was_changed_in_another_way_than_by_rows_is_not_used_again(
    postgres: Any, change: str
) -> None:
    with postgres.clean_database() as name:
        postgres.execute(change, database=name)
    with postgres.clean_database() as again:
        assert again != name


async def test_no_session_lives_on(postgres: Any) -> None:
    with postgres.clean_database() as name:
        left = await asyncpg.connect(postgres.dsn(name))
        await left.execute("BEGIN; LOCK TABLE weft.batch; SELECT pg_advisory_lock(1)")
    with postgres.clean_database() as again:
        assert again == name
        with pytest.raises((asyncpg.PostgresError, asyncpg.InterfaceError)):
            await left.execute("SELECT 1")
    left.terminate()
