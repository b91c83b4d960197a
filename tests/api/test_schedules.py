"""Schedules over HTTP, and their runs: submitted as the owner, once for each due time."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg
import msgspec
import pytest
from httpx import AsyncClient

from api.live import Dsns, LiveApi, as_admin, leading, make_user
from contexts import beside
from weft.api.use_cases.schedules import ScheduleRuns
from weft.ports.store import ScheduleMove, ScheduleRun
from weft.sql import text_of
from weft.wire.documents.batches import BatchDocument

BATCH = {"name": "nightly", "jobs": [{"command": ["true"], "env": {"A_TOKEN": "x", "B": "y"}}]}

TAKEN = "SELECT count(taken_until) FROM weft.schedule_run WHERE schedule_id = 1"


async def add(http: AsyncClient, **fields: object) -> dict[str, Any]:
    document = {"cron": "0 2 * * *", "document": BATCH, **fields}
    answer = await http.post("/v1/schedules", json=document)
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def refused(http: AsyncClient, **fields: object) -> tuple[str, list[str]]:
    answer = await http.post(
        "/v1/schedules", json={"cron": "0 2 * * *", "document": BATCH, **fields}
    )
    assert answer.status_code >= 400
    problem = answer.json()
    return problem["code"], [one["pointer"] for one in problem["errors"]]


async def shown(http: AsyncClient, schedule: int = 1) -> dict[str, Any]:
    found: dict[str, Any] = (await http.get(f"/v1/schedules/s{schedule}")).json()
    return found


async def begin(database: Dsns, schedule: int = 1, n_runs: int = 1) -> None:
    """Let a driver find that a schedule was due some seconds ago."""
    past = "UPDATE weft.schedule SET next_at = clock_timestamp() - interval '9 s'"
    await as_admin(database, past)
    async with leading(database["weft_driver"]) as (store, epoch):
        (due,) = [
            one for one in await store.due_schedules(epoch, limit=9) if one.schedule_id == schedule
        ]
        runs = [due.next_at + timedelta(seconds=n) for n in range(n_runs)]
        move = ScheduleMove(schedule, due.next_at, due.now + timedelta(hours=1), 0, runs)
        assert await store.begin_schedule_runs(epoch, [move]) == n_runs


async def submit(api: LiveApi) -> float | None:
    """Submit what is due; return in how many seconds there may be more."""
    await api.app.schedule_runs.submit_due()
    await api.app.schedule_runs.settled()
    return await api.app.schedule_runs.submit_due()


async def audit(database: Dsns) -> None:
    assert await as_admin(database, text_of("audit", "schedules_have_runs")) == []


async def test_schedule_is_added_shown_changed_and_removed(http: AsyncClient) -> None:
    added = await add(http, time_zone="Europe/Berlin")
    next_at = datetime.fromisoformat(added["next_at"])
    page = (await http.get("/v1/schedules?limit=1")).json()
    paused = await http.patch("/v1/schedules/1", json={"paused": True})
    later = await http.patch("/v1/schedules/1", json={"cron": "0 3 * * *", "name": "x"})
    resumed = await http.patch("/v1/schedules/1", json={"paused": False, "missed": "last"})

    assert next_at.minute == 0
    assert next_at - datetime.now(UTC) <= timedelta(hours=25)
    assert (added["name"], added["user"], added["state"]) == ("nightly", "tester", "active")
    assert added["document"]["jobs"][0]["env"] == {"A_TOKEN": "<masked>", "B": "y"}
    assert [one["schedule_id"] for one in page["items"]] == [1]
    assert "document" not in page["items"][0]
    assert (paused.json()["state"], paused.json()["next_at"]) == ("paused", None)
    assert (later.json()["state"], later.json()["name"]) == ("paused", "x")
    assert resumed.json()["cron"] == "0 3 * * *"
    assert resumed.json()["missed"] == "last"
    assert datetime.fromisoformat(resumed.json()["next_at"]) != next_at
    assert (await http.delete("/v1/schedules/1")).json() == {"schedule_id": 1}
    assert (await http.get("/v1/schedules/1")).json()["code"] == "API.SCHEDULE_NOT_FOUND"


async def test_audit_finds_nothing_of_one_that_was_paused_before_its_first_run(
    http: AsyncClient, database: Dsns
) -> None:
    await add(http)
    await http.patch("/v1/schedules/1", json={"paused": True})
    await audit(database)


async def test_repeat_of_a_request_adds_one_schedule(http: AsyncClient) -> None:
    """Also as msgpack, which the Python client sends."""
    document = {"cron": "0 2 * * *", "document": BATCH}
    headers = {"idempotency-key": "k", "content-type": "application/msgpack"}
    body = msgspec.msgpack.encode(document)
    answers = [await http.post("/v1/schedules", content=body, headers=headers) for _ in range(2)]

    assert [one.status_code for one in answers] == [201, 201]
    assert "idempotent-replay" in answers[1].headers
    assert answers[0].json() == answers[1].json()
    assert answers[0].json()["document"]["name"] == "nightly"


async def test_wrong_schedules_are_refused(http: AsyncClient) -> None:
    """As a submission of the document would be, and before anything is there."""
    empty = {"jobs": [{"command": []}, {"command": ["a"], "parents": ["nobody"]}]}
    large = {"jobs": [{"command": ["a"], "stdin": "x" * (1 << 20)}]}
    mine = {"attributes": {"schedule": "s1"}, "jobs": []}
    found = [
        await refused(http, cron="0 0 31 2 *"),
        await refused(http, time_zone="Europe/Berlni"),
        await refused(http, cron="x", time_zone="x"),
        await refused(http, document=empty),
        await refused(http, document={"jobs": [{"resources": {"cpu": -1}}]}),
        await refused(http, document={"billing_project": "nobody's"}),
        await refused(http, document=mine),
        await refused(http, document=large),
        await refused(http, document={"jobs": [{"resources": 7}]}),
        await refused(http, document={"jobs": 7}),
    ]

    assert [code for code, _ in found[:3]] == [
        "API.INVALID_CRON",
        "API.UNKNOWN_TIME_ZONE",
        "API.INVALID_DOCUMENT",
    ]
    assert found[2][1] == ["/time_zone", "/cron"]
    assert [pointers[0] for _, pointers in found[3:]] == [
        "/document/jobs/0/command",
        "/document/jobs/0/resources/cpu",
        "/document/billing_project",
        "/document/attributes/schedule",
        "/document",
        "/document/jobs/0/resources",
        "/document/jobs",
    ]
    assert (await http.get("/v1/schedules")).json()["items"] == []


async def test_limits(api: LiveApi, http: AsyncClient) -> None:
    services = api.app.services
    services.settings = replace(
        services.settings, schedules_per_user_max=1, schedule_interval_min_s=3600
    )
    added = await add(http, cron="5 * * * *")

    assert await refused(http, cron="*/30 * * * *") == ("API.INVALID_CRON", ["/cron"])
    assert await refused(http) == ("API.TOO_MANY_SCHEDULES", [])
    assert added["cron"] == "5 * * * *"


async def test_due_run_is_submitted_as_its_owner(
    api: LiveApi, http: AsyncClient, database: Dsns, admin: asyncpg.Connection
) -> None:
    await add(http, time_zone="Europe/Berlin")
    await begin(database, n_runs=2)
    again_s = await submit(api)
    runs = (await shown(http))["runs"]
    batches = [(await http.get(f"/v1/batches/{one['batch_id']}")).json() for one in runs]

    trail = await admin.fetch(
        "SELECT user_name, path, address, token_id, batch_id FROM weft.trail_unsealed "
        "WHERE action = 'run_schedule' ORDER BY at"
    )

    assert again_s is None
    assert sorted(map(tuple, trail)) == [
        ("tester", "/v1/schedules/s1", None, None, one) for one in sorted(b["id"] for b in batches)
    ]
    assert [one["user"] for one in batches] == ["tester"] * 2
    assert {one["attributes"]["schedule"] for one in batches} == {"s1"}
    assert [datetime.fromisoformat(one["attributes"]["schedule_due_at"]) for one in batches] == [
        datetime.fromisoformat(one["due_at"]).replace(microsecond=0) for one in runs
    ]
    assert batches[0]["attributes"]["schedule_due_at"][-6:] in {"+01:00", "+02:00"}
    await audit(database)


async def test_run_is_not_submitted_twice(api: LiveApi, http: AsyncClient, database: Dsns) -> None:
    """The api died between the submission and its record: another one takes the run over."""
    await add(http)
    await begin(database)
    runs = await api.store.take_schedule_runs(limit=9, lease_s=0)
    submitter = api.app.schedule_runs
    first = await submitter.create(runs[0])
    await submit(api)
    (run,) = (await shown(http))["runs"]

    assert run["batch_id"] == first
    assert len((await http.get("/v1/batches")).json()["items"]) == 1
    await audit(database)


async def test_tenant_whose_runs_take_long_leaves_half_of_the_room(
    api: LiveApi, http: AsyncClient, database: Dsns, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As those do that wait until their expressions are evaluated."""
    await make_user(database["admin"], tenant="other", token="strangers")
    runs, held = api.app.schedule_runs, list[int]()
    go_on, served = asyncio.Event(), asyncio.Event()
    create = runs.create

    async def slow(run: ScheduleRun) -> int:
        if run.schedule_id == 1:
            held.append(1)
            await go_on.wait()
        else:
            served.set()
        return await create(run)

    monkeypatch.setattr(runs, "create", slow)
    async with api.client(authorization="Bearer strangers") as stranger, asyncio.timeout(60):
        await add(http)
        await add(stranger)
        await begin(database, n_runs=7)
        await runs.submit_due()
        await begin(database, schedule=2)
        await runs.submit_due()
        await served.wait()
        ((taken,),) = await as_admin(database, TAKEN)
        assert len(held) == taken == 5
        go_on.set()
        while (await submit(api)) is not None:
            pass
        assert len((await shown(stranger, 2))["runs"]) == 1
    assert [one["batch_id"] for one in (await shown(http))["runs"]].count(None) == 0
    await audit(database)


async def test_refused_run_is_told_and_the_schedule_goes_on(
    api: LiveApi, http: AsyncClient, database: Dsns, admin: asyncpg.Connection
) -> None:
    """Its owner is no member of the project any more; after ten of these it pauses itself."""
    await add(http)
    await admin.execute("DELETE FROM weft.billing_member")
    found = []
    for _ in range(10):
        await begin(database)
        await submit(api)
        found.append(await shown(http))

    assert [one["n_failures"] for one in found] == list(range(1, 11))
    assert found[0]["last_run"]["error"]["code"] == "API.PROJECT_NOT_FOUND"
    assert [one["state"] for one in found] == ["active"] * 9 + ["paused"]
    assert found[-1]["pause_reason"] == "failures"
    assert (await http.get("/v1/batches")).json()["items"] == []
    await audit(database)


async def test_run_by_hand(http: AsyncClient, database: Dsns) -> None:
    """Also of a paused one; a repeat of the request is the same batch."""
    await add(http)
    await http.patch("/v1/schedules/1", json={"paused": True})
    headers = {"idempotency-key": "k"}
    answers = [
        await http.post("/v1/schedules/1/run-now", json={}, headers=headers) for _ in range(2)
    ]
    other = await http.post("/v1/schedules/1/run-now", json={})
    found = await shown(http)

    first, again, third = [one.json()["batch_id"] for one in (*answers, other)]
    assert first == again
    assert [one["batch_id"] for one in found["runs"]] == [third, first]
    assert {one["by_hand"] for one in found["runs"]} == {True}
    assert found["state"] == "paused"
    await audit(database)


async def test_only_the_owner_runs_and_sees_and_changes(
    api: LiveApi, http: AsyncClient, database: Dsns, admin: asyncpg.Connection
) -> None:
    """Another tenant does not see it."""
    await add(http)
    await make_user(database["admin"], user="eve", token="eves")
    await admin.execute("UPDATE weft.tenant_user SET role = 'user' WHERE name = 'eve'")
    await make_user(database["admin"], tenant="other", token="strangers")
    async with api.client(authorization="Bearer eves") as eve:
        seen = await shown(eve)
        answers = [
            await eve.post("/v1/schedules/1/run-now", json={}),
            await eve.patch("/v1/schedules/1", json={"paused": True}),
            await eve.delete("/v1/schedules/1"),
        ]
    async with api.client(authorization="Bearer strangers") as stranger:
        unknown = await stranger.get("/v1/schedules/1")
        listed = await stranger.get("/v1/schedules")

    assert (seen["user"], seen["document"]) == ("tester", None)
    assert {one.json()["code"] for one in answers} == {"API.SCHEDULE_OF_ANOTHER"}
    assert unknown.status_code == 404
    assert listed.json()["items"] == []


async def test_notice_wakes_the_api(api: LiveApi, http: AsyncClient, database: Dsns) -> None:
    """From the driver's decision to the submission without anybody asking again and again."""
    await add(http)
    submitted = asyncio.Event()

    def decode(body: bytes) -> BatchDocument:
        submitted.set()
        return msgspec.json.decode(body, type=BatchDocument)

    submitter = ScheduleRuns(api.app.services, api.store.notices, decode)
    async with beside(submitter.run()):
        await begin(database)
        async with asyncio.timeout(60):
            await submitted.wait()
