"""The ledger of runs that records of topics ask for, and what events tell outside of jobs."""

from typing import Any
from uuid import UUID, uuid4

from builders import job_rows
from store.world import Worker, World, open_world
from weft.core.states import Reason
from weft.ports.store import UNKEYED, NewBatch
from weft.store import TopicRuns

KEEP_S = 3600.0


async def test_a_run_is_had_once_and_its_end_is_remembered(world: World) -> None:
    """Its owner may ask again; another waits for it."""
    ours, theirs = await world.worker("ours"), await world.worker("theirs")
    event_id, runs = uuid4(), TopicRuns(world.backend.workers)
    owner, other = ours.facts["incarnation"], theirs.facts["incarnation"]
    begun = [await runs.begin_run(event_id, one, keep_s=KEEP_S) for one in (owner, owner, other)]
    await runs.end_run(event_id, other, is_failed=False, error="")
    still = await runs.begin_run(event_id, other, keep_s=KEEP_S)
    await runs.end_run(event_id, owner, is_failed=True, error="no")
    await runs.end_run(event_id, owner, is_failed=False, error="")

    assert [one.answer for one in begun] == ["run", "run", "running"]
    assert still.answer == "running", "only its owner ends it"
    assert await runs.begin_run(event_id, other, keep_s=KEEP_S) == ("failure", "no")


async def test_a_run_of_an_incarnation_that_has_ended_is_run_again(world: World) -> None:
    """By the first who asks."""
    gone, next_one = await world.worker("gone"), await world.worker("next")
    event_id, owner = uuid4(), next_one.facts["incarnation"]
    runs = TopicRuns(world.backend.workers)
    await runs.begin_run(event_id, gone.facts["incarnation"], keep_s=KEEP_S)
    await gone.store.register_worker(
        **{**gone.facts, "incarnation": uuid4().hex, "same_host_proved_gone": True}
    )

    assert (await runs.begin_run(event_id, owner, keep_s=KEEP_S)).answer == "run"
    assert (
        await runs.begin_run(event_id, gone.facts["incarnation"], keep_s=KEEP_S)
    ).answer == "running"


async def test_what_is_older_than_it_is_kept_is_forgotten(world: World, worker: Worker) -> None:
    """So the ledger is bounded by time."""
    owner, old = worker.facts["incarnation"], uuid4()
    runs = TopicRuns(world.backend.workers)
    await runs.begin_run(old, owner, keep_s=KEEP_S)
    await runs.end_run(old, owner, is_failed=False, error="")
    assert (await runs.begin_run(old, owner, keep_s=KEEP_S)).answer == "success"
    await world.age("topic_run", "begun_at", by_s=7200, event_id=old)
    await runs.begin_run(uuid4(), owner, keep_s=KEEP_S)

    assert (await runs.begin_run(old, owner, keep_s=KEEP_S)).answer == "run"


async def test_runs_of_jobs_that_others_schedule_are_listed_by_job(world: World) -> None:
    """In the tenant whose topics they came over; those of jobs of weft have attempts instead."""
    owner = (await world.worker()).facts["incarnation"]
    runs, api, caller = TopicRuns(world.backend.workers), world.api, world.caller
    name = "SELECT name FROM weft.tenant WHERE tenant_id = $1"
    tenant = await world.admin.fetchval(name, caller.tenant_id)
    new = NewBatch(door="line", foreign_id="ours", foreign_trace="t")
    await api.submit(caller, new, [], job_rows(1), UNKEYED)

    async def begin(job: str) -> UUID:
        run, record = (
            uuid4(),
            {"job_id": job, "trace_id": "t", "event_id": str(uuid4()), "door": "line"},
        )
        for _ in range(2):
            await runs.begin_run(run, owner, keep_s=KEEP_S, tenant=tenant, record=record)
        return run

    first, _ = [await begin("theirs") for _ in range(2)]
    await begin("ours")
    await runs.end_run(first, owner, is_failed=True, error="no")
    page = await api.list_topic_runs(caller, "theirs", first_row=0, limit=9)
    assert [(run["state"], run["error"]) for run in page["runs"]] == [
        ("running", None),
        ("failed", "no"),
    ]
    assert page["total"] == len(page["runs"])
    last = await api.list_topic_runs(caller, "theirs", first_row=1, limit=9)
    assert (last["runs"], last["total"]) == (page["runs"][1:], 2)
    nothing = {"total": 0, "runs": []}
    assert await api.list_topic_runs(caller, "ours", first_row=0, limit=9) == nothing
    async with open_world(world.backend) as other:
        stranger = other.caller
        assert await api.list_topic_runs(stranger, "theirs", first_row=0, limit=9) == nothing


async def test_events_tell_of_foreign_jobs_and_their_last_failures(world: World) -> None:
    """From where the reader stands on, and of no other batches."""
    epoch, store = await world.lead(), world.driver
    (tenant,) = await world.admin.fetchrow(
        "SELECT name FROM weft.tenant WHERE tenant_id = $1", world.caller.tenant_id
    )
    reader = f"topics {tenant}"

    async def told() -> list[dict[str, Any]]:
        got: list[dict[str, Any]] = []
        while True:
            found = await store.list_announcements(epoch, reader, tenant, "line", limit=100)
            assert found is not None
            await store.keep_position(epoch, reader, found["xid"], found["event_id"])
            got += found["told"]
            if not found["behind"]:
                return got

    async def submit(door: str | None, foreign_id: str) -> int:
        new = NewBatch(door=door, foreign_id=foreign_id if door else None, foreign_trace="t")
        batch, _, _ = await world.api.submit(
            world.caller, new, [], job_rows(1, max_attempts=1), UNKEYED
        )
        return batch

    await told()
    worker = await world.worker()
    batch = await submit("line", "one")
    await submit(None, "other")
    (created,) = await told()
    while await worker.run(reason=Reason.EXIT):
        pass
    ended = await told()
    assert (created["kind"], created["batch_id"], created["foreign_id"]) == (
        "created",
        batch,
        "one",
    )
    assert [(one["kind"], one["foreign_id"], one["n_failed"]) for one in ended] == [
        ("dead", "one", 1)
    ]
    assert await told() == []
    assert await store.list_announcements(epoch, "r", "nobody", "line", limit=1) is None


async def test_a_reader_of_events_goes_on_where_it_was(world: World) -> None:
    """As the user who sees them; it hears of what was removed meanwhile."""
    epoch, store = await world.lead(), world.driver
    tenant = await world.admin.fetchval(
        "SELECT name FROM weft.tenant WHERE tenant_id = $1", world.caller.tenant_id
    )
    reader, user = f"events {tenant}", world.caller.user_name
    begun = await store.begin_reader(epoch, reader, tenant, user)
    assert begun is not None
    batch = await world.submit(1)

    async def kinds(after: tuple[int, int]) -> list[str]:
        rows, _ = await store.list_events(begun.caller, after=after, batch_id=None, limit=100)
        return [row["kind"] for row in rows if row["batch_id"] == batch]

    while not (found := await kinds(begun.after)):
        pass  # until older writers of other tests have committed
    assert found[0] == "update.committed"
    assert (begun.caller.user_id, begun.removed) == (world.caller.user_id, False)
    await store.keep_position(epoch, reader, begun.after[0] + 1, 7)
    await store.keep_position(epoch, reader, begun.after[0], 9)
    again = await store.begin_reader(epoch, reader, tenant, user)
    assert again is not None
    assert again.after == (begun.after[0] + 1, 7), "it only goes on"
    await world.admin.execute(
        "UPDATE weft.event_reader SET xid = '0', event_id = 0 WHERE reader = $1", reader
    )
    removed = await world.admin.fetchval("SELECT xid <> '0' FROM weft.event_floor")
    behind = await store.begin_reader(epoch, reader, tenant, user)
    assert behind is not None
    assert behind.removed is removed
    assert await store.begin_reader(epoch, "r", tenant, "nobody") is None
