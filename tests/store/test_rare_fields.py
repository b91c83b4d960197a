"""Fields that few jobs have: kept as sent, shown in documents; gates among them hold jobs back."""

from datetime import UTC, datetime, timedelta

import pytest

from builders import array_rows, job_rows, with_fields
from store.backend import Backend
from store.barriers import places, visit
from store.world import Worker, World, open_world
from weft.ports.store import EditLimits, Gate

LIMITS = EditLimits(attributes_max=10, rename_groups_max=10)
LICENCE = {"kind": "concurrency_key", "key": "x", "max_places": 1}


async def nicknames(world: World, batch: int) -> list[str | None]:
    jobs = await world.api.list_jobs(world.caller, batch, after=0, limit=100)
    return [job.get("nickname") for job in jobs]


async def test_documents_show_rare_fields(world: World) -> None:
    rows = job_rows(3, names={2: "both"})
    batch = await world.submit(with_fields(rows, j2={"nickname": "a"}, j3={"nickname": "b"}))
    await world.api.edit_job(world.caller, batch, 2, patch={"name": "new"}, limits=LIMITS)
    jobs = await world.api.list_jobs(world.caller, batch, after=0, limit=9)

    assert await nicknames(world, batch) == [None, "a", "b"]
    assert [job["name"] for job in jobs] == [None, "new", None]
    assert (await world.api.get_job(world.caller, batch, 2))["nickname"] == "a"


async def test_jobs_of_an_array_share_rare_fields(world: World) -> None:
    rows = with_fields(array_rows(None, 2, None), j1={"nickname": "a"}, j2={"nickname": "b"})
    batch = await world.submit(rows)
    await world.api.edit_job(world.caller, batch, 3, patch={"name": "own"}, limits=LIMITS)

    assert await nicknames(world, batch) == ["a", "b", "b", None]


async def test_gate_of_one_job_is_shared_by_batches(world: World) -> None:
    """Other jobs of the batches pass; the document does not show the gate itself."""
    first, second = [
        await world.submit(with_fields(job_rows(3), j2={"gates": [LICENCE]})) for _ in range(2)
    ]
    worker, claimed = await world.claim()
    document = await world.api.get_job(world.caller, first, 2)

    assert {(one.batch_id, one.job_id) for one in claimed} == {
        (first, 1),
        (first, 2),
        (first, 3),
        (second, 1),
        (second, 3),
    }
    assert "gates" not in document
    await worker.end(*claimed)
    assert await worker.run() == [2]


async def test_gate_of_an_array_counts_each_of_its_jobs(world: World, worker: Worker) -> None:
    own = {"gates": [{"kind": "licence", "key": "x", "max_places": 2}]}
    batch = await world.submit(with_fields(array_rows(None, 5), j2=own))

    assert await places(world, batch) == [2, 3]
    assert [sorted(await worker.run()) for _ in range(3)] == [[1, 2, 3], [4, 5], [6]]


async def test_job_passes_its_own_gate_and_that_of_its_batch(world: World) -> None:
    rows = with_fields(job_rows(4), j1={"gates": [LICENCE]}, j2={"gates": [LICENCE]})
    _, worker, claimed = await world.submit_and_claim(rows, max_running=2)

    assert len(claimed) == 2
    assert len({1, 2} & {one.job_id for one in claimed}) <= 1
    await worker.end(*claimed)
    await visit(world)
    assert len(await worker.run()) + len(await worker.run()) == 2


async def test_tenants_share_no_gate(world: World, backend: Backend) -> None:
    async with open_world(backend) as other:
        for one in (world, other):
            await one.submit(with_fields(job_rows(1), j1={"gates": [LICENCE]}))

        assert [len(await (await one.worker()).claim()) for one in (world, other)] == [1, 1]


async def test_batch_shows_its_gates_by_kind(world: World, worker: Worker) -> None:
    """Those with a key are not the batch's alone, so its document cannot show them by kind."""
    opens_at = datetime.now(UTC) + timedelta(hours=1)
    gates = [
        Gate(kind="not_before", opens_at=opens_at),
        Gate(kind="max_running", max_places=7),
        Gate(kind="concurrency_key", key="batch-x", max_places=1),
    ]
    batch = await world.submit(2, gates=gates)
    document = await world.api.get_batch(world.caller, batch)

    assert datetime.fromisoformat(document["not_before"]) == opens_at
    assert document["max_running"] == 7
    assert "concurrency_key" not in document
    assert await worker.claim() == []
    await visit(world, in_s=3601)
    assert len(await worker.claim()) == 1


@pytest.mark.parametrize("max_running", [None, 3])
async def test_max_running_is_always_shown(world: World, max_running: int | None) -> None:
    batch = await world.submit(1, max_running=max_running)

    assert (await world.api.get_batch(world.caller, batch))["max_running"] == max_running
