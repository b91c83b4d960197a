"""Arrays in documents and in bunches, on a real database."""

from typing import Any

import httpx

from api.live import TOKEN, LiveApi, LiveWorker
from weft.client.api import Api

ARRAY: dict[str, Any] = {"command": ["/bin/echo", "$WEFT_INDEX"], "name": "each", "count": 1000}


async def create(http: httpx.AsyncClient, *jobs: dict[str, Any]) -> httpx.Response:
    return await http.post("/v1/batches", json={"jobs": list(jobs)})


async def parents_of(api: LiveApi, batch: int, job: int) -> list[int]:
    async with Api(api.url, TOKEN) as client:
        return [one["job_id"] async for one in client.list_parents(batch, job, page_rows=1000)]


async def test_array_is_one_entry_of_a_document(
    api: LiveApi, http: httpx.AsyncClient, worker: LiveWorker
) -> None:
    answer = await create(http, {"name": "before"}, ARRAY, {"parents": ["each"]})
    batch = answer.json()["id"]

    assert answer.status_code == 201, answer.text
    assert answer.json()["n_jobs"] == 1002
    job = (await http.get(f"/v1/batches/{batch}/jobs/501")).json()
    assert (job["name"], job["index"], job["state"]) == ("each", 499, "ready")
    assert job["spec"]["command"] == ["/bin/echo", "499"]
    gather = (await http.get(f"/v1/batches/{batch}/jobs/1002")).json()
    assert (gather["index"], gather["state"]) == (None, "pending")
    assert (gather["parents"], gather["n_parents"]) == (list(range(2, 102)), 1000)
    assert await parents_of(api, batch, 1002) == list(range(2, 1002))
    assert await worker.work() == 1002


async def test_named_arrays_are_sorted_with_all_their_jobs(http: httpx.AsyncClient) -> None:
    """Numbers as parents are positions in the document, also when the jobs change places."""
    answer = await create(
        http,
        {"name": "gather", "parents": ["scatter"]},
        {"name": "scatter", "count": 3, "parents": ["source"], "index_from": 5},
        {"name": "other", "count": 2, "parents": [[2, 3], 4]},
        {"name": "source"},
    )
    batch = answer.json()["id"]
    jobs = [(await http.get(f"/v1/batches/{batch}/jobs/{n}")).json() for n in range(1, 8)]

    assert answer.json()["job_ids"] == [5, 2, 6, 1]
    assert [job["name"] for job in jobs] == ["source", *["scatter"] * 3, "gather", *["other"] * 2]
    assert [job["index"] for job in jobs] == [None, 5, 6, 7, None, 0, 1]
    assert [job["parents"] for job in jobs] == [[], [1], [1], [1], [2, 3, 4], [2, 3, 4], [2, 3, 4]]


async def test_parts_of_an_array_in_bunches(http: httpx.AsyncClient, worker: LiveWorker) -> None:
    batch = (await http.post("/v1/batches", json={})).json()["id"]
    update = (await http.post(f"/v1/batches/{batch}/updates", json={"n_jobs": 10})).json()
    jobs_of = f"/v1/batches/{batch}/updates/{update['update_id']}/jobs"
    bunches = [
        {"first": 6, "jobs": [{**ARRAY, "count": 4, "index_from": 5}, {"parents": [[1, 9]]}]},
        {"first": 1, "jobs": [{**ARRAY, "count": 5}]},
    ]
    answers = [await http.post(jobs_of, json=bunch) for bunch in [*bunches, *bunches]]
    done = await http.post(f"/v1/batches/{batch}/updates/{update['update_id']}/commit", json={})

    assert [answer.json()["n_jobs"] for answer in answers] == [5, 5, 5, 5]
    assert done.status_code == 200, done.text
    jobs = (await http.get(f"/v1/batches/{batch}/jobs")).json()["items"]
    assert [job["index"] for job in jobs] == [*range(9), None]
    assert await worker.work() == 10


async def test_array_of_one_job_is_an_array(http: httpx.AsyncClient) -> None:
    batch = (await create(http, {**ARRAY, "count": 1, "index_from": 7})).json()["id"]

    job = (await http.get(f"/v1/batches/{batch}/jobs/1")).json()
    assert (job["index"], job["spec"]["env"]) == (7, {"WEFT_INDEX": "7"})


async def test_array_over_values_gives_each_job_its_own(
    api: LiveApi, http: httpx.AsyncClient, worker: LiveWorker
) -> None:
    """More than fit one chunk; named as a parent it is still one."""
    values = [f"sample {n}" for n in range(2500)]
    answer = await create(
        http,
        {"parents": ["each"]},
        {"name": "each", "command": ["/bin/echo", "{value}"], "values": values, "index_from": 1},
        {"name": "other", "attributes": {"a": "b"}},
    )
    batch = answer.json()["id"]
    jobs = [
        (await http.get(f"/v1/batches/{batch}/jobs/{n}")).json() for n in (1, 2500, 2501, 2502)
    ]

    assert answer.json()["job_ids"] == [2501, 1, 2502]
    assert [(job["name"], job["index"]) for job in jobs] == [
        ("each", 1),
        ("each", 2500),
        (None, None),
        ("other", None),
    ]
    assert jobs[1]["spec"]["command"] == ["/bin/echo", "sample 2499"]
    assert jobs[1]["spec"]["env"] == {"WEFT_INDEX": "2500", "WEFT_ARRAY_VALUE": "sample 2499"}
    assert (jobs[2]["parents"], jobs[2]["n_parents"]) == (list(range(1, 101)), None)
    assert await parents_of(api, batch, 2501) == list(range(1, 2501))
    assert await worker.work() == 2502


async def test_a_function_of_an_array_over_values_is_carried_by_each_part(
    http: httpx.AsyncClient,
) -> None:
    values = [str(n) for n in range(1200)]
    answer = await create(
        http,
        {"function": {"pickle": "eA=="}, "values": values},
        {"function": {"of": 1, "arguments": "eA=="}, "values": values},
    )
    batch = answer.json()["id"]
    shown = [
        (await http.get(f"/v1/batches/{batch}/jobs/{n}")).json()["spec"] for n in (1200, 2400)
    ]

    assert [one["function"] for one in shown] == [
        {"pickle_bytes": 1},
        {"arguments_bytes": 1, "of": "j1"},
    ]
    assert [one["env"]["WEFT_ARRAY_VALUE"] for one in shown] == ["1199", "1199"]


async def test_too_large_an_array_says_how_to_send_it(http: httpx.AsyncClient) -> None:
    problem = (await create(http, {"count": 1_000_001})).json()

    assert (problem["status"], problem["code"]) == (413, "API.TOO_MANY_JOBS")
    assert problem["errors"][0]["pointer"] == "/jobs/0/count"
    assert "1000001 jobs" in problem["detail"]
    assert "index_from" in problem["hint"]


async def test_two_arrays_that_wait_for_each_other_are_refused(http: httpx.AsyncClient) -> None:
    """Each of the second for each of the first: that is too many pairs."""
    answer = await create(http, {**ARRAY, "count": 2000}, {"count": 2000, "parents": ["each"]})
    problem = answer.json()

    assert (problem["status"], problem["code"]) == (413, "API.TOO_MANY_PARENTS")
    assert "4000000 parents" in problem["detail"]
    assert "job without a command" in problem["hint"]
