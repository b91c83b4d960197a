"""Resubmissions: a new batch from the jobs of an old one, seen when all of it is there."""

from base64 import b64encode
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from builders import array_rows, job_rows
from store.retries import DIAMOND, begin, end_all
from store.test_completion_times import TREE
from store.world import Worker, World
from weft.core.errors import BatchNotFound, IdempotencyConflict, JobNotFound, NothingToResubmit
from weft.core.states import Reason
from weft.driver.operations import advance_operation, resubmit
from weft.driver.operations.copied_specs import Keys
from weft.ports.store import UNKEYED, Origin
from weft.wire.sealed import SecretKeys
from weft.wire.signed import (
    CHANGED_VARIABLES,
    CHUNK,
    NotSigned,
    Signer,
    sign,
    signature,
    signer_of,
)
from weft.wire.spec import FunctionSpec, JobSpec, decode_chunk, encode_chunk


async def ask(
    world: World,
    batch: int,
    /,
    *,
    failed: bool = False,
    key: str | None = None,
    digest: bytes = b"",
    **changes: Any,  # noqa: ANN401 (as the api sends them)
) -> int:
    """Ask for a resubmission; return the operation."""
    return await world.api.resubmit_batch(
        world.caller,
        batch,
        Origin(key=key, digest=digest, trace_id=""),
        failed=failed,
        changes=changes,
    )


async def advance(world: World, operation_id: int, keys: Keys = SecretKeys) -> Mapping[str, Any]:
    """Do one step; return the document of the operation."""
    epoch = await world.lead()
    running = await world.driver.running_operations(epoch, operation_id - 1)
    await advance_operation(world.driver, epoch, running[0], keys)
    return await world.api.get_operation(world.caller, operation_id)


async def finish(world: World, operation_id: int, keys: Keys = SecretKeys) -> int:
    """Do all steps; return the new batch."""
    while (found := await advance(world, operation_id, keys))["state"] == "running":
        pass
    assert found["state"] == "success", found
    return int(found["result"]["batch_id"])


async def copy(world: World, batch: int, /, **asked: Any) -> int:  # noqa: ANN401 (as ask)
    """Resubmit a batch; return the new one."""
    return await finish(world, await ask(world, batch, **asked))


@pytest.mark.parametrize("job", [1, 2, 4])
async def test_one_job_is_copied_alone(world: World, job: int) -> None:
    """Its parents count as done, however they ended; its group and name go along."""
    batch, _worker = await world.submit_and_run(
        job_rows(4, parents=DIAMOND), name="old", reason=Reason.EXIT
    )
    operation = await ask(world, batch, job=job)
    new = await finish(world, operation)
    assert (await world.states(new), await edges(world, new)) == ("r", [])
    document = await world.api.get_operation(world.caller, operation)
    spans = await world.admin.fetch(
        "SELECT from_job, n_jobs FROM weft.resubmitted_span WHERE batch_id = $1", new
    )
    assert (document["done"], document["total"], *map(tuple, spans)) == (1, 1, (job, 1))
    with pytest.raises(JobNotFound):
        await ask(world, batch, job=5)


async def edges(world: World, batch: int) -> list[tuple[int, int]]:
    rows = await world.admin.fetch(
        "SELECT parent_id, child_id FROM weft.edge WHERE batch_id = $1 ORDER BY 1, 2", batch
    )
    return [tuple(row) for row in rows]


async def specs(world: World, batch: int) -> list[JobSpec]:
    """Return the specs of all jobs, each read as a worker does."""
    jobs = await world.admin.fetch(
        "SELECT j.job_id, j.spec_first, s.body FROM weft.job j JOIN weft.job_spec s"
        " ON s.batch_id = j.batch_id AND s.first_job = j.spec_first"
        " WHERE j.batch_id = $1 ORDER BY 1",
        batch,
    )
    return [decode_chunk(job["body"])[job["job_id"] - job["spec_first"]] for job in jobs]


@pytest.fixture
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Copy two jobs a step."""
    monkeypatch.setattr(resubmit, "STEP_JOBS", 2)


@pytest.mark.usefixtures("small_steps")
async def test_all_jobs_of_a_batch_make_a_new_one(world: World) -> None:
    """With groups, sets, parents, names and limits; the old batch stays as it is."""
    batch = await world.submit(
        job_rows(4, group=[0, 1, 2, 2], parents=DIAMOND, names={3: "three"}, priority=7),
        groups=TREE,
        name="old",
        attributes={"k": "v"},
        cancel_after_n_failures=3,
    )
    await end_all(await world.worker())
    new = await copy(world, batch, batch={"name": "new", "attributes": {"more": "1"}})
    document = await world.api.get_batch(world.caller, new)
    jobs = await world.api.list_jobs(world.caller, new, after=0, limit=9)
    old_jobs = await world.api.list_jobs(world.caller, batch, after=0, limit=9)

    assert await world.states(batch) == "srrp"
    assert await world.states(new) == "rppp"
    assert (document["name"], document["attributes"], document["resubmitted_from"]) == (
        "new",
        {"k": "v", "more": "1"},
        batch,
    )
    assert document["cancel_after_n_failures"] == 3
    for name in ("name", "group_id", "priority"):
        assert [one[name] for one in jobs] == [one[name] for one in old_jobs]
    assert await edges(world, new) == await edges(world, batch)


@pytest.mark.usefixtures("small_steps")
async def test_failed_jobs_and_their_children_make_a_new_one(world: World, worker: Worker) -> None:
    """Parents that succeeded count as done; what a person cancelled stays behind."""
    parents = {3: [1, 2], 4: [3], 6: [1]}
    batch = await world.submit(job_rows(7, parents=parents, names={3: "c", 4: "d", 7: "g"}))
    await world.api.cancel_jobs(world.caller, batch, job_ids=[5])
    await end_all(worker, 2, 7)
    await end_all(worker)
    await world.sweep()
    before = await world.states(batch)
    new = await copy(world, batch, failed=True)
    jobs = await world.api.list_jobs(world.caller, new, after=0, limit=9)
    order = [await end_all(worker), await end_all(worker), await end_all(worker)]

    assert before == "sfcccsf"
    assert [job["name"] for job in jobs] == [None, "c", "d", "g"]
    assert await edges(world, new) == [(1, 2), (2, 3)]
    assert order == [[1, 4], [2], [3]]
    assert (await world.api.get_batch(world.caller, new))["state"] == "success"


@pytest.mark.usefixtures("small_steps")
@pytest.mark.parametrize("group", [0, 1])
async def test_what_a_limit_of_failures_cancelled_is_copied(world: World, group: int) -> None:
    """As a retry runs it again; what a person cancelled stays behind."""
    groups = [
        replace(one, cancel_after_n_failures=2 if one.group_id == group else None) for one in TREE
    ]
    batch = await world.submit(
        job_rows(7, group=[2, 2, 2, 2, 2, 2, 0], parents={6: [1]}),
        groups=groups,
        cancel_after_n_failures=None if group else 2,
    )
    worker, (one, two, three) = await world.claim(3)
    await worker.end(one, reason=Reason.EXIT)
    await world.api.cancel_jobs(world.caller, batch, [4])
    await worker.end(three, reason=Reason.EXIT)
    await world.sweep()
    await worker.end(two, reason=Reason.CANCELLED)
    await end_all(worker)
    before = await world.states(batch)
    new = await copy(world, batch, failed=True)
    await world.api.cancel_group(world.caller, batch, group, force=False)
    failed = await copy(world, batch, failed=True)

    assert before == ("fcfcccs" if group else "fcfcccc")
    assert await world.states(new) == ("rrrrp" if group else "rrrrpr")
    assert await edges(world, new) == [(1, 5)]
    assert await world.states(failed) == "rr"


@pytest.mark.usefixtures("small_steps")
async def test_arrays_stay_arrays(world: World, worker: Worker) -> None:
    """Cut where a step ends, or a job is left out; each job keeps its index."""
    batch = await world.submit(array_rows(None, 5, edges={2: [range(1, 2)]}))
    await end_all(worker)
    await end_all(worker, 3, 4, 6)
    whole, part = await copy(world, batch), await copy(world, batch, failed=True)
    found = {
        one: [
            (job["index"], job["name"])
            for job in await world.api.list_jobs(world.caller, one, after=0, limit=9)
        ]
        for one in (batch, whole, part)
    }
    commands = [one.command for one in await specs(world, part)]

    assert found[whole] == found[batch]
    assert await specs(world, whole) == await specs(world, batch)
    assert found[part] == [(index, "array2") for index in (11, 12, 14)]
    assert commands == [("/bin/echo", index) for index in ("11", "12", "14")]
    assert await edges(world, part) == []
    assert await edges(world, whole) == await edges(world, batch)


async def test_jobs_are_different_as_asked(world: World) -> None:
    batch = await world.submit(2)
    changes = {
        "env": {"A": "1"},
        "timeout_s": 60.0,
        "priority": 3,
        "max_attempts": 4,
        "cpu_m": 2000,
        "memory_mib": 700,
        "words": {"queue": "other", "pool": None},
    }
    new = await copy(world, batch, **changes)
    job = await world.job(new, 2)
    shape = await world.admin.fetchrow(
        "SELECT * FROM weft.shape WHERE shape_id = $1", job["shape_id"]
    )

    assert [(one.env, one.timeout_s) for one in await specs(world, new)] == [({"A": "1"}, 60)] * 2
    assert (job["priority"], job["max_attempts"], job["cpu_m"], job["memory_mib"]) == (
        3,
        4,
        2000,
        700,
    )
    assert shape["countables"] == {"queue": "other", "timeout_s": "60-60"}


async def test_functions_are_carried_along(world: World) -> None:
    """Also if the job that carried one is not among those that failed."""
    carrier = JobSpec(executor="function", function=FunctionSpec(pickle=b"f", args=(1,)))
    sharing = [
        JobSpec(executor="function", function=FunctionSpec(args=(n,)), shares=1 - n)
        for n in (2, 3, 4)
    ]
    rows = job_rows(4)
    rows.chunk_body = [encode_chunk([carrier, *sharing])]
    batch = await world.submit(rows)
    await end_all(await world.worker(), 3, 4)
    one, two = await specs(world, await copy(world, batch, failed=True))

    assert one == JobSpec(executor="function", function=FunctionSpec(pickle=b"f", args=(3,)))
    assert two == JobSpec(executor="function", function=FunctionSpec(args=(4,)), shares=-1)


@pytest.mark.parametrize("forged", [None, "env", "chunk"])
async def test_copied_functions_are_signed_for_who_signed_them(
    world: World, forged: str | None
) -> None:
    """With variables that the same user has signed, too; what is forged gets no signature."""
    keys, signer = SecretKeys([bytes(32)]), Signer(3, 4)
    body = encode_chunk([JobSpec(executor="function", function=FunctionSpec(call="os:getpid"))])
    rows = job_rows(1)
    rows.chunk_body = [body if forged == "chunk" else sign(CHUNK, body, signer, keys)]
    env = {"B": "2", "A": "é"}
    wanted = msgspec.json.encode(env, order="sorted")
    of_env = signature(CHANGED_VARIABLES, wanted, signer, keys)
    if forged == "env":
        env["A"] = "forged"
    batch = await world.submit(rows)
    operation = await ask(world, batch, env=env, env_signature=b64encode(of_env).decode())
    new = await finish(world, operation, lambda: keys)
    copied = await world.admin.fetchval("SELECT body FROM weft.job_spec WHERE batch_id = $1", new)

    assert decode_chunk(copied)[0].env == env
    if forged is None:
        assert signer_of(CHUNK, copied, keys) == signer
    else:
        with pytest.raises(NotSigned):
            signer_of(CHUNK, copied, keys)


async def test_a_deadline_that_has_passed_is_left_out(world: World) -> None:
    rows = job_rows(2)
    dates = [datetime.now(UTC) - timedelta(hours=1), datetime.now(UTC) + timedelta(hours=1)]
    rows.rare_job = [1, 2]
    rows.rare_fields = [
        {"deadline": one.isoformat(), "latest_start": one.isoformat()} for one in dates
    ]
    new = await copy(world, await world.submit(rows))
    jobs = await world.api.list_jobs(world.caller, new, after=0, limit=9)

    assert ["deadline" in job for job in jobs] == [False, True]


@pytest.mark.usefixtures("small_steps")
async def test_nobody_sees_a_part_of_it(world: World) -> None:
    """Whatever driver goes on, no job is copied twice, and the same key makes the same batch."""
    batch = await world.submit(5)
    operation = await ask(world, batch, key="once")
    new = await world.admin.fetchval("SELECT max(batch_id) FROM weft.batch")
    seen = []
    while (found := await advance(world, operation))["state"] == "running":
        with pytest.raises(BatchNotFound):
            await world.api.get_batch(world.caller, new)
        seen.append(found["done"])
        await world.backend.begin_term()

    assert seen == [2, 4, 5]
    assert found["result"] == {"batch_id": new, "n_jobs": 5}
    assert await ask(world, batch, key="once") == operation
    with pytest.raises(IdempotencyConflict):
        await ask(world, batch, key="once", digest=b"other")
    assert len(await world.api.list_jobs(world.caller, new, after=0, limit=9)) == 5


@pytest.mark.usefixtures("small_steps")
async def test_a_step_that_is_repeated_adds_nothing(world: World) -> None:
    """The reply to the first one was lost."""
    batch = await world.submit(3)
    operation = await ask(world, batch)
    epoch = await world.lead()
    (running,) = await world.driver.running_operations(epoch, operation - 1)
    for _ in range(2):
        await advance_operation(world.driver, epoch, running)
    new = await finish(world, operation)

    assert await world.states(new) == "rrr"


@pytest.mark.usefixtures("small_steps")
async def test_deletion_of_the_old_batch_ends_it(world: World) -> None:
    """What was copied is removed."""
    batch = await world.submit(5)
    operation = await ask(world, batch)
    await advance(world, operation)
    new = await world.admin.fetchval("SELECT max(batch_id) FROM weft.batch")
    removal = await world.api.delete_batch(world.caller, batch, UNKEYED)
    epoch = await world.lead()
    for _ in range(100):
        await world.sweep()
        await world.fold()
        for running in await world.driver.running_operations(epoch, operation - 1):
            await advance_operation(world.driver, epoch, running)
    rows = await world.admin.fetch(
        "SELECT kind, state FROM weft.operation WHERE batch_id = ANY ($1) ORDER BY operation_id",
        [batch, new],
    )

    assert removal > operation
    assert [tuple(row) for row in rows] == [("delete_batch", "success")] * 2
    assert not await world.admin.fetchval(
        "SELECT count(*) FROM (SELECT batch_id FROM weft.batch UNION ALL"
        " SELECT batch_id FROM weft.job UNION ALL SELECT batch_id FROM weft.job_spec UNION ALL"
        " SELECT batch_id FROM weft.resubmitted_span) t WHERE batch_id = ANY ($1)",
        [batch, new],
    )


async def test_it_waits_for_an_earlier_retry(world: World) -> None:
    """Which decides what has failed."""
    batch = await world.submit(1)
    await end_all(await world.worker(), 1)
    retry, operation = await begin(world, batch), await ask(world, batch, failed=True)
    epoch = await world.lead()
    one, two = await world.driver.running_operations(epoch, retry - 1)

    assert (one.operation_id, two.operation_id) == (retry, operation)
    assert not await advance_operation(world.driver, epoch, two)
    assert await advance_operation(world.driver, epoch, one)
    assert await advance_operation(world.driver, epoch, two)


async def test_nothing_is_left_of_one_that_finds_nothing(world: World) -> None:
    """Its only failed job was cancelled by a person before it was copied."""
    batch = await world.submit(1)
    await end_all(await world.worker(), 1)
    await world.admin.execute(
        "INSERT INTO weft.job_cancel (batch_id, job_id, tenant_id, cancelled_at, actor)"
        " SELECT batch_id, job_id, tenant_id, clock_timestamp(), 'user ada' FROM weft.job"
        " WHERE batch_id = $1",
        batch,
    )
    operation = await ask(world, batch, failed=True)
    epoch = await world.lead()
    await advance(world, operation)
    (running,) = await world.driver.running_operations(epoch, operation - 1)
    with pytest.raises(NothingToResubmit, match="nothing to resubmit"):
        await advance_operation(world.driver, epoch, running)
