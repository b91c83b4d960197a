# ruff: noqa: S608 (names of our own)
"""The trail: what is added to it, in which order it is sealed, and what the audit finds in it."""

import asyncio
from typing import Any

import asyncpg
import pytest

from store.world import World
from weft.core.errors import TooManySecrets, TooManyTokens
from weft.ports.store import ACTION, Action, Caller, TrailQuery, acting
from weft.sql import text_of
from weft.store.database import recorded_call_text

LOGINS = ("weft_api", "weft_driver", "weft_worker")
TABLES = {"trail_unsealed": "path", "trail_entry": "path", "trail_head": "digest"}
"""With a column of each."""
CHECK = "trail_is_a_chain"
SECRET = "a-secret-of-a-test"


def action(caller: Caller, name: str = "create_token", **more: Any) -> Action:  # noqa: ANN401
    return Action(caller=caller, name=name, path="/v1/tokens", trace_id="ab" * 16, **more)


async def make_token(world: World, name: str) -> int:
    return await make_token_of(world, world.caller, name)


async def make_token_of(world: World, caller: Caller, name: str) -> int:
    made = await world.api.create_token(
        caller, SECRET + name, name=name, scopes=None, valid_s=None, tokens_max=99
    )
    return int(made["token_id"])


async def seal(world: World) -> int:
    with acting(None):
        return await world.driver.sweep("seal_trail", await world.lead(), limit_jobs=100)


async def entries(world: World, **query: Any) -> list[Any]:  # noqa: ANN401
    """Return entries, oldest first."""
    found = await world.api.list_trail(world.caller, TrailQuery(**query), before=None, limit=100)
    return list(reversed(found))


@pytest.mark.parametrize("role", LOGINS)
async def test_no_login_role_adds_changes_or_removes_an_entry(world: World, role: str) -> None:
    connection = await world.connect(role)
    for table, column in TABLES.items():
        for statement in (
            f"SELECT FROM weft.{table}",
            f"UPDATE weft.{table} SET {column} = ''",
            f"DELETE FROM weft.{table}",
            f"TRUNCATE weft.{table}",
            f"INSERT INTO weft.{table} DEFAULT VALUES",
            f"DROP TABLE weft.{table}",
            f"ALTER TABLE weft.{table} DISABLE ROW LEVEL SECURITY",
        ):
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await connection.execute(statement)


async def test_owners_of_functions_may_only_add_entries_and_seal_them(world: World) -> None:
    rows = await world.admin.fetch(
        "SELECT r, c.relname, p FROM pg_class c, unnest(ARRAY['weft_tenant', 'weft_system']) r, "
        "unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE']) p "
        "WHERE c.relnamespace = 'weft'::regnamespace AND c.relname = ANY ($1) "
        "AND has_table_privilege(r, c.oid, p)",
        [*TABLES],
    )

    assert {tuple(row) for row in rows} == {
        ("weft_tenant", "trail_unsealed", "SELECT"),
        ("weft_tenant", "trail_entry", "SELECT"),
        ("weft_system", "trail_unsealed", "SELECT"),
        ("weft_system", "trail_unsealed", "INSERT"),
        ("weft_system", "trail_unsealed", "DELETE"),
        ("weft_system", "trail_entry", "SELECT"),
        ("weft_system", "trail_entry", "INSERT"),
        ("weft_system", "trail_entry", "DELETE"),
        ("weft_system", "trail_head", "SELECT"),
        ("weft_system", "trail_head", "UPDATE"),
    }


async def test_request_that_changes_something_has_one_entry(own_world: World) -> None:
    """Whatever it reads before, and however many calls it takes, sealed meanwhile or not."""
    with acting(action(own_world.caller, address="10.0.0.7", batch_id=7)):
        listed = await own_world.api.list_tokens(own_world.caller)
        before = await seal(own_world)
        for name in ("a", "b"):
            await make_token(own_world, name)
        sealed = await seal(own_world)
        await make_token(own_world, "c")
        again = await seal(own_world)
    await make_token(own_world, "d")
    (entry,) = await entries(own_world)

    assert (list(listed), before, sealed, again, await seal(own_world)) == ([], 0, 2, 1, 0)
    assert (entry["number"], entry["user"], entry["action"]) == (1, "ada", "create_token")
    assert (entry["address"], entry["batch_id"], entry["refused"]) == ("10.0.0.7", 7, None)
    assert entry["trace_id"] == "ab" * 16
    text = str(await own_world.admin.fetch("SELECT * FROM weft.trail_entry"))
    assert SECRET not in text


async def test_request_that_changes_nothing_has_no_entry(own_world: World) -> None:
    """Neither one that is undone, nor one whose function finds nothing."""
    with acting(action(own_world.caller)):
        await own_world.api.list_tokens(own_world.caller)
        is_revoked = await own_world.api.revoke_token(own_world.caller, 10**6)
        with pytest.raises(TooManyTokens):
            await own_world.api.create_token(
                own_world.caller, "t", name="t", scopes=None, valid_s=None, tokens_max=0
            )
        with pytest.raises(TooManySecrets):
            await own_world.api.set_secret(own_world.caller, "s", b"", secrets_max=0)

    assert not is_revoked
    assert await own_world.admin.fetchval("SELECT count(*) FROM weft.trail_unsealed") == 0


async def test_entries_are_numbered_as_they_are_committed(own_world: World) -> None:
    """A writer that is late holds up nobody, and has no gap in front of it."""
    text = recorded_call_text("revoke_token", ("tenant_id", "user_id", "of_token_id"))
    token, bob = await make_token(own_world, "old"), await own_world.user("bob")
    values = (own_world.caller.tenant_id, own_world.caller.user_id, token)
    async with own_world.transaction("weft_api") as late:
        (row,) = await late.fetch(text, *values, action(own_world.caller, "revoke_token").row())
        async with asyncio.timeout(60):
            with acting(action(own_world.caller)):
                await make_token_of(own_world, bob, "new")
            early = await seal(own_world)
    await seal(own_world)
    found = await entries(own_world)

    assert (row[0], early) == (True, 1)
    assert [(one["number"], one["action"]) for one in found] == [
        (1, "create_token"),
        (2, "revoke_token"),
    ]
    assert found[0]["at"] > found[1]["at"]
    assert await own_world.admin.fetch(text_of("audit", CHECK)) == []


TAMPERED = {
    "changed": "UPDATE weft.trail_entry SET user_name = 'eve' WHERE number = 2",
    "later": "UPDATE weft.trail_entry SET at = at + interval '1 microsecond' WHERE number = 2",
    "done": "UPDATE weft.trail_entry SET refused = NULL WHERE number = 2",
    "first": "DELETE FROM weft.trail_entry WHERE number = 1",
    "removed": "DELETE FROM weft.trail_entry WHERE number = 2",
    "last": "DELETE FROM weft.trail_entry WHERE number = 4",
    "all": "TRUNCATE weft.trail_entry",
    "closed up": "DELETE FROM weft.trail_entry WHERE number = 2; "
    "UPDATE weft.trail_entry SET number = number - 1 WHERE number > 2; "
    "UPDATE weft.trail_head SET number = 3",
    "inserted": "UPDATE weft.trail_entry SET number = number + 1 WHERE number = 4; "
    "UPDATE weft.trail_head SET number = 5; "
    "INSERT INTO weft.trail_entry SELECT (jsonb_populate_record(e, "
    "jsonb_build_object('number', 4, 'request_id', gen_random_uuid()))).* "
    "FROM weft.trail_entry e WHERE number = 3",
    "appended": "INSERT INTO weft.trail_entry SELECT (jsonb_populate_record(e, "
    "jsonb_build_object('number', 5, 'request_id', gen_random_uuid()))).* "
    "FROM weft.trail_entry e WHERE number = 4",
    "reordered": "UPDATE weft.trail_entry SET number = -number WHERE number IN (2, 3); "
    "UPDATE weft.trail_entry SET number = 5 + number WHERE number < 0",
}


async def test_audit_finds_what_the_owner_does_to_the_trail(own_world: World) -> None:
    for n in range(4):
        with acting(action(own_world.caller, refused="API.FORBIDDEN" if n == 1 else None)):
            await make_token(own_world, str(n))
    await seal(own_world)
    found = {}
    for what, statements in TAMPERED.items():
        tampering = own_world.admin.transaction()
        await tampering.start()
        await own_world.admin.execute(statements)
        found[what] = await own_world.admin.fetch(text_of("audit", CHECK))
        await tampering.rollback()

    assert [what for what, rows in found.items() if not rows] == []
    assert await own_world.admin.fetch(text_of("audit", CHECK)) == []
    assert [row["number"] for row in found["changed"]] == [2]


async def test_idle_driver_is_told_of_an_entry(own_world: World) -> None:
    """It may sleep when all is sealed, and not before."""
    epoch = await own_world.lead()
    await own_world.fold()
    slept = await own_world.driver.idle_driver(epoch)
    listener = await own_world.connect("weft_driver")
    told: asyncio.Queue[str] = asyncio.Queue()
    await listener.add_listener("driver", lambda *_: told.put_nowait(""))
    with acting(action(own_world.caller)):
        await make_token(own_world, "a")
    async with asyncio.timeout(60):
        await told.get()
    folded = await own_world.driver.fold_deltas(epoch)
    awake = await own_world.driver.idle_driver(epoch)
    await seal(own_world)

    assert (slept, awake, await own_world.driver.idle_driver(epoch)) == (True, False, True)
    assert "trail" in folded.loops


async def test_trail_without_its_oldest_entries_is_a_chain(own_world: World) -> None:
    """Also when all are gone, and with those that come then; nothing younger than a day goes."""
    epoch = await own_world.lead()

    async def add(*names: str) -> None:
        with acting(action(own_world.caller)):
            for name in names:
                await make_token(own_world, name)
                await seal(own_world)
                ACTION.set(action(own_world.caller))

    async def trim(limit: int = 2) -> tuple[int, list[int], list[object]]:
        n = await own_world.driver.trim_trail(epoch, keep_s=1, limit=limit)
        left = [one["number"] for one in await entries(own_world)]
        return n, left, await own_world.admin.fetch(text_of("audit", CHECK))

    await add("a", "b", "c")
    assert await trim() == (0, [1, 2, 3], [])
    text = "SELECT weft.trim_trail($1, 1, $2, clock_timestamp() + interval '2 days')"
    assert await own_world.admin.fetchval(text, epoch, 2) == 2
    assert await trim() == (0, [3], [])
    await add("d")
    assert await own_world.admin.fetchval(text, epoch, 9) == 2
    assert await trim() == (0, [], [])
    await add("e")
    assert await trim() == (0, [5], [])
    await own_world.admin.execute("DELETE FROM weft.trail_entry")
    _, _, found = await trim()
    assert found != []
    await own_world.admin.execute("UPDATE weft.trail_head SET number = 4, digest = removed_digest")
