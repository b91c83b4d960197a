"""Billing projects over HTTP: who makes them, who may charge them, and what closing does."""

from typing import Any

from httpx import AsyncClient

from api.live import LiveWorker, add


async def submit(http: AsyncClient, project: str, **headers: str) -> tuple[int, Any]:
    document = {"billing_project": project, "jobs": [{}]}
    answer = await http.post("/v1/batches", json=document, headers=headers)
    return answer.status_code, answer.json().get("code")


async def test_members_submit_until_the_project_is_closed(
    http: AsyncClient, worker: LiveWorker
) -> None:
    made = await http.post("/v1/billing-projects", json={"name": "Genomics", "cost_max": 12.5})
    header = await add(http, "bob")
    project, member = "/v1/billing-projects/genomics", "/v1/billing-projects/genomics/members/bob"
    before = await submit(http, "Genomics", **header)
    hidden = await http.get(project, headers=header)
    added = await http.put(member)
    allowed = await submit(http, "genomics", **header)
    removed = await http.delete(member)
    after = await submit(http, "Genomics", **header)
    open_one = await http.delete(project)
    closed = await http.patch(project, json={"closed": True})
    refused = await submit(http, "Genomics")
    schedule = await http.post(
        "/v1/schedules",
        json={"cron": "0 2 * * *", "document": {"billing_project": "Genomics", "jobs": [{}]}},
    )
    ran = await worker.work()
    billed = (await http.get(project)).json()
    reopened = await http.patch(project, json={"closed": False, "cost_max": None})

    assert made.status_code == 201
    assert {**made.json(), "cost": 0} == {
        "name": "Genomics",
        "closed": False,
        "cost_max": 12.5,
        "cost_soft_max": None,
        "on_limit": "pause",
        "limit_state": "below",
        "cost_per_hour": 0,
        "limit_in_s": None,
        "cost": 0,
        "cost_by_resource": [],
        "members": ["tester"],
    }
    assert before == after == (404, "API.PROJECT_NOT_FOUND")
    assert hidden.status_code == 404
    assert added.json()["members"] == ["bob", "tester"]
    assert allowed[0] == 201
    assert removed.json()["members"] == ["tester"]
    assert (open_one.status_code, open_one.json()["code"]) == (409, "API.PROJECT_OPEN")
    assert (closed.json()["closed"], closed.json()["cost_max"]) == (True, 12.5)
    assert refused == (409, "API.PROJECT_CLOSED")
    assert (schedule.status_code, schedule.json()["code"]) == (409, "API.PROJECT_CLOSED")
    assert (ran, billed["cost"] > 0) == (1, True)
    assert (reopened.json()["closed"], reopened.json()["cost_max"]) == (False, None)
    assert (await submit(http, "Genomics"))[0] == 201


async def test_who_was_removed_spends_nothing_more(http: AsyncClient, worker: LiveWorker) -> None:
    """Jobs that were there already run; a member goes on with the batch."""
    await http.post("/v1/billing-projects", json={"name": "lab"})
    header = await add(http, "bob")
    member = "/v1/billing-projects/lab/members/bob"
    await http.put(member)
    document = {"billing_project": "lab", "jobs": [{}, {}]}
    batch = (await http.post("/v1/batches", json=document, headers=header)).json()["batch_id"]
    path = f"/v1/batches/{batch}"
    begun = await http.post(f"{path}/updates", json={"n_jobs": 1}, headers=header)
    await worker.end(await worker.claim(), exit_code=1)
    await http.delete(member)
    jobs: dict[str, Any] = {"jobs": [{}]}

    refused = [
        await http.post(f"{path}/{what}", json=body, headers=header)
        for what, body in (
            ("updates", jobs),
            ("updates", {"n_jobs": 1}),
            (f"updates/{begun.json()['update_id']}/commit", {}),
            ("retry", {}),
            ("resubmit", {}),
        )
    ]
    goes_on = await http.post(f"{path}/updates", json=jobs)

    assert {(one.status_code, one.json()["code"]) for one in refused} == {
        (404, "API.PROJECT_NOT_FOUND")
    }, [one.text for one in refused]
    assert "Neither you nor its owner, bob, is a member" in refused[0].json()["detail"]
    assert goes_on.status_code == 201


async def test_deleted_project_is_in_no_list_and_keeps_its_name(http: AsyncClient) -> None:
    project = "/v1/billing-projects/p%2Fq"
    key = {"Idempotency-Key": "k"}
    made = [
        await http.post("/v1/billing-projects", json={"name": "p/q"}, headers=header)
        for header in (key, key, {})
    ]
    status, _ = await submit(http, "p/q")
    await http.patch(project, json={"closed": True})
    deleted = await http.delete(project)
    gone = [
        await http.get(project),
        await http.get(f"{project}/days"),
        await http.delete(project),
        await http.patch(project, json={"closed": False}),
        await http.put(f"{project}/members/tester"),
    ]
    again = await http.post("/v1/billing-projects", json={"name": "P/Q"}, headers=key)
    listed = (await http.get("/v1/billing-projects")).json()["items"]
    (batch,) = (await http.get("/v1/batches")).json()["items"]

    assert [one.status_code for one in made] == [201, 201, 409]
    assert made[2].json()["code"] == "API.PROJECT_EXISTS"
    assert (status, deleted.json()) == (201, {"name": "p/q"})
    assert [one.status_code for one in gone] == [404] * 5
    assert (await submit(http, "p/q"))[1] == "API.PROJECT_NOT_FOUND"
    assert again.json()["code"] == "API.PROJECT_EXISTS"
    assert [one["name"] for one in listed] == ["default"]
    assert batch["billing_project"] == "p/q"


async def test_wrong_limits_are_refused(http: AsyncClient) -> None:
    for limit in ("-1", "NaN", "1e400", "1e16", '"much"'):
        answer = await http.post(
            "/v1/billing-projects",
            content=f'{{"name": "p", "cost_max": {limit}}}',
            headers={"content-type": "application/json"},
        )

        assert answer.status_code == 400, limit
        for field in ("cost_max", "cost_soft_max", "on_limit"):
            changed = await http.patch(
                "/v1/billing-projects/default",
                content=f'{{"{field}": {limit}}}',
                headers={"content-type": "application/json"},
            )

            assert changed.status_code == 400, (field, limit)


async def test_limits_of_a_closed_project_change(http: AsyncClient) -> None:
    """Its batches go on, and cost."""
    project = "/v1/billing-projects/default"
    limits = {"cost_max": 7, "cost_soft_max": 5, "on_limit": "cancel"}
    await http.patch(project, json={"closed": True})
    limited = (await http.patch(project, json=limits)).json()
    again = (await http.patch(project, json={"cost_max": None})).json()

    assert {name: limited[name] for name in limits} == limits
    assert again == {**limited, "cost_max": None}


async def test_what_is_too_large_is_a_clear_400(http: AsyncClient) -> None:
    cases: list[Any] = [
        {"resources": {"cpu": "1e999999999"}},
        {"function": {"call": "math:factorial", "args": [2**70]}},
        {"group": "/" + "/".join(chr(0x20000 + n) * 256 for n in range(8))},
    ]
    for job in cases:
        body = {"jobs": [{"command": ["true"], **job} if "function" not in job else job]}
        answer = await http.post("/v1/batches", json=body)

        assert (answer.status_code, answer.json()["code"]) == (400, "API.INVALID_VALUE"), (
            answer.text
        )
        assert "index" not in answer.text
