"""The history of holds: their authors, targets and times."""

from builders import job_rows
from store.test_holds import TREE, hold, release
from store.world import World
from weft.ports.store import EditLimits


async def test_holds_and_releases_are_told_with_who_made_them(world: World) -> None:
    batch = await world.submit(job_rows(2, group=[2, 0]), groups=TREE)
    api, caller = world.api, world.caller
    start = await api.events_now()
    await hold(world, batch, 1)
    await hold(world, batch)
    await release(world, batch)
    await api.hold_jobs(caller, batch, [1])
    await release(world, batch, 1)
    await api.release_jobs(caller, batch, [1])
    await api.release_jobs(caller, batch, [1])
    await (await world.worker()).run()
    await hold(world, batch)
    history = await api.job_history(caller, batch, 1)
    events, _ = await api.list_events(caller, after=start, batch_id=batch, limit=20)

    made = [h for h in history if h["subtype"] in {"held", "released"}]
    assert [(h["subtype"], h["message"]) for h in made] == [
        ("held", "group /a"), ("held", "batch"), ("released", "batch"), ("held", None),
        ("released", "group /a"), ("released", None),
    ]  # fmt: skip
    assert {(h["from"], h["to"], h["actor"]) for h in made} == {("ready", "ready", "user ada")}
    assert [e["kind"] for e in events][:6] == [
        "group.held", "batch.held", "batch.released", "jobs.held", "group.released",
        "jobs.released",
    ]  # fmt: skip
    changes = await api.group_history(caller, batch, 0, before=None, limit=9)
    assert [change["kind"] for change in changes] == ["held", "released", "held"]


async def test_job_that_came_into_a_held_group_knows_since_when(world: World) -> None:
    batch = await world.submit(0, groups=TREE)
    await hold(world, batch, 3)
    await release(world, batch, 3)
    await hold(world, batch, 1)
    limits = EditLimits(attributes_max=9, rename_groups_max=9)
    await world.api.edit_group(world.caller, batch, 1, patch={"name": "z"}, limits=limits)
    await world.submit(job_rows(2, group=[-1, -3]), batch=batch)
    one = await world.api.job_history(world.caller, batch, 1)
    two = await world.api.job_history(world.caller, batch, 2)

    assert [(h["to"], h["subtype"], h["message"]) for h in one] == [
        ("ready", "update 2", None), ("ready", "held", "group /z"),
    ]  # fmt: skip
    assert [h["subtype"] for h in two] == ["update 2"]
    assert one[0]["at"] == one[1]["at"]
