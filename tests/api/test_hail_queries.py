"""Queries of Hail's client find what its documents show."""

from datetime import datetime
from typing import Any

import pytest

from api.hail_door import API, Hail, batch, job
from api.live import LiveWorker, add, fold
from builders import end_report
from weft.core.states import Reason
from weft.run.doors import api_doors

LIVE_DOORS = api_doors()
LONG_AGO = "2023-02-24T17:15:25Z"
SMALL = {"cpu": "0.25"}


async def found(hail: Hail, path: str, query: str | None) -> list[dict[str, Any]]:
    params = {} if query is None else {"q": query}
    answer = await hail.http.get(f"/api/{path}", params=params)
    assert answer.status_code == 200, (query, answer.text)
    (rows,) = [rows for rows in answer.json().values() if isinstance(rows, list)]
    return rows


async def test_instance_collections_are_those_of_documents(hail: Hail) -> None:
    memories = ("lowmem", "standard", "highmem", "100Mi", "500Mi", "2Gi")
    specs = [job(n, "x", resources={**SMALL, "memory": m}) for n, m in enumerate(memories, 1)]
    b = await hail.submit("t", *specs, job(7, "x", resources=SMALL))
    shown = {
        n: (await hail.ask("GET", f"/batches/{b}/jobs/{n}"))["inst_coll"] for n in range(1, 8)
    }
    path = f"v2alpha/batches/{b}/jobs"
    by_query = {
        said: [one["job_id"] for one in await found(hail, path, f"instance_collection {said}")]
        for said in ("= highcpu", "== standard", "!= standard", "=~ high", "!~ high", "= odd")
    }

    assert list(shown.values()) == ["highcpu", "standard", "highmem"] * 2 + ["standard"]
    assert by_query == {
        "= highcpu": [1, 4],
        "== standard": [2, 5, 7],
        "!= standard": [1, 3, 4, 6],
        "=~ high": [1, 3, 4, 6],
        "!~ high": [2, 5, 7],
        "= odd": [],
    }


async def test_times_are_of_what_ran_and_durations_of_what_ended(
    hail: Hail, worker: LiveWorker, database: dict[str, str]
) -> None:
    """One job runs, one could not be started, one is cancelled before it runs."""
    inside = {"in_update_job_group_id": 1}
    b = await hail.submit(
        "t",
        job(1, "x"),
        job(2, "x"),
        job(3, "x", in_update_parent_ids=[1], **inside),
        job_groups=[{"job_group_id": 1, "in_update_parent_id": 0}],
    )
    first, second = await worker.claim(2)
    await worker.start([first])
    could_not = end_report(second, Reason.NO_PROGRAM, start_age_us=None)
    await worker.store.complete_attempts(worker.incarnation_id, [could_not])
    await hail.ask("PATCH", f"/batches/{b}/job-groups/1/cancel")
    await fold(database["weft_driver"])
    jobs = (await hail.ask("GET", f"/batches/{b}/jobs?recursive=1"))["jobs"]
    path = f"v2alpha/batches/{b}/jobs"
    by_query = {
        query: [one["job_id"] for one in await found(hail, path, query)]
        for query in (
            f"start_time > {LONG_AGO}",
            f"start_time < {LONG_AGO}",
            f"end_time > {LONG_AGO}",
            "duration >= 0",
            "duration < 1",
            "duration = 0",
            "duration > 0",
            "duration != 0",
        )
    }
    (attempt,) = await hail.ask("GET", f"/batches/{b}/jobs/2/attempts")

    assert [one["state"] for one in jobs] == ["Running", "Failed", "Cancelled"]
    assert [one["end_time"] is not None for one in jobs] == [False, True, False]
    assert [one["duration"] for one in jobs] == [None, 0, None]
    assert (attempt["start_time"], attempt["duration_ms"]) == (jobs[1]["end_time"], 0)
    assert datetime.fromisoformat(attempt["end_time"]).timestamp() == attempt["end_time_ms"] / 1000
    assert list(by_query.values()) == [[1, 2], [], [2], [2], [2], [2], [], []]


async def test_batches_that_run_have_no_duration_and_empty_ones_have_ended(
    hail: Hail, worker: LiveWorker
) -> None:
    """Others have ended before their completion is recorded, as their documents say."""
    done = await hail.submit("d", job(1, "x"))
    await worker.work()
    runs = await hail.submit("t", job(1, "x"))
    empty = (await hail.ask("POST", "/batches/create", batch("e")))["id"]
    shown = [await hail.ask("GET", f"/batches/{one}") for one in (done, runs, empty)]
    queries = ("duration < 1000", f"end_time > {LONG_AGO}", f"start_time > {LONG_AGO}")
    by_query = [
        [one["id"] for one in await found(hail, "v2alpha/batches", query)] for query in queries
    ]

    assert [one["time_completed"] is None for one in shown] == [False, True, False]
    assert by_query == [[empty, done], [empty, done], [empty, runs, done]]


@pytest.mark.parametrize("version", [1, 2])
async def test_empty_query_finds_batches_of_all_members_and_none_ones_own(
    hail: Hail, version: int
) -> None:
    mine = await hail.submit("t", job(1, "x"))
    bob = await add(hail.http, "bob")
    body = {"batch": batch("t", n_jobs=1), "bunch": [job(1, "x")]}
    answer = await hail.http.post(f"{API}/batches/create-fast", json=body, headers=bob)
    theirs = answer.json()["id"]
    path = f"v{version}alpha/batches"
    own, every = [[one["id"] for one in await found(hail, path, query)] for query in (None, "")]

    assert (own, every) == ([mine], [theirs, mine])
