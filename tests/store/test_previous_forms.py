"""Functions that the api of the previous release calls do what their new forms do."""

from typing import Any

from store.world import World
from weft.ports.store import Claimed
from weft.store.database import call_on

JOB_COLUMNS: dict[str, Any] = {
    "shape_cpu_ms": [1000],
    "shape_memory_mibs": [512],
    "shape_storage_mibs": [0],
    "shape_gpus": [0],
    "shape_countables": [{}],
    "shape_indexes": [0],
    "priorities": [0],
    "always_runs": [False],
    "max_attempts": [2],
    "retry_ons": [0],
    "edge_children": [3],
    "edge_parents": [1],
    "label_jobs": [2],
    "label_names": ["b"],
    "label_attributes": [{"k": "v"}],
    "chunk_firsts": [1],
    "chunk_ns": [3],
    "chunk_bodies": [b""],
    "combo_indexes": [],
    "combo_numbers": [],
    "combo_sets": [],
}
BATCH_COLUMNS: dict[str, Any] = {
    "batch_name": "old",
    "batch_billing_project": "default",
    "batch_attributes": {"a": "b"},
    "batch_callback": None,
    "batch_cancel_after": 5,
    "batch_max_running": 1,
}
GROUP_COLUMNS: dict[str, Any] = {
    "group_ids": [1],
    "parent_ids": [0],
    "group_names": ["g"],
    "group_attributes": [{}],
    "cancel_afters": [None],
    "callbacks": [None],
    "are_sets": [False],
    "depth_max": 9,
    "groups_max": 9,
}


async def test_old_submit(world: World) -> None:
    asked = {
        "tenant_id": world.caller.tenant_id,
        "user_id": world.caller.user_id,
        "of_batch_id": None,
        "trace_id": "0" * 32,
        "idempotency_key": "key",
        "digest": b"d",
        **BATCH_COLUMNS,
        **GROUP_COLUMNS,
        "new_jobs": 3,
        "job_group_ids": [1],
        **JOB_COLUMNS,
    }
    api = await world.connect("weft_api")
    (row,) = await call_on(api, "submit", **asked)
    (again,) = await call_on(api, "submit", **asked)
    batch = row["batch_id"]
    document = await world.api.get_batch(world.caller, batch)
    jobs = await world.api.list_jobs(world.caller, batch, after=0, limit=9)

    assert (row["n_jobs"], row["n_groups"], row["committed"], row["is_new"]) == (3, 1, True, True)
    assert (again["batch_id"], again["is_new"]) == (batch, False)
    assert (document["name"], document["attributes"]) == ("old", {"a": "b"})
    assert (document["max_running"], document["cancel_after_n_failures"]) == (1, 5)
    assert [(job["name"], job["attributes"], job["group_id"]) for job in jobs] == [
        (None, {}, 1), ("b", {"k": "v"}, 1), (None, {}, 1),
    ]  # fmt: skip
    assert await world.states(batch) == "rrp"


async def test_old_create_batch_and_add_jobs(world: World) -> None:
    caller = {"tenant_id": world.caller.tenant_id}
    api = await world.connect("weft_api")
    (row,) = await call_on(
        api, "create_batch", **caller, user_id=world.caller.user_id, name=None,
        billing_project="default", attributes={}, callback=None, cancel_after_n_failures=None,
        max_running=None, trace_id="0" * 32, idempotency_key=None, digest=b"",
    )  # fmt: skip
    batch = row["batch_id"]
    update, _ = await world.api.create_update(
        world.caller, batch, n_jobs=3, n_groups=0, idempotency_key=None, digest=b"", trace_id=""
    )
    bunch = {
        **caller,
        "batch_id": batch,
        "update_id": update.update_id,
        "first_job": 1,
        "n_jobs": 3,
        "group_ids": [0],
        **JOB_COLUMNS,
        "digest": b"d",
    }
    first, again = [await call_on(api, "add_jobs", **bunch) for _ in range(2)]
    found = await call_on(
        api, "get_bunch", **caller, of_batch_id=batch, of_update_id=update.update_id,
        first_position=1, n_jobs=3,
    )  # fmt: skip
    await world.api.commit_update(world.caller, batch, update.update_id)

    assert (first[0][0], again[0][0]) == (True, False)
    assert [(one["job_id"], one["name"], one["parents"]) for one in found] == [
        (1, None, []), (2, "b", []), (3, None, [1]),
    ]  # fmt: skip
    assert await world.states(batch) == "rrp"


async def test_old_reports_of_ends(world: World) -> None:
    """A worker of the previous release ends its jobs, alone or with the next claim."""
    batch = await world.submit(3)
    worker = await world.worker()
    old = await world.connect("weft_worker")
    claimed = await worker.claim(2)
    mine = {"incarnation_id": worker.id}
    stale = {**mine, "batch_ids": [batch, batch], "job_ids": [1, 2], "attempts": [1, 2]}
    to_stop = await call_on(old, "list_cancelled", **stale)
    ((verdicts,),) = await call_on(old, "complete_attempts", **mine, **old_ends(claimed[0]))
    first, *others = await call_on(
        old, "complete_and_claim", **mine, **old_ends(claimed[1]), budget_cpu_m=1000,
        budget_memory_mib=10_000, limit_jobs=1,
    )  # fmt: skip

    assert [tuple(row) for row in to_stop] == [(batch, 2, 2)]
    assert (verdicts, first["verdicts"]) == (["ok"], ["ok"])
    assert [(row["job_id"], row["verdicts"]) for row in others] == [(3, None)]
    assert await world.states(batch) == "ssR"


def old_ends(one: Claimed) -> dict[str, Any]:
    return {
        "batch_ids": [one.batch_id], "job_ids": [one.job_id], "attempts": [one.attempt],
        "start_ages_us": [1000], "end_ages_us": [0], "reasons": None, "exit_codes": [0],
        "signals": None, "cpu_mss": [1], "memory_peaks": [1], "stdout_bytess": [0],
        "stderr_bytess": None, "truncateds": None, "segments": [None], "offsets": [None],
        "messages": None,
    }  # fmt: skip
