"""What happened in each of the last minutes: levels at their ends, and ends within them."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from builders import job_rows
from plans.table_reads import reads
from store.retries import retry
from store.world import World
from weft.core.access.rights import UserRole
from weft.core.states import Reason
from weft.ports.store import UNKEYED, Caller, NewGroup

NOW = datetime(2040, 5, 17, 12, 30, 20, tzinfo=UTC)
FIELDS = ("n_waiting", "n_running", "n_succeeded", "n_failed", "n_cancelled")


async def _fold(world: World, minute: int) -> None:
    await world.call("fold_deltas", epoch=await world.lead(), at=NOW + timedelta(minutes=minute))


async def _minutes(world: World, caller: Caller, minute: int) -> list[dict[str, Any]]:
    """Return the minutes that are not empty, as the caller sees them at a later time."""
    async with world.admin.transaction():
        user = "" if caller.role == UserRole.OPERATOR else str(caller.user_id)
        await world.admin.execute("SELECT set_config('weft.user', $1, true)", user)
        rows = await world.call(
            "list_minutes", tenant_id=caller.tenant_id, at=NOW + timedelta(minutes=minute)
        )
    assert len(rows) == 60
    return [dict(row[0]) for row in rows]


async def test_minutes_count_levels_and_ends_of_ones_own_jobs(own_world: World) -> None:
    ada = replace(own_world.caller, role=UserRole.USER)
    bob, all_ = await own_world.user("bob"), replace(own_world.caller, role=UserRole.OPERATOR)
    batch = await own_world.submit(4)
    await own_world.submit(2, caller=bob)
    await _fold(own_world, 0)
    worker, claimed = await own_world.claim()
    mine = [one for one in claimed if one.batch_id == batch]
    await worker.start(*claimed)
    await _fold(own_world, 1)
    await worker.end(*mine[:1])
    await worker.end(*mine[1:2], reason=Reason.EXIT)
    await _fold(own_world, 1)
    late = await own_world.submit(1)
    await _fold(own_world, 2)
    await own_world.cancel(late)
    await worker.end(*mine[2:])
    await _fold(own_world, 3)

    def told(rows: list[dict[str, Any]]) -> list[list[int]]:
        return [[row[name] for name in FIELDS] for row in rows[-5:]]

    assert told(await _minutes(own_world, ada, 3)) == [
        [0, 0, 0, 0, 0],
        [4, 0, 0, 0, 0],
        [0, 2, 1, 1, 0],
        [1, 2, 0, 0, 0],
        [0, 0, 2, 0, 1],
    ]
    assert told(await _minutes(own_world, all_, 3)) == [
        [0, 0, 0, 0, 0],
        [6, 0, 0, 0, 0],
        [0, 4, 1, 1, 0],
        [1, 4, 0, 0, 0],
        [0, 2, 2, 0, 1],
    ]
    assert told(await _minutes(own_world, bob, 3))[-1] == [0, 2, 0, 0, 0]
    other = replace(all_, tenant_id=bob.tenant_id + 1_000_000)
    assert told(await _minutes(own_world, other, 3)) == [[0] * 5] * 5
    key = {"of_user_id": None, "after_load": None, "after_user": None}
    shares = {"of_pool": own_world.pool, **key, "limit_rows": 9}
    seen = await own_world.call("list_shares", tenant_id=bob.tenant_id, **shares)
    unseen = await own_world.call("list_shares", tenant_id=other.tenant_id, **shares)
    assert [row[0]["user"] for row in seen] == ["bob"]
    assert [row[0]["user"] for row in unseen] == [None]
    await own_world.api.retry_jobs(own_world.caller, batch, UNKEYED, job_ids=[mine[1].job_id])
    assert (await own_world.findings()).get("minutes_are_counted", []) == []
    await own_world.submit(1)
    await _fold(own_world, 70)
    kept = await own_world.admin.fetch("SELECT DISTINCT minute FROM weft.user_minute")
    assert len(kept) == 1
    assert [row["n_waiting"] for row in (await _minutes(own_world, bob, 70))[-2:]] == [0, 0]


async def test_ends_count_once_beside_those_that_are_taken_back(own_world: World) -> None:
    """Jobs that ended join a set, which moves their ends, and a failed one is retried."""
    caller = replace(own_world.caller, role=UserRole.OPERATOR)
    groups = [NewGroup(group_id=1, name="s", is_set=True)]
    batch, worker = await own_world.submit_to_worker(job_rows(4), groups=groups)
    one, two, three, four = sorted(await worker.claim(), key=lambda claimed: claimed.job_id)
    await worker.end(one)
    await worker.end(two, reason=Reason.EXIT)
    await _fold(own_world, 0)
    await worker.end(three)
    await worker.end(four, reason=Reason.EXIT)
    await own_world.api.add_members(own_world.caller, batch, 1, [1, 2])
    await retry(own_world, batch, 2)
    await _fold(own_world, 1)
    rows = await _minutes(own_world, caller, 1)

    assert [[row[name] for name in FIELDS] for row in rows[-2:]] == [
        [0, 2, 1, 1, 0],
        [1, 0, 1, 1, 0],
    ]


async def test_audit_sees_what_was_not_counted(own_world: World) -> None:
    await own_world.submit(3)
    await own_world.fold()
    assert (await own_world.findings()).get("minutes_are_counted", []) == []
    for change, wrong in (
        ("UPDATE weft.user_minute SET n_waiting = n_waiting + 1", "level"),
        ("UPDATE weft.user_minute SET n_running = n_running + 1", "level"),
        ("UPDATE weft.user_minute SET n_failed = 9 WHERE user_id = 0", "sum"),
    ):
        found = (await own_world.findings_after(change))["minutes_are_counted"]
        assert {one["wrong"] for one in found} == {wrong}


async def test_minutes_are_read_by_key_however_many_users_there_are(own_world: World) -> None:
    await own_world.admin.execute("ALTER TABLE weft.user_minute SET (autovacuum_enabled = false)")
    await own_world.admin.execute(
        """
        INSERT INTO weft.user_minute
        SELECT $1, u, m, 0, 0, 0, 0, 0 FROM generate_series(0, 300) u,
            generate_series($2::timestamptz, $2::timestamptz + interval '1 hour', '1 minute') m
        """,
        own_world.caller.tenant_id,
        NOW - timedelta(minutes=70),
    )
    connection = await own_world.connect()
    async with reads(connection, "user_minute") as read:
        await connection.fetch(
            "SELECT weft.list_minutes(tenant_id => $1, at => $2)", own_world.caller.tenant_id, NOW
        )
    assert read["user_minute"].rows_scanned == 0
    assert read["user_minute"].rows_by_index <= 120
    await own_world.submit(1)
    async with reads(connection, "user_minute") as read:
        await connection.fetch(
            "SELECT weft.fold_deltas(epoch => $1, at => $2)", await own_world.lead(), NOW
        )
    assert read["user_minute"].rows_scanned == 0
    assert read["user_minute"].rows_by_index < 12 * 301
