"""Names and attributes that change, and the trace that each change leaves."""

import asyncio
from typing import Any

import pytest

from builders import job_rows, tree
from store.batch_steps import open_update
from store.world import World
from weft.core import errors
from weft.ports.store import EditLimits, NewGroup
from weft.store.database import call_on

LIMITS = EditLimits(attributes_max=3, rename_groups_max=4)
TREE = tree("a", "a/b", "a/b/a", "ab")


async def edit(world: World, batch: int, group: int, **patch: Any) -> bool:  # noqa: ANN401 (a document)
    return await world.api.edit_group(world.caller, batch, group, patch=patch, limits=LIMITS)


async def paths(world: World, batch: int) -> list[str]:
    groups = await world.api.list_groups(world.caller, batch, after=-1, limit=100)
    return [group["path"] for group in groups]


async def test_batch_gets_another_name_and_attributes(world: World) -> None:
    batch = await world.submit(name="old", attributes={"a": "1", "b": "2"})
    start = await world.api.events_now()
    changed = await edit(world, batch, 0, name="new", attributes={"a": None, "c": "3"})
    again = await edit(world, batch, 0, name="new", attributes={"a": None, "c": "3"})
    document = await world.api.get_batch(world.caller, batch)
    (found,) = await world.api.list_batches(world.caller, before=None, limit=9, name="new")
    events, _ = await world.api.list_events(world.caller, after=start, batch_id=batch, limit=9)
    (change,) = await world.api.group_history(world.caller, batch, 0, before=None, limit=9)

    assert (changed, again) == (True, False)
    assert (document["name"], document["attributes"]) == ("new", {"b": "2", "c": "3"})
    assert found["id"] == batch
    assert [(event["kind"], event["groups"]) for event in events] == [("batch.edited", [0])]
    assert (change["kind"], change["actor"]) == ("edited", "user ada")
    assert change["message"] == 'attributes "a", "c"; name is "new"'


async def test_attributes_have_a_limit_that_a_patch_can_keep(world: World) -> None:
    batch = await world.submit(attributes={"a": "1", "b": "2", "c": "3"})
    with pytest.raises(errors.InvalidValue, match="too many attributes"):
        await edit(world, batch, 0, attributes={"d": "4"})
    assert await edit(world, batch, 0, attributes={"d": "4", "a": None})
    more = EditLimits(attributes_max=1, rename_groups_max=1)

    # A limit that was lowered since does not forbid what makes it better.
    assert await world.api.edit_group(
        world.caller, batch, 0, patch={"attributes": {"b": None, "c": "9"}}, limits=more
    )


async def test_rename_is_bounded(world: World) -> None:
    batch = await world.submit(groups=TREE)
    deep = [NewGroup(group_id=n, parent_id=-3, name=f"g{n}") for n in (1, 2)]
    await world.submit(0, batch=batch, groups=deep)
    with pytest.raises(errors.RenameTooLarge):
        await edit(world, batch, 1, name="x")

    assert await edit(world, batch, 3, name="x")


@pytest.mark.parametrize("first", ["add_groups", "edit_group"])
async def test_group_that_is_added_meanwhile_gets_the_new_path(world: World, first: str) -> None:
    batch = await world.submit(groups=TREE)
    update = await open_update(world, batch, 0, 1)
    calls: dict[str, dict[str, Any]] = {
        "add_groups": {
            "update_id": update.update_id,
            "group_ids": [1],
            "parent_ids": [-2],
            "names": ["new"],
            "attributes": [{}],
            "cancel_afters": [None],
            "callbacks": [None],
            "depth_max": 16,
        },
        "edit_group": {
            "group_id": 1,
            "patch": {"name": "z"},
            "attributes_max": 9,
            "groups_max": 99,
            "actor": "x",
        },
    }
    ids = {"tenant_id": world.caller.tenant_id, "batch_id": batch}
    (second,) = calls.keys() - {first}
    one, other = [await world.connect("weft_api") for _ in range(2)]
    async with one.transaction():
        await call_on(one, first, **calls[first], **ids)
        waiting = await world.start_waiting(call_on(other, second, **calls[second], **ids))
    await waiting
    await world.api.commit_update(world.caller, batch, update.update_id)

    assert "/z/b/new" in await paths(world, batch)


async def test_job_gets_a_name_and_attributes(world: World) -> None:
    batch = await world.submit(job_rows(2, names={2: "two"}))
    api, caller = world.api, world.caller
    start = await api.events_now()
    for job in (1, 2):
        patch = {"name": f"job {job}", "attributes": {"k": "v"}}
        assert await api.edit_job(caller, batch, job, patch=patch, limits=LIMITS)
        assert not await api.edit_job(caller, batch, job, patch=patch, limits=LIMITS)
    await api.edit_job(caller, batch, 2, patch={"name": None}, limits=LIMITS)
    one, two = await api.list_jobs(caller, batch, after=0, limit=9)
    history = await api.job_history(caller, batch, 1)
    events, _ = await api.list_events(caller, after=start, batch_id=batch, limit=9)

    assert (one["name"], one["attributes"]) == ("job 1", {"k": "v"})
    assert (two["name"], two["attributes"]) == (None, {"k": "v"})
    assert [(h["from"], h["to"], h["subtype"], h["actor"]) for h in history][1:] == [
        ("ready", "ready", "edited", "user ada")
    ]
    assert [(e["kind"], e["jobs"]) for e in events] == [
        ("jobs.edited", [1]),
        ("jobs.edited", [2]),
        ("jobs.edited", [2]),
    ]


async def test_edits_at_once_do_not_lose_each_other(world: World) -> None:
    batch = await world.submit()
    limits = EditLimits(attributes_max=64, rename_groups_max=1)

    async def one(number: int) -> None:
        patch = {"attributes": {f"k{number}": "v"}}
        await world.api.edit_group(world.caller, batch, 0, patch=patch, limits=limits)
        await world.api.edit_job(world.caller, batch, 1, patch=patch, limits=limits)

    await asyncio.gather(*[one(number) for number in range(10)])
    (job,) = await world.api.list_jobs(world.caller, batch, after=0, limit=9)

    assert len((await world.api.get_batch(world.caller, batch))["attributes"]) == 10
    assert len(job["attributes"]) == 10
