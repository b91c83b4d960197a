"""What runs, on what, and what the last audit has found: without a look into tables of jobs."""

import os
import socket
from typing import Any

import asyncpg
import pytest

from plans.table_reads import reads
from store.world import World
from weft import __version__
from weft.sql import program_schema
from weft.store.admin import Admin, AuditFinding
from weft.store.database import NAME_CHARS, prepare_connection, session_name

HELD = AuditFinding("held", "It holds.", ())
BROKEN = AuditFinding("broken", "It does not hold.", ({"x": 1}, {"x": 2}))


async def _system(world: World, limit: int = 100) -> dict[str, Any]:
    return dict(await world.api.get_system(limit=limit))


async def _session(dsn: str, name: str) -> asyncpg.Connection:
    return await asyncpg.connect(dsn, server_settings={"application_name": name})


async def test_processes_are_told_by_their_sessions(
    own_world: World, database: dict[str, str]
) -> None:
    await own_world.lead()
    old = await _session(database["weft_worker"], "weft (schema 7)")
    named = [
        await _session(database["weft_worker"], f"weft{purpose} (schema 80) 0.9 {pid}@far")
        for purpose, pid in (("", 11), (" listen", 11), ("", 12))
    ]
    found = await _system(own_world)
    here = {"host": socket.gethostname(), "pid": os.getpid(), "version": __version__}
    mine = [one for one in found["processes"] if one["pid"] == os.getpid()]

    assert {one["role"] for one in mine} >= {"api", "driver"}
    for one in mine:
        assert here.items() <= one.items()
        assert one["schema"] == program_schema()
        assert one["since"] <= one["heard_at"] <= found["at"]
        assert one["leads"] is (one["role"] == "driver")
    far = [one for one in found["processes"] if one["host"] == "far"]
    assert [(one["pid"], one["n_connections"], one["version"]) for one in far] == [
        (11, 2, "0.9"),
        (12, 1, "0.9"),
    ]
    (earlier,) = [one for one in found["processes"] if one["pid"] is None]
    assert (earlier["role"], earlier["schema"], earlier["version"]) == ("worker", 7, None)
    assert {"role": "worker", "version": "0.9", "n": 2} in found["programs"]
    assert [one["role"] for one in (await _system(own_world, 2))["processes"]] == ["api", "driver"]
    for one in (old, *named):
        await one.close()


def test_name_of_a_session_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    """PostgreSQL would cut it, and tell so at each connection."""
    monkeypatch.setattr(socket, "gethostname", lambda: "rechner-ü" * 20)
    name = session_name("listen")

    assert len(name.encode()) == NAME_CHARS
    assert name.startswith(f"weft listen (schema {program_schema()}) {__version__} {os.getpid()}@")


async def test_database_is_told_without_a_look_at_jobs(own_world: World) -> None:
    await own_world.submit(50)
    other = await own_world.connect()
    transaction = other.transaction()
    await transaction.start()
    await other.execute("SELECT pg_current_xact_id()")
    begun = await other.fetchval("SELECT now()")
    async with reads(own_world.admin, "job", "attempt", "batch") as read:
        await own_world.admin.fetchval("SELECT weft.get_system(limit_rows => 100)")
    found = (await _system(own_world, 4))["database"]
    await transaction.rollback()

    assert {one.scans + one.index_scans for one in read.values()} <= {0}
    assert found["bytes"] > sum(one["bytes"] for one in found["tables"]) > 0
    sizes = [one["bytes"] for one in found["tables"]]
    assert sizes == sorted(sizes, reverse=True)
    assert len(sizes) == 4 < found["n_tables"]
    assert 0 < found["n_connections"] <= found["connections_max"]
    if found["sees_times"]:
        assert found["longest_transaction"]["began_at"] <= begun.isoformat()
        assert found["longest_transaction"]["pid"] > 0
    else:
        assert found["longest_transaction"] is None


async def test_result_of_the_last_audit_is_kept(
    own_world: World, database: dict[str, str]
) -> None:
    assert (await _system(own_world))["audit"] is None
    connection = await asyncpg.connect(database["admin"])
    await prepare_connection(connection)
    admin = Admin(connection)
    await admin.record_audit([HELD, BROKEN], took_ms=12)
    first = (await _system(own_world))["audit"]
    await admin.record_audit([HELD], took_ms=13)
    second = (await _system(own_world))["audit"]
    await connection.execute("SET default_transaction_read_only = on")
    await admin.record_audit([BROKEN], took_ms=14)
    third = (await _system(own_world))["audit"]
    await connection.close()

    assert first["wrong"] == [{"check": "broken", "sentence": "It does not hold.", "n_rows": 2}]
    assert (first["n_checks"], first["took_ms"], first["version"]) == (2, 12, __version__)
    assert (second["wrong"], second["n_checks"]) == ([], 1)
    assert second["ended_at"] > first["ended_at"]
    assert third == second
