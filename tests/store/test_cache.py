"""Jobs with `cache` end without an attempt if the same has succeeded before."""

from typing import Any

import pytest

from builders import array_rows, job_rows, with_fields
from store.backend import Backend
from store.retries import retry
from store.test_deadlines import look
from store.world import Worker, World, open_world
from weft.core.states import AttemptKey, Reason
from weft.ports.store import UNKEYED, Claimed, FileWanted, JobRows, KeptFile

ONE, TWO = (bytes([n] * 32) for n in (1, 2))
OF_PARENT = [{"batch": None, "job": 1, "parent": None, "path": "x"}]


def cached(rows: JobRows, **wants: object) -> JobRows:
    """Give jobs keys: `j2=[…]`, the files that they want."""
    keys = {
        job: {"key": f"{int(job[1:]):02}" * 32, **({"wants": files} if files else {})}
        for job, files in wants.items()
    }
    fields = {job: {"cache": "inputs", "cache_keys": [key]} for job, key in keys.items()}
    return with_fields(rows, **fields)


def pair() -> JobRows:
    """A job, and one that gets its output."""
    return cached(job_rows(2, parents={2: [1]}), j1=None, j2=OF_PARENT)


async def leave(worker: Worker, job: Claimed, *files: KeptFile) -> None:
    key = AttemptKey(job.batch_id, job.job_id, job.attempt)
    assert await worker.store.record_files(worker.id, key, files, staging_ms=0, storing_ms=0)
    await worker.end(job)


async def run_pair(world: World, worker: Worker, digest: bytes = ONE, **new: Any) -> int:  # noqa: ANN401 (as submit)
    batch = await world.submit(pair(), **new)
    for _ in range(2):
        (job,) = await worker.claim()
        await worker.start(job)
        await leave(worker, job, KeptFile("x", 3, digest), KeptFile("y", 3, TWO, "store://s/y"))
    return batch


async def outputs(world: World, batch: int, job: int = 1) -> list[str]:
    rows = await world.api.list_files(world.caller, batch, job, attempt=None, after=None, limit=9)
    return [row["path"] for row in rows]


async def test_the_same_ends_at_once_with_its_outputs(world: World, worker: Worker) -> None:
    """What has parents, when they have ended; a job that it gives its files to, too."""
    first = await run_pair(world, worker)
    again = await world.submit(
        cached(job_rows(3, parents={2: [1], 3: [2]}), j1=None, j2=OF_PARENT)
    )
    assert await world.states(again) == "spp"
    await world.sweep()
    assert await world.states(again) == "srp"
    assert await worker.claim() == []
    await look(world)
    await world.sweep()
    assert await world.states(again) == "ssr"
    await world.fold()
    job = await world.api.get_job(world.caller, again, 2)
    assert (job["outputs_of"], job["attempt"], job["cache"]) == (f"b{first}.j2", 0, "inputs")
    assert "cache_keys" not in job
    *_, last = await world.api.job_history(world.caller, again, 2)
    change = (last["to"], last["subtype"], last["message"])
    assert change == ("success", "cached", f"as b{first}.j2")
    assert await outputs(world, again) == ["x", "y"]
    found = await world.api.find_file(world.caller, again, 1, "x", attempt=None)
    assert found is not None
    assert (found.batch_id, found.digest, found.why_gone) == (first, ONE, None)
    (child,) = await worker.claim()
    key, wanted = AttemptKey(again, 3, 1), FileWanted(None, 1, None, "x")
    await worker.start(child)
    (seen,) = await worker.store.find_files(worker.id, key, [wanted])
    assert seen is not None
    assert (seen.batch_id, seen.digest) == (first, ONE)
    await worker.end(child)
    third = await world.submit(pair())
    assert (await world.api.get_job(world.caller, third, 1))["outputs_of"] == f"b{first}.j1"


async def test_another_input_runs(world: World, worker: Worker) -> None:
    await run_pair(world, worker)
    batch = await world.submit(cached(job_rows(2, parents={2: [1]}), j2=OF_PARENT))
    (job,) = await worker.claim()
    await worker.start(job)
    await leave(worker, job, KeptFile("x", 3, TWO))
    assert await worker.run() == [2]
    without = await world.submit(cached(job_rows(2, parents={2: [1]}), j2=OF_PARENT))
    assert await worker.run() == [1]  # leaves nothing
    assert await worker.run() == [2]
    assert [await world.states(one) for one in (batch, without)] == ["ss", "ss"]


async def test_only_what_succeeded_and_is_kept_counts(world: World, worker: Worker) -> None:
    one = cached(job_rows(1), j1=None)
    await world.submit(one)
    await worker.run(reason=Reason.EXIT)
    hidden = await world.submit(one)
    assert await worker.run() == [1]
    await world.api.hide_batch(world.caller, hidden, hidden=True)
    batch = await world.submit(one)
    assert await world.states(batch) == "r"
    assert await worker.run(reason=Reason.EXIT) == [1]
    await world.api.hide_batch(world.caller, hidden, hidden=False)
    await retry(world, batch, 1)
    assert await worker.run() == [1]  # who tries it again wants it to run
    off = await world.submit(with_fields(job_rows(1), j1={"cache": "off"}))
    assert await world.states(off) == "r"


@pytest.mark.parametrize("removed", ["output", "batch"])
async def test_outputs_go_with_those_of_the_other(
    world: World, worker: Worker, removed: str
) -> None:
    first = await run_pair(world, worker)
    again = await world.submit(pair())
    await look(world)
    noted = await world.submit(pair())
    await world.sweep()
    await world.fold()
    if removed == "output":
        await world.admin.fetch("SELECT weft._remove_output($1, 'old', now())", first)
    else:
        await world.api.delete_batch(world.caller, first, UNKEYED)
    assert await outputs(world, again) == ["y"]
    found = await world.api.find_file(world.caller, again, 1, "x", attempt=None)
    assert found is not None
    gone = {"output": "old", "batch": f"The job of batch b{first} that left them is deleted."}
    assert found.why_gone == gone[removed]
    assert await worker.claim() == []
    await look(world)  # for what was noted before
    assert (await world.states(noted), await worker.run()) == ("sr", [2, 2])
    assert await world.states(await world.submit(pair())) == "rp"


async def test_nobody_learns_what_others_ran(
    world: World, worker: Worker, backend: Backend
) -> None:
    """Not in another tenant, nor another user, also in a batch that both may use."""
    first = await run_pair(world, worker)
    bob = await world.user("bob")
    assert await world.states(await world.submit(pair(), caller=bob)) == "rp"
    await world.submit(cached(job_rows(1), j1=None), batch=first, caller=bob)
    assert await world.states(first) == "ssr"
    async with open_world(backend) as other:
        assert await other.states(await other.submit(pair())) == "rp"


async def test_each_job_of_an_array_is_looked_up(world: World, worker: Worker) -> None:
    def rows(*keys: str) -> JobRows:
        fields = [{"key": key * 32} for key in keys]
        return with_fields(array_rows(None, 3), j2={"cache": "inputs", "cache_keys": fields})

    first = await world.submit(rows("0a", "0b", "0c"))
    await worker.run()
    again = await world.submit(rows("0c", "0d", "0a"))
    assert await world.states(again) == "rsrs"
    jobs = await world.api.list_jobs(world.caller, again, after=0, limit=9)
    outputs_of = [one.get("outputs_of") for one in jobs]
    assert outputs_of == [None, f"b{first}.j4", None, f"b{first}.j2"]


async def test_a_noted_job_may_be_cancelled_and_tried_again(world: World, worker: Worker) -> None:
    first = await run_pair(world, worker)
    again = await world.submit(pair())
    await world.sweep()
    assert await world.states(again) == "sr"
    await world.api.cancel_jobs(world.caller, again, [2])
    assert await look(world) > 0
    assert await world.states(again) == "sc"
    await retry(world, again, 2)
    await look(world)
    await world.sweep()
    assert await world.states(again) == "ss"
    assert (await world.api.get_job(world.caller, again, 2))["outputs_of"] == f"b{first}.j2"
