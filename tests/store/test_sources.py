"""Sources: how they are read, whose items come next, and parameters of their lines."""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest

from store.site import Site
from store.world import World
from weft.core.errors import ParameterNotFound, ParameterOfOtherType, SourceNotFound
from weft.ports.store.sources import Decision, DueSource, TakenSource
from weft.wire.documents.file_stores import NewFileStore
from weft_lines.rules.setup import parse_setup

SOURCE = """
[source.NAME]
kind = "directory"
path = "/data/in"
job = "one"

[job.one]
command = ["true"]
"""

MANY = 1000

HALF = 2


async def new_source(site: Site) -> str:
    """Save a setup with one source; return its name."""
    name = f"s{uuid4().hex}"
    text = SOURCE.replace("NAME", name)
    api, caller = site.api, site.caller
    assert f"source {name}" in await api.save_setup(caller, name, text, parse_setup(text))
    return name


async def due_source(site: Site, name: str) -> DueSource | None:
    """Return what the driver is told of a source; None: it is not due."""
    epoch = await site.lead()
    due = await site.driver.due_sources(epoch, (), limit=MANY)
    return next((one for one in due if one.name == name), None)


async def keep_items(
    site: Site, due: DueSource, found: Sequence[Mapping[str, Any]], error: str | None = None
) -> int | None:
    """Let the driver keep what a reading has found."""
    return await site.driver.store_items(
        await site.lead(), due, found, cursor={"at": 1}, next_in_s=3600, error=error
    )


async def taken_source(site: Site, name: str, *, lease_s: float = 3600) -> TakenSource | None:
    """Take sources until it is this one."""
    while taken := await site.api.take_source(limit=MANY, lease_s=lease_s):
        if taken.name == name:
            return taken
        await site.api.postpone_items(taken, None, 3600.0)
    return None


async def item_states(site: Site, name: str) -> dict[str, tuple[str, str | None]]:
    """Return state and job or reason of each item."""
    rows = await site.api.list_source_items(site.caller, name, before=None, state=None, limit=MANY)
    return {row["key"]: (row["state"], row["job"] or row["reason"]) for row in rows}


async def test_one_tenant_has_half_of_the_readings(site: Site) -> None:
    """However many of its sources are due; then it does not count when they are."""
    for _ in range(5):
        await new_source(site)
    driver, epoch = site.driver, await site.lead()
    own = site.caller.tenant_id
    due = [
        one for one in await driver.due_sources(epoch, (), limit=2 * HALF) if one.tenant_id == own
    ]
    assert len(due) == HALF
    busy = [one.source_id for one in due]
    again = await driver.due_sources(epoch, busy, limit=2 * HALF)
    assert own not in {one.tenant_id for one in again}
    assert await driver.loop_due(epoch, "sources", busy[:1], limit=2 * HALF) is not None
    assert await driver.loop_due(epoch, "sources", busy, limit=HALF) is None


async def test_source_of_objects_comes_with_its_store(site: Site) -> None:
    """As it is stored, with its secret, encrypted; null, if there is no such store."""
    api, caller, name = site.api, site.caller, await new_source(site)
    text = SOURCE.replace("NAME", name).replace('kind = "directory"', 'kind = "s3"')
    text = text.replace('path = "/data/in"', f'store = "{name}"')
    await api.save_setup(caller, name, text, parse_setup(text))
    without = await due_source(site, name)
    await api.set_secret(caller, name, bytes(37), secrets_max=MANY)
    new = NewFileStore(
        name=name,
        url="s3://bucket/lab",
        endpoint=None,
        region=None,
        access="read",
        credentials="secret",
        secret=name,
    )
    await api.save_store(caller, new, stores_max=MANY)
    due, tried = await due_source(site, name), await api.try_source(caller, name, [])
    assert without is not None
    assert due is not None
    assert without.sealed == {"store": None}
    body = b64encode(bytes(37)).decode()
    assert (
        due.sealed
        == tried["sealed"]
        == {
            "store": [
                "s3://bucket/lab",
                None,
                None,
                "read",
                "secret",
                name,
                caller.tenant_id,
                caller.user_id,
                body,
            ],
        }
    )


async def test_source_of_a_broker_comes_with_its_tenant(site: Site) -> None:
    """For which the operator has named connections."""
    api, caller, name = site.api, site.caller, await new_source(site)
    text = SOURCE.replace("NAME", name).replace('kind = "directory"', 'kind = "amqp"')
    text = text.replace('path = "/data/in"', 'transport = "t"\nqueue = "q"')
    await api.save_setup(caller, name, text, parse_setup(text))
    due, tried = await due_source(site, name), await api.try_source(caller, name, [])
    assert due is not None
    assert due.sealed == tried["sealed"]
    assert due.sealed is not None
    assert isinstance(due.sealed["tenant"], str)


async def test_sources_are_read_and_their_items_kept_once(site: Site) -> None:
    """With the cursor; what cannot be read has a reason, and is new again when it can."""
    name = await new_source(site)
    due = await due_source(site, name)
    assert due is not None
    assert (due.kind, due.options, due.cursor) == ("directory", {"path": "/data/in"}, None)
    found: list[dict[str, Any]] = [
        {"key": "a", "fields": {"x": 1}},
        {"key": "b", "fields": None, "error": "bad"},
    ]
    assert await keep_items(site, due, found) == len(found)
    assert await due_source(site, name) is None
    due_s = await site.driver.loop_due(await site.lead(), "sources", limit=MANY)
    assert due_s is not None
    assert await keep_items(site, due, found) == 0
    assert await item_states(site, name) == {"a": ("new", None), "b": ("refused", "bad")}
    assert await keep_items(site, due, [{"key": "b", "fields": {}}]) == 1
    assert (await item_states(site, name))["b"] == ("new", None)
    assert await keep_items(site, due, (), "gone") == 0
    shown = await site.api.get_source(site.caller, name)
    assert (shown["state"], shown["error"], shown["n_failures"]) == ("failing", "gone", 1)
    assert shown["n_items"] == {"new": 2}


async def test_source_with_a_backlog_lets_others_go_first(site: Site) -> None:
    """What is left of its items waits behind what others have had waiting for less long."""
    api, names = site.api, [await new_source(site), await new_source(site)]
    for name, keys in zip(names, ("abc", "d"), strict=True):
        due = await due_source(site, name)
        assert due is not None
        await keep_items(site, due, [{"key": key, "fields": {}} for key in keys])
    found: list[str] = []
    while taken := await api.take_source(limit=1, lease_s=3600):
        found += [taken.name] if taken.name in names else []
        one = Decision(taken.items[0].n, "cancelled", reason="old") if taken.items else None
        await api.decide_items(taken, [one] if one else [])
        await api.end_items(taken, None, ())
    assert found == [names[0], names[1], names[0], names[0]]


async def test_source_is_paused_replayed_and_removed(site: Site) -> None:
    """A reading that was under way is void then; items are remembered."""
    api, caller, name = site.api, site.caller, await new_source(site)
    due = await due_source(site, name)
    assert due is not None
    await keep_items(site, due, [{"key": "a", "fields": {}}])
    for may_rerun in (True, False):
        taken = await taken_source(site, name)
        assert taken is not None
        await api.decide_items(taken, [Decision(taken.items[0].n, "cancelled", reason="old")])
        await api.end_items(taken, None, ())
        assert not await api.rerun_items(caller, name, key="b")
        assert not may_rerun or await api.rerun_items(caller, name, key="a")
    await api.change_source(caller, name, paused=True, replay_since=None)
    assert await due_source(site, name) is None
    assert await keep_items(site, due, [{"key": "b", "fields": {}}]) is None
    await api.change_source(
        caller, name, paused=False, replay_since=datetime(2020, 1, 1, tzinfo=UTC)
    )
    assert (await item_states(site, name)) == {"a": ("new", None)}
    assert not await api.rerun_items(caller, name, key="a")  # it has not had its turn
    again = await due_source(site, name)
    assert again is not None
    assert again.cursor is None
    assert name in [one["source"] for one in await api.list_sources(caller, after="", limit=MANY)]
    with pytest.raises(SourceNotFound):
        await api.get_source(site.stranger, name)
    await api.remove_setup(caller, name)
    assert await due_source(site, name) is None
    assert await taken_source(site, name) is None
    with pytest.raises(SourceNotFound):
        await api.get_source(caller, name)


SOURCES = """
[source.NAME]
kind = "directory"
path = "/data/in"
job = "one"
"""
JOB = """
[job.one]
command = ["true"]
"""
BESIDE = """
WITH other AS (INSERT INTO weft.tenant (name) VALUES ('other') RETURNING tenant_id),
owner AS (INSERT INTO weft.tenant_user (tenant_id, name)
    SELECT tenant_id, 'una' FROM other RETURNING user_id, tenant_id)
INSERT INTO weft.source (tenant_id, name, setup, user_id, billing_project, kind, options, every_s,
    template, next_at)
SELECT o.tenant_id, 'small', 'x', o.user_id, 'default', s.kind, s.options, s.every_s, s.template,
    now()
FROM owner o, weft.source s WHERE s.name = 's0'
"""
TAKE = "SELECT name FROM weft.take_source(limit_rows => 9, lease_s => 60)"
DONE = "UPDATE weft.source SET taken_until = NULL WHERE name = $1"


async def test_tenants_take_turns(own_world: World) -> None:
    world, admin = own_world, own_world.admin
    text = "".join(SOURCES.replace("NAME", f"s{n}") for n in range(3)) + JOB
    await world.api.save_setup(world.caller, "many", text, parse_setup(text))
    await admin.execute(BESIDE)
    # All have a backlog; that of the one tenant is older.
    await admin.execute(
        "UPDATE weft.source SET work_at = now() - CASE WHEN name = 'small' THEN 1 ELSE 9 END "
        "* interval '1 min'"
    )
    taken = []
    for _ in range(6):
        name = await admin.fetchval(TAKE)
        await admin.execute(DONE, name)
        taken.append("one" if name == "small" else "many")

    assert taken in (["many", "one"] * 3, ["one", "many"] * 3)
    await admin.execute("UPDATE weft.source SET work_at = NULL, taken_until = NULL")


async def test_parameter_has_all_its_versions(site: Site) -> None:
    """One type for ever; the same value again is no version; a file sets what it changes."""
    api, caller, name = site.api, site.caller, f"p{uuid4().hex}"
    first = await api.set_parameter(caller, name, 7, None)
    assert (first["version"], first["type"], first["setup"]) == (1, "integer", None)
    between = datetime.now(UTC)
    assert (await api.set_parameter(caller, name, 7, None))["version"] == 1
    for wrong in (7.5, "7", True, [7]):
        with pytest.raises(ParameterOfOtherType):
            await api.set_parameter(caller, name, wrong, None)
    for n, expected in ((8, 2), (8, 2), (9, 3)):
        text = f"[parameters]\n{name} = {n}\n"
        await api.save_setup(caller, name, text, parse_setup(text))
        (row,) = await api.list_versions(caller, name, before=None, limit=1)
        assert (row["version"], row["value"], row["setup"]) == (expected, n, name)
    await api.set_parameter(caller, name, 10, None)
    last = f"[parameters]\n{name} = 9\n"
    assert list(await api.save_setup(caller, name, last, parse_setup(last))) == []
    rows = await api.list_versions(caller, name, before=None, limit=9)
    assert [row["version"] for row in rows] == [4, 3, 2, 1]
    assert [row["value"] for row in rows] == [10, 9, 8, 7]
    older = await api.list_versions(caller, name, before=3, limit=1)
    assert [row["version"] for row in older] == [2]
    for as_of, value in ((None, 10), (between, 7), (datetime(2020, 1, 1, tzinfo=UTC), None)):
        found = await api.list_parameters(caller, names=[name], as_of=as_of, after="", limit=9)
        assert [row["value"] for row in found] == ([] if value is None else [value])
    with pytest.raises(ParameterNotFound):
        await api.list_versions(caller, "gone", before=None, limit=1)


async def test_dates_are_dates(site: Site) -> None:
    """In its first value, and in all that follow."""
    api, caller, name = site.api, site.caller, f"p{uuid4().hex}"
    await api.set_parameter(caller, name, "2020-05-01", "date")
    await api.set_parameter(caller, name, "2020-05-01T10:00:00Z", None)
    for wrong in ("2020-13-01", "soon", "2020-05-01 10:00", 2020):
        with pytest.raises(ParameterOfOtherType):
            await api.set_parameter(caller, name, wrong, None)
