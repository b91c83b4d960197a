"""How jobs and batches of Hail's client end, and what they used and cost, in all documents."""

import httpx

from api.hail_door import API, Hail, batch, job
from api.live import LiveApi, LiveWorker
from builders import end_report, key_of
from weft.core.states import AttemptKey, Reason
from weft.run.doors import api_doors
from weft.wire.usage_format import UsageSample

LIVE_DOORS = api_doors()


async def test_ends_are_found_as_they_are_shown(hail: Hail, worker: LiveWorker) -> None:
    """By signal, by a code, out of memory, without a start."""
    b = await hail.submit("t", *[job(n, "x") for n in range(1, 6)])
    *some, last = sorted(await worker.claim(), key=key_of)
    await worker.start(some)
    ends = [
        end_report(some[0], Reason.SIGNAL, signal=9, start_age_us=1500),
        end_report(some[1], Reason.EXIT, exit_code=3),
        end_report(some[2], Reason.OOM, signal=9),
        end_report(some[3], exit_code=0),
        end_report(last, Reason.NO_PROGRAM, start_age_us=None),
    ]
    assert set(await worker.store.complete_attempts(worker.incarnation_id, ends)) == {"ok"}
    jobs = [await hail.ask("GET", f"/batches/{b}/jobs/{n}") for n in range(1, 6)]
    listed = (await hail.ask("GET", f"/batches/{b}/jobs"))["jobs"]
    found = {}
    for query in ("= NULL", "!= NULL", "> 3", "= 137", "!= 137", "<= 3"):
        answer = await hail.http.get(
            f"/api/v2alpha/batches/{b}/jobs", params={"q": f"exit_code {query}"}
        )
        found[query] = [one["job_id"] for one in answer.json()["jobs"]]

    assert [one["state"] for one in jobs] == ["Failed", "Failed", "Failed", "Success", "Failed"]
    assert [one["exit_code"] for one in jobs] == [137, 3, 137, 0, None]
    assert found == {
        "= NULL": [5],
        "!= NULL": [1, 2, 3, 4],
        "> 3": [1, 3],
        "= 137": [1, 3],
        "!= 137": [2, 4, 5],
        "<= 3": [2, 4],
    }
    for entry, one in zip(listed, jobs, strict=True):
        assert entry == {name: one[name] for name in entry}
    for one in jobs[:4]:
        status = one["status"]
        assert one["duration"] == status["end_time"] - status["start_time"]
    main = jobs[4]["status"]["container_statuses"]["main"]
    assert ("container_status" in main, bool(main["error"])) == (False, True)


async def test_cancelled_batch_is_found_even_if_all_had_ended(
    hail: Hail, worker: LiveWorker
) -> None:
    b = await hail.submit("t", job(1, "x"))
    await worker.work()
    await hail.ask("PATCH", f"/batches/{b}/cancel")
    shown = await hail.ask("GET", f"/batches/{b}")
    other = await hail.submit("u", job(1, "x"))
    found = [
        [one["id"] for one in (await hail.http.get(path)).json()["batches"]]
        for path in (f"{API}/batches?q=cancelled", "/api/v2alpha/batches?q=state=cancelled")
    ]
    rest = await hail.ask("GET", "/batches?q=!cancelled")
    ours = (await hail.http.get("/v1/batches?q=state=cancelled")).json()["items"]

    assert (shown["state"], shown["n_succeeded"]) == ("cancelled", 1)
    assert found == [[b], [b]]
    assert [one["id"] for one in rest["batches"]] == [other]
    assert ours == []


async def test_refusals_are_texts_wherever_they_come_from(hail: Hail, api: LiveApi) -> None:
    """Before a route is found, too. What a spec says of a group does not count as a path."""
    made = await hail.ask("POST", "/batches/create", batch("t", n_jobs=1))
    path = f"/batches/{made['id']}/updates/{made['update_id']}/jobs/create"
    async with httpx.AsyncClient(base_url=api.url) as stranger:
        answers = [
            await stranger.get(f"{API}/batches"),
            await hail.http.get(f"{API}/nothing"),
            await hail.http.put(f"{API}/batches/create"),
            await hail.http.post(API + path, json=[job(1, "x", absolute_job_group_id=7)]),
        ]

    assert [one.status_code for one in answers] == [401, 404, 405, 400]
    for one in answers:
        assert one.headers["content-type"].startswith("text/plain")
        assert one.text
        assert "{" not in one.text


async def test_what_a_job_used_is_a_table(hail: Hail, worker: LiveWorker) -> None:
    b = await hail.submit("t", job(1, "true"), job(2, "true", in_update_parent_ids=[1]))
    waiting = await hail.ask("GET", f"/batches/{b}/jobs/2/resource_usage")
    (claimed,) = await worker.claim_and_start()
    samples = [UsageSample(1000, 500, 7 << 20), UsageSample(3000, 4500, 9 << 20)]
    await worker.keep_samples(AttemptKey(b, 1, 1), samples)
    used = await hail.ask("GET", f"/batches/{b}/jobs/1/resource_usage")
    (attempt,) = await hail.ask("GET", f"/batches/{b}/jobs/1/attempts")
    started = attempt["start_time_ms"]

    await worker.end([claimed])
    await worker.work()
    brief = await hail.ask("GET", f"/batches/{b}/jobs/2/resource_usage")
    (end,) = await hail.ask("GET", f"/batches/{b}/jobs/2/attempts")

    assert waiting == {}
    assert brief["main"]["data"] == [[end["end_time_ms"], 1, 1.0]]
    assert used["main"]["columns"] == ["time_msecs", "memory_in_bytes", "cpu_usage"]
    assert used["main"]["index"] == [0, 1]
    assert used["main"]["data"] == [
        [started + 1000, 7 << 20, 0.5],
        [started + 3000, 9 << 20, 2.0],
    ]


async def test_lists_say_what_each_resource_cost(hail: Hail, worker: LiveWorker) -> None:
    b = await hail.submit("t", job(1, "true"), job(2, "true", in_update_parent_ids=[1]))
    await worker.end(await worker.claim())
    ended, waiting = (await hail.ask("GET", f"/batches/{b}/jobs"))["jobs"]
    alone = await hail.ask("GET", f"/batches/{b}/jobs/1")
    names = ("cost", "cost_breakdown", "msec_mcpu")

    assert {name: ended[name] for name in names} == {name: alone[name] for name in names}
    assert ended["msec_mcpu"] > 0
    assert (waiting["cost"], waiting["cost_breakdown"]) == (0, [])


async def test_costs_are_the_same_in_all_documents(hail: Hail, worker: LiveWorker) -> None:
    groups = [{"job_group_id": n, "in_update_parent_id": n - 1} for n in (1, 2)]
    asked = {"cpu": "0.25", "memory": "50Mi"}
    b = await hail.submit(
        "t", job(1, "true", in_update_job_group_id=2, resources=asked), job_groups=groups
    )
    await worker.work()
    paths = ("", "/job-groups/0", "/job-groups/1", "/job-groups/2", "/jobs/1")
    documents = [await hail.ask("GET", f"/batches/{b}{path}") for path in paths]
    documents += (await hail.ask("GET", f"/batches/{b}/jobs?recursive=1"))["jobs"]
    costs = [(one["cost"], one["cost_breakdown"]) for one in documents]

    assert costs[0][0] > 0
    assert costs == costs[:1] * 6
