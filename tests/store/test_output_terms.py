"""Output and files of batches are removed by age and size, and their readers are told why; files
that jobs have left.
"""

from dataclasses import replace
from typing import Any

import pytest

from builders import job_rows
from store.batch_steps import open_update
from store.site import Site
from store.test_byte_quotas import ONE, forget, stored, wrote
from store.world import Worker, World
from weft.core.errors import BatchNotFound, JobNotFound
from weft.core.notes import Note
from weft.core.states import AttemptKey
from weft.ports.store import UNKEYED, FileWanted, KeptFile, NewBatch


async def ended(world: World, worker: Worker, n_bytes: int, days: int, **more: Any) -> int:  # noqa: ANN401 (of a batch)
    """Return a batch that ended these days ago and has written this."""
    new = NewBatch(**more)
    batch, *_ = await world.api.submit(world.caller, new, (), job_rows(1), UNKEYED)
    await again(world, worker, n_bytes)
    await world.age("group_completion", "completed_at", by_s=days * 86400, batch_id=batch)
    return batch


async def put_back(world: World) -> None:
    """Let the audit find completions where the ends of jobs are."""
    await world.admin.execute(
        "UPDATE weft.group_completion c SET completed_at = ("
        "SELECT max(a.ended_at) FROM weft.attempt a WHERE a.batch_id = c.batch_id)"
    )


async def again(world: World, worker: Worker, n_bytes: int) -> None:
    (one,) = await worker.claim_and_start()
    await wrote(worker, one, n_bytes)
    await world.fold()


async def remove(world: World) -> int:
    n_batches = 0
    while count := await world.driver.remove_outputs(await world.lead(), limit=1):
        n_batches += count
    await world.fold()
    return n_batches


async def why(world: World, batch: int) -> str | None:
    (log,) = await world.api.list_attempt_logs(world.caller, batch, [1], None)
    return log.why_gone


async def keep(world: World, **limits: int) -> None:
    name = await world.api.tenant_name(world.caller)
    await world.api.set_tenant(world.caller.tenant_id, name, limits)


async def test_old_output_goes_and_counts_no_more(world: World, worker: Worker) -> None:
    """Workers are told; what is younger stays, and so does all without a limit."""
    old, young = [await ended(world, worker, 100, days) for days in (9, 1)]
    before = await stored(world)
    assert await remove(world) == 0
    await keep(world, output_keep_s=7 * 86_400)

    assert await remove(world) == 1
    assert await remove(world) == 0
    assert before - await stored(world) == 100
    told = await why(world, old)
    assert told is not None
    assert "604800 s after the end" in told
    assert await why(world, young) is None
    assert await worker.store.list_removed([old, young]) == [old]
    await put_back(world)


async def test_notes_go_with_the_output_and_count_no_more(world: World, worker: Worker) -> None:
    """Else what a tenant says that it keeps would never be reached."""
    batch = await world.submit(1)
    (one,) = await worker.claim_and_start()
    await worker.store.record_note(worker.id, one.key, Note("a", "text", b"x" * 70))
    await wrote(worker, one, 100)
    await world.fold()
    await world.age("group_completion", "completed_at", by_s=9 * 86400, batch_id=batch)
    assert await stored(world) == ONE + 170
    await keep(world, output_keep_bytes=ONE + 1)

    assert await remove(world) == 1
    assert await world.api.list_notes(world.caller, batch, 1, title=None) == []
    assert await stored(world) == ONE
    await put_back(world)


async def test_batch_that_runs_again_has_output_again(world: World, worker: Worker) -> None:
    """Nothing removes it as long as it runs."""
    batch = await ended(world, worker, 100, 9)
    await keep(world, output_keep_s=86_400)
    assert await remove(world) == 1
    before = await stored(world)
    await world.submit(batch=batch)
    assert await worker.store.list_removed([batch]) == []
    await again(world, worker, 30)

    (_, new) = await world.api.list_attempt_logs(world.caller, batch, [1, 2], None)
    assert new.why_gone is None
    assert await why(world, batch) is not None
    assert await worker.store.list_removed([batch]) == []
    assert await stored(world) - before == ONE + 30
    assert await remove(world) == 0
    await put_back(world)


async def test_oldest_output_goes_if_there_is_too_much(world: World, worker: Worker) -> None:
    batches = [await ended(world, worker, 1000, days) for days in (3, 2, 1)]
    await keep(world, output_keep_bytes=3 * ONE + 1500)

    assert await remove(world) == 2
    gone = [await why(world, batch) for batch in batches]
    assert [one is not None for one in gone] == [True, True, False]
    assert "the oldest output goes" in (gone[0] or "")
    await put_back(world)


@pytest.mark.parametrize(("keep_s", "is_gone"), [(3600, True), (90_000, False)])
async def test_batch_may_say_for_how_long(world: World, keep_s: int, *, is_gone: bool) -> None:
    worker = await world.worker()
    batch = await ended(world, worker, 100, 1, output_keep_s=keep_s)

    assert await remove(world) == is_gone
    assert (await why(world, batch) is not None) == is_gone
    await put_back(world)


@pytest.mark.parametrize(
    ("terms", "is_gone"),
    [
        ([3600], True),
        ([90_000], False),
        ([3600, 90_000], False),
        ([3600, 3700], True),
        ([3600, None], False),
        ([None, 3600], False),
    ],
)
async def test_all_jobs_of_a_batch_may_say_for_how_long(
    world: World, terms: list[int | None], *, is_gone: bool
) -> None:
    """The longest counts, of the jobs that are added later too; one that says nothing keeps all
    as the tenant does.
    """
    worker, batch = await world.worker(), 0
    for term in terms:
        rows = replace(job_rows(1), output_keep_s=term)
        new = batch or NewBatch()
        batch, *_ = await world.api.submit(world.caller, new, (), rows, UNKEYED)
        await again(world, worker, 100)
    await world.age("group_completion", "completed_at", by_s=86_400, batch_id=batch)

    assert await remove(world) == is_gone
    assert (await why(world, batch) is not None) == is_gone
    await put_back(world)


async def test_jobs_that_never_came_say_nothing_for_others(world: World) -> None:
    """Neither while their update is open nor when it was given up."""
    api, worker = world.api, await world.worker()
    batch = await ended(world, worker, 100, 1)
    update = await open_update(world, batch, 5)
    rows = replace(job_rows(5), output_keep_s=3600)
    await api.add_jobs(world.caller, batch, update.update_id, rows)
    assert await remove(world) == 0
    await forget(world)
    assert await remove(world) == 0
    assert await why(world, batch) is None
    await put_back(world)


FIRST, SECOND = (bytes([n] * 32) for n in (1, 2))


async def test_files_of_a_job_are_listed_by_path(site: Site) -> None:
    """In pages; nobody else sees them, and a job of somebody else does not get them."""
    api, caller, stranger = site.api, site.caller, site.stranger
    await site.submit(2)
    one, other = await site.claim()
    store, worker = await site.worker()
    files = [KeptFile("b", 2, SECOND), KeptFile("a", 1, FIRST, "s3://x/a")]
    key = AttemptKey(one.batch_id, one.job_id, one.attempt)
    assert await store.record_files(worker, key, files, staging_ms=0, storing_ms=0)
    batch_id, job_id = one.batch_id, one.job_id
    listed = await api.list_files(caller, batch_id, job_id, attempt=None, after=None, limit=10)
    assert [(row["path"], row["bytes"], row["address"]) for row in listed] == [
        ("a", 1, "s3://x/a"),
        ("b", 2, None),
    ]
    assert listed[1]["sha256"] == SECOND.hex()
    rest = await api.list_files(caller, batch_id, job_id, attempt=1, after="a", limit=10)
    assert [row["path"] for row in rest] == ["b"]
    found = await api.find_file(caller, batch_id, job_id, "b", attempt=None)
    assert found is not None
    assert (found.attempt, found.n_bytes, found.digest, found.address) == (1, 2, SECOND, None)
    assert await api.find_file(caller, batch_id, job_id, "b", attempt=2) is None
    assert await api.find_file(caller, batch_id, job_id, "c", attempt=None) is None
    with pytest.raises(BatchNotFound):
        await api.find_file(stranger, batch_id, job_id, "b", attempt=None)
    with pytest.raises(BatchNotFound):
        await api.list_files(stranger, batch_id, job_id, attempt=None, after=None, limit=9)
    with pytest.raises(JobNotFound):
        await api.find_file(caller, batch_id, 99, "b", attempt=None)
    await site.end(one)
    reader = AttemptKey(other.batch_id, other.job_id, other.attempt)
    (seen,) = await store.find_files(worker, reader, [FileWanted(batch_id, job_id, None, "b")])
    assert seen is not None
    assert seen.digest == SECOND
