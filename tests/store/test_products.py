"""Products on the database: which are kept, and what becomes of them when their job goes."""

from dataclasses import replace
from typing import Any

from builders import job_rows
from store.batch_steps import delete, settle, step
from store.test_lifecycles import HRSI
from store.world import Worker, World
from weft.core.states import AttemptKey, Reason
from weft.ports.store import Claimed, ProductQuery, QueryLimits
from weft_lines.rules.setup import parse_setup

LIMITS = QueryLimits(timeout_s=10.0, scan_jobs_max=10**6)
FSC = {"type": "FSC", "tile": "32TLR"}


async def name(worker: Worker, one: Claimed, *products: dict[str, Any]) -> bool:
    key = AttemptKey(one.batch_id, one.job_id, one.attempt)
    return await worker.store.record_products(worker.id, key, products, inputs=None)


async def products(world: World) -> list[Any]:
    wanted = ProductQuery(limit=100, limits=LIMITS)
    return [one["product"] for one in await world.api.query_products(world.caller, wanted)]


async def test_products_stay_when_their_batch_is_deleted(world: World, worker: Worker) -> None:
    """With what was known of the job; those of an attempt that never ended well go with it."""
    rows = replace(job_rows(2, names={1: "snow"}), label_attributes=[{"param.clouds_max": "2"}])
    batch = await world.submit(rows)
    good, lost = sorted(await worker.claim(), key=lambda one: one.job_id)
    await name(worker, good, FSC)
    await name(worker, lost, FSC, FSC)
    await worker.start(good, lost)
    await worker.end(good)
    await world.worker(gone=True)
    operation = await delete(world, batch)
    await settle(world)
    while await step(world, operation):
        await settle(world)
    assert await products(world) == [FSC]
    wanted = ProductQuery(limit=100, limits=LIMITS)
    (one,) = await world.api.query_products(world.caller, wanted)
    assert (one["name"], one["attributes"]) == ("snow", {"param.clouds_max": "2"})
    left = "SELECT count(*) FROM weft.product WHERE batch_id = $1"
    assert await world.admin.fetchval(left, batch) == 1


async def test_the_attempt_that_ended_well_counts(world: World) -> None:
    """What an earlier one named is forgotten, and a late one is refused."""
    _, worker, (first,) = await world.submit_and_claim(job_rows())
    await name(worker, first, {"n": 1}, {"n": 2})
    await worker.start(first)
    await worker.end(first, reason=Reason.PREEMPTED)
    (second,) = await worker.claim()
    assert not await name(worker, first, {"n": 3})
    await name(worker, second, {"n": 4})
    await worker.start(second)
    await worker.end(second)
    assert await products(world) == [{"n": 4}]
    left = "SELECT count(*) FROM weft.product WHERE batch_id = $1"
    assert await world.admin.fetchval(left, second.batch_id) == 1


async def test_an_exit_code_without_products_keeps_none(world: World, worker: Worker) -> None:
    text = HRSI
    await world.api.save_setup(world.caller, "hrsi", text, parse_setup(text))
    await world.submit(job_rows(2), lifecycle="hrsi")
    for one, code in zip(await worker.claim(), (0, 201), strict=True):
        await name(worker, one, {"code": code})
        await worker.start(one)
        await worker.end(one, exit_code=code)
    assert await products(world) == [{"code": 0}]
