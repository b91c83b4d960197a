"""Batches, updates, jobs and groups on a real database."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import httpx
import msgspec
import pytest
from httpx import AsyncClient

from api.live import LiveApi, LiveWorker, open_worker
from contexts import beside
from one_transport import Delivery, OneTransport
from weft.api.http.decoding import JSON, decode
from weft.api.use_cases.taken_submissions import TakenSubmissions
from weft.ports.transport import SUBMISSIONS, Route, Transport, route_of
from weft.settings.transports_file import SubmissionsDocument
from weft.wire.documents.batches import BatchDocument

MSGPACK = {"content-type": "application/msgpack"}


async def test_batch_with_jobs_is_created_in_one_request(
    http: httpx.AsyncClient, worker: LiveWorker
) -> None:
    trace_id = "0123456789abcdef0123456789abcdef"
    document = {
        "name": "first",
        "attributes": {"cohort": "scz1"},
        "jobs": [{"command": ["true"], "name": "a", "attributes": {"n": "1"}}, {"script": "true"}],
    }

    answer = await http.post("/v1/batches", json=document, headers={"x-trace-id": trace_id})

    assert answer.status_code == 201, answer.text
    created = answer.json()
    assert created["n_jobs"] == 2
    assert created["first_job"] == 1
    assert created["committed"] is True
    assert created["trace_id"] == answer.headers["x-trace-id"] == trace_id
    assert trace_id in answer.headers["traceparent"]
    batch = (await http.get(f"/v1/batches/b{created['id']}")).json()
    assert batch["name"] == "first"
    assert batch["n_jobs"] == batch["n_ready"] == 2
    assert batch["attributes"] == {"cohort": "scz1"}
    assert batch["trace_id"] == trace_id
    job = (await http.get(f"/v1/batches/{created['id']}/jobs/j1")).json()
    assert job["name"] == "a"
    assert job["spec"] == {"command": ["true"], "trace_id": trace_id}
    assert job["resources"]["cpu"] == 1
    assert await worker.work() == 2
    attempts = (await http.get(f"/v1/batches/{created['id']}/jobs/1/attempts")).json()["items"]
    assert [attempt["exit_code"] for attempt in attempts] == [0]
    history = (await http.get(f"/v1/batches/{created['id']}/jobs/1/history")).json()["items"]
    assert [change["to"] for change in history][-1] == "success"


async def test_empty_batch_is_complete(http: httpx.AsyncClient) -> None:
    created = (await http.post("/v1/batches", json={})).json()
    batch = (await http.get(f"/v1/batches/{created['id']}")).json()

    assert created["update_id"] is None
    assert (batch["state"], batch["complete"], batch["n_jobs"]) == ("success", True, 0)


async def test_named_parents_are_sorted_and_numbers_told(http: httpx.AsyncClient) -> None:
    jobs = [
        {"name": "report", "parents": ["merge", "count"]},
        {"name": "merge", "parents": [{"of": "count", "need": "end"}]},
        {"name": "count"},
    ]

    created = (await http.post("/v1/batches", json={"jobs": jobs})).json()

    assert created["job_ids"] == [3, 2, 1]
    report = (await http.get(f"/v1/batches/{created['id']}/jobs/3")).json()
    assert (report["name"], report["parents"], report["state"]) == ("report", [1, 2], "pending")
    merge = (await http.get(f"/v1/batches/{created['id']}/jobs/2")).json()
    assert (merge["parents"], merge["end_parents"], "end_parents" in report) == ([1], [1], False)


@pytest.mark.parametrize("need", ["0%", "101%", "95.5%", "95", -95, "%", "9\x005%", "95%\n", "٩%"])
async def test_share_is_a_whole_percentage(http: httpx.AsyncClient, need: object) -> None:
    jobs = [{"parents": ["map", {"of": "map", "need": need}]}, {"name": "map", "count": 20}]
    refused = await http.post("/v1/batches", json={"jobs": jobs})
    jobs[0] = {"parents": ["map", {"of": "map", "need": "85%"}]}
    created = (await http.post("/v1/batches", json={"jobs": jobs})).json()
    assert (refused.status_code, "need" in refused.text) == (400, True), refused.text
    why = (await http.get(f"/v1/batches/{created['id']}/jobs/21/why")).text
    assert "waits for 85 % of map: 0 of 17 needed, 0 failed, 3 more may" in why


async def test_parents_in_earlier_updates(http: httpx.AsyncClient, worker: LiveWorker) -> None:
    batch_id = (await http.post("/v1/batches", json={"jobs": [{}, {}]})).json()["id"]
    jobs = [{"parents": ["j1", f"b{batch_id}.j2"]}, {"parents": [1]}]

    answer = await http.post(f"/v1/batches/{batch_id}/updates", json={"jobs": jobs})

    assert answer.status_code == 201, answer.text
    assert answer.json()["first_job"] == 3
    job = (await http.get(f"/v1/batches/{batch_id}/jobs/3")).json()
    assert job["parents"] == [1, 2]
    job = (await http.get(f"/v1/batches/{batch_id}/jobs/4")).json()
    assert job["parents"] == [3]
    assert await worker.work() == 4


async def test_groups_of_a_document(http: httpx.AsyncClient) -> None:
    document = {
        "groups": [{"path": "/stage1/part2", "attributes": {"k": "v"}}],
        "jobs": [{"group": "/stage1/part2"}, {"group": "/stage1"}, {"group": "/"}, {}],
    }
    batch_id = (await http.post("/v1/batches", json=document)).json()["id"]

    again = {"jobs": [{"group": "/stage1/part3"}, {"group": "/stage1/part2"}]}
    await http.post(f"/v1/batches/{batch_id}/updates", json=again)

    groups = (await http.get(f"/v1/batches/{batch_id}/groups")).json()["items"]
    assert [(g["path"], g["n_jobs"]) for g in groups] == [
        ("/", 6),
        ("/stage1", 4),
        ("/stage1/part2", 2),
        ("/stage1/part3", 1),
    ]
    group = (await http.get(f"/v1/batches/{batch_id}/groups/%2Fstage1%2Fpart2")).json()
    assert group["attributes"] == {"k": "v"}
    assert (await http.get(f"/v1/batches/{batch_id}/groups/g1")).json()["path"] == "/stage1"
    twice = await http.post(
        f"/v1/batches/{batch_id}/updates", json={"groups": [{"path": "/stage1"}], "jobs": [{}]}
    )
    assert twice.json()["errors"][0]["pointer"] == "/groups/0/path"


async def test_update_in_bunches(http: httpx.AsyncClient, worker: LiveWorker) -> None:
    batch_id = (await http.post("/v1/batches", json={})).json()["id"]
    updates = f"/v1/batches/{batch_id}/updates"
    update = (await http.post(updates, json={"n_jobs": 25, "n_groups": 2})).json()
    at = f"{updates}/{update['update_id']}"
    groups = {"first": 1, "groups": [{"name": "a"}, {"name": "b", "parent": 1}]}
    assert (await http.post(f"{at}/groups", json=groups)).status_code == 201

    incomplete = await http.post(f"{at}/commit", json={})
    bunches = [
        {"first": first, "jobs": [{"group": 2, "parents": [1] if first > 1 else []}] * 5}
        for first in (21, 6, 11, 16, 1)
    ]
    answers = await asyncio.gather(
        *[
            http.post(f"{at}/jobs", content=msgspec.msgpack.encode(bunch), headers=MSGPACK)
            for bunch in bunches
        ]
    )
    repeat = await http.post(f"{at}/jobs", json=bunches[0])
    committed = await http.post(f"{at}/commit", json={})
    committed_again = await http.post(f"{at}/commit", json={})

    assert incomplete.json()["code"] == "API.UPDATE_INCOMPLETE"
    assert {answer.status_code for answer in answers} == {201}
    assert repeat.headers["idempotent-replay"] == "true"
    assert committed.json() == committed_again.json()
    assert committed.json()["committed"] is True
    assert (await http.get(at)).json() == committed.json()
    assert (await http.get(f"/v1/batches/{batch_id}/groups/%2Fa%2Fb")).json()["n_jobs"] == 25
    assert await worker.work() == 25


async def test_what_the_database_refuses_is_a_problem(http: httpx.AsyncClient) -> None:
    batch_id = (await http.post("/v1/batches", json={})).json()["id"]
    updates = f"/v1/batches/{batch_id}/updates"
    update_id = (await http.post(updates, json={"n_jobs": 10})).json()["update_id"]
    jobs = f"{updates}/{update_id}/jobs"
    await http.post(jobs, json={"first": 1, "jobs": [{}] * 4})

    async def code(path: str, document: object) -> str:
        answer = await http.post(path, json=document)
        assert 400 <= answer.status_code < 500, answer.text
        assert answer.json()["hint"]
        return str(answer.json()["code"])

    assert await code(jobs, {"first": 3, "jobs": [{}] * 4}) == "API.BUNCH_OVERLAP"
    assert await code(jobs, {"first": 4, "jobs": [{}]}) == "API.BUNCH_OVERLAP"
    assert await code(jobs, {"first": 8, "jobs": [{}] * 4}) == "API.OUTSIDE_UPDATE"
    assert await code(jobs, {"first": 5, "jobs": [{"group": 4}]}) == "API.GROUP_NOT_FOUND"
    assert await code(jobs, {"first": 5, "jobs": [{"parents": ["j9"]}]}) == "API.PARENT_NOT_FOUND"
    assert await code(jobs, {"first": 5, "jobs": [{"parents": [5]}]}) == "API.PARENT_NOT_BELOW"
    assert await code(jobs, {"first": 5, "jobs": []}) == "API.INVALID_VALUE"
    assert await code(f"{updates}/99/jobs", {"first": 1, "jobs": [{}]}) == "API.UPDATE_NOT_FOUND"
    assert await code("/v1/batches/999/updates", {"n_jobs": 1}) == "API.BATCH_NOT_FOUND"
    assert await code("/v1/batches", {"billing_project": "none"}) == "API.PROJECT_NOT_FOUND"
    await http.post(jobs, json={"first": 5, "jobs": [{}] * 6})
    await http.post(f"{updates}/{update_id}/commit", json={})
    assert await code(jobs, {"first": 2, "jobs": [{}]}) == "API.UPDATE_COMMITTED"
    missing = {"jobs": [{"parents": ["j77"]}]}
    assert await code(updates, missing) == "API.PARENT_NOT_FOUND"
    assert (await http.get(f"/v1/batches/{batch_id}")).json()["n_jobs"] == 10


async def test_what_only_the_database_misses_is_pointed_at(http: httpx.AsyncClient) -> None:
    batch_id = (await http.post("/v1/batches", json={"jobs": [{}]})).json()["id"]
    updates = f"/v1/batches/{batch_id}/updates"
    reserved = (await http.post(updates, json={"n_jobs": 2})).json()
    wrong = [{}, {"parents": [1, "j1", f"b{batch_id}.j9"]}]

    async def pointers(path: str, document: object) -> list[str]:
        answer = await http.post(path, json=document)
        return [error["pointer"] for error in answer.json()["errors"]]

    at = f"{updates}/{reserved['update_id']}/jobs"
    assert await pointers(at, {"first": 1, "jobs": wrong}) == ["/jobs/1/parents/2"]
    assert await pointers(updates, {"jobs": wrong}) == ["/jobs/1/parents/2"]
    for document in ({"billing_project": "x"}, {"billing_project": "x", "jobs": [{}]}):
        assert await pointers("/v1/batches", document) == ["/billing_project"]


async def test_idempotency_key(http: httpx.AsyncClient) -> None:
    headers = {"idempotency-key": "k-1"}
    document = {"name": "once", "jobs": [{}]}

    first = await http.post("/v1/batches", json=document, headers=headers)
    second = await http.post("/v1/batches", json=document, headers=headers)
    other = await http.post("/v1/batches", json={"name": "other"}, headers=headers)

    assert first.status_code == second.status_code == 201
    assert first.json() == second.json()
    assert second.headers["idempotent-replay"] == "true"
    assert (other.status_code, other.json()["code"]) == (409, "API.IDEMPOTENCY_CONFLICT")
    assert len((await http.get("/v1/batches")).json()["items"]) == 1


async def test_key_of_a_bunch_stands_for_its_body(http: httpx.AsyncClient) -> None:
    batch_id = (await http.post("/v1/batches", json={})).json()["id"]
    updates = f"/v1/batches/{batch_id}/updates"
    update_id = (await http.post(updates, json={"n_jobs": 2})).json()["update_id"]

    async def send(first: int, program: str, key: str) -> tuple[int, str | None]:
        bunch = {"first": first, "jobs": [{"command": [program]}]}
        headers = {"idempotency-key": key}
        answer = await http.post(f"{updates}/{update_id}/jobs", json=bunch, headers=headers)
        return answer.status_code, answer.json().get("code")

    assert await send(1, "a", "one") == (201, None)
    assert await send(1, "a", "one") == (201, None)
    assert await send(1, "b", "one") == (409, "API.IDEMPOTENCY_CONFLICT")
    assert await send(2, "a", "one") == (409, "API.IDEMPOTENCY_CONFLICT")
    assert await send(2, "a", "two") == (201, None)
    assert (await http.post(f"{updates}/{update_id}/commit", json={})).status_code == 200


async def test_update_with_a_key_is_reserved_once(http: httpx.AsyncClient) -> None:
    batch_id = (await http.post("/v1/batches", json={})).json()["id"]
    path, headers = f"/v1/batches/{batch_id}/updates", {"idempotency-key": "u"}

    first = await http.post(path, json={"n_jobs": 3}, headers=headers)
    second = await http.post(path, json={"n_jobs": 3}, headers=headers)
    other = await http.post(path, json={"n_jobs": 4}, headers=headers)

    assert first.json() == second.json()
    assert other.json()["code"] == "API.IDEMPOTENCY_CONFLICT"


async def test_cancel(http: httpx.AsyncClient, worker: LiveWorker) -> None:
    jobs = [{"group": "/a"}, {"group": "/b"}, {}]
    batch_id = (await http.post("/v1/batches", json={"jobs": jobs})).json()["id"]

    one = await http.post(f"/v1/batches/{batch_id}/jobs/3/cancel", json={})
    group = await http.post(f"/v1/batches/{batch_id}/groups/%2Fa/cancel", json={})
    claimed = await worker.claim()
    running = await http.post(f"/v1/batches/{batch_id}/jobs/2/cancel", content=b"")
    batch = await http.post(f"/v1/batches/{batch_id}/cancel", json={"force": True})
    again = await http.post(f"/v1/batches/{batch_id}/cancel", json={})

    assert one.json()["result"] == "cancelled"
    assert group.json()["cancelled"] is True
    assert [c.job_id for c in claimed] == [2]
    assert running.json()["result"] == "cancelling"
    assert batch.json() == {
        "batch_id": batch_id,
        "cancelled": True,
        "was_cancelled": False,
        "had_ended": False,
    }
    assert again.json()["was_cancelled"] is True
    late = await http.post(f"/v1/batches/{batch_id}/updates", json={"jobs": [{}]})
    assert (late.status_code, late.json()["code"]) == (409, "API.BATCH_CANCELLED")
    missing = await http.post(f"/v1/batches/{batch_id}/jobs/9/cancel", json={})
    assert missing.json()["code"] == "API.JOB_NOT_FOUND"


async def test_larger_worker_takes_jobs_as_soon_as_it_is_registered(
    database: dict[str, str], http: httpx.AsyncClient, worker: LiveWorker, tmp_path: Path
) -> None:
    document = {"jobs": [{"resources": {"memory": "5Gi"}}]}
    refused = await http.post("/v1/batches", json=document)
    async with open_worker(database["weft_worker"], tmp_path, name="w2", memory_mib=8192):
        taken = await http.post("/v1/batches", json=document)

    assert (refused.status_code, taken.status_code) == (400, 201)


async def test_workers_and_metrics(http: httpx.AsyncClient, worker: LiveWorker) -> None:
    await http.post("/v1/batches", json={"jobs": [{}, {}]})

    overview = (await http.get("/v1/overview")).json()
    workers = (await http.get("/v1/workers")).json()["items"]
    page = (await http.get("/metrics")).text

    assert overview["ready"] == 2
    assert [one["worker"] for one in workers] == ["w1"]
    assert 'weft_jobs{role="api",state="ready"} 2.0' in page
    assert 'weft_http_requests_total{method="POST",role="api",route="/v1/batches"' in page
    assert 'weft_store_call_seconds_count{function="submit"' in page


async def test_database_that_is_away_is_a_503(api: LiveApi, postgres: object) -> None:
    dead = LiveApi("postgres://weft_api@127.0.0.1:1/none", api.settings)
    async with dead, dead.client() as http:
        answer = await http.get("/v1/batches")
        ready = await http.get("/readyz")
        alive = await http.get("/healthz")

    assert (answer.status_code, answer.json()["code"]) == (503, "STORE.UNAVAILABLE")
    assert int(answer.headers["retry-after"]) >= 1
    assert ready.status_code == 503
    assert alive.status_code == 200


async def test_bunch_that_was_filled_otherwise_is_refused_with_the_first_difference(
    http: httpx.AsyncClient,
) -> None:
    batch = (await http.post("/v1/batches", json={})).json()["id"]
    at = f"/v1/batches/{batch}/updates"
    update = (await http.post(at, json={"n_jobs": 3, "n_groups": 1})).json()["update_id"]
    groups = {"first": 1, "groups": [{"name": "pca", "kind": "set"}]}
    await http.post(f"{at}/{update}/groups", json=groups)
    jobs: list[dict[str, Any]] = [
        {"command": ["a"], "name": "x", "resources": {"cpu": 0.5}},
        {"parents": [{"of": 1, "need": "start"}], "groups": [1], "attributes": {"k": "v"}},
        {"command": ["c"], "parents": [2, {"of": 1, "need": "start"}], "priority": 3},
    ]
    first = await http.post(f"{at}/{update}/jobs", json={"first": 1, "jobs": jobs})
    assert first.status_code == 201

    again = await http.post(
        f"{at}/{update}/jobs",
        content=msgspec.msgpack.encode({"first": 1, "jobs": jobs}),
        headers={**MSGPACK, "x-trace-id": "f" * 32},
    )
    assert (again.status_code, again.headers["idempotent-replay"]) == (201, "true"), again.text
    for place, change, pointer in (
        (0, {"command": ["z"]}, "/jobs/0/command"),
        (0, {"resources": {"cpu": 1}}, "/jobs/0/cpu_m"),
        (1, {"parents": []}, "/jobs/1/parents"),
        (1, {"parents": [1]}, "/jobs/1/parents"),
        (1, {"parents": [{"of": 1, "need": "end"}]}, "/jobs/1/parents"),
        (1, {"groups": []}, "/jobs/1/groups"),
        (1, {"attributes": {"k": "w"}}, "/jobs/1/attributes"),
        (2, {"priority": 4}, "/jobs/2/priority"),
        (2, {"name": "y"}, "/jobs/2/name"),
        (2, {"preemptible": True}, "/jobs/2/rare_fields"),
    ):
        other = [{**job, **change} if place == n else job for n, job in enumerate(jobs)]
        answer = await http.post(f"{at}/{update}/jobs", json={"first": 1, "jobs": other})
        assert (answer.status_code, answer.json()["code"]) == (409, "API.BUNCH_DIFFERS")
        assert answer.json()["errors"][0]["pointer"] == pointer
    assert (await http.post(f"{at}/{update}/commit", json={})).status_code == 200


async def test_array_that_was_filled_otherwise_is_refused(http: httpx.AsyncClient) -> None:
    batch = (await http.post("/v1/batches", json={})).json()["id"]
    at = f"/v1/batches/{batch}/updates"
    update = (await http.post(at, json={"n_jobs": 10})).json()["update_id"]
    answers = [
        await http.post(
            f"{at}/{update}/jobs",
            json={"first": 1, "jobs": [{"command": ["a", word], "name": "x", "count": 10}]},
            headers={"x-trace-id": trace * 32},
        )
        for word, trace in (("$WEFT_INDEX", "a"), ("$WEFT_INDEX", "b"), ("${WEFT_INDEX}0", "a"))
    ]

    assert [answer.status_code for answer in answers] == [201, 201, 409]
    assert answers[2].json()["errors"][0]["pointer"] == "/jobs/0/command"


WITHIN_S = 30.0
BATCH = {"name": "from afar", "jobs": [{"command": ["true"]}]}


async def taken(api: LiveApi, *bodies: object, user: str = "tester") -> list[Any]:
    """Let messages come; return why each was refused, None: it was not."""
    deliveries = [
        Delivery(one if isinstance(one, bytes) else json.dumps(one).encode()) for one in bodies
    ]
    intake = TakenSubmissions(
        api.app.services,
        cast("Transport", OneTransport(deliveries, Route("local", SUBMISSIONS), one_by_one=True)),
        "rabbit",
        SubmissionsDocument(tenant="local", user=user),
        lambda body: decode(body, JSON, BatchDocument),
    )
    async with beside(intake.serve()), asyncio.timeout(WITHIN_S):
        for one in deliveries:
            await one.over.wait()
    return [json.loads(one.refused) if one.refused else None for one in deliveries]


async def batches(http: AsyncClient) -> list[dict[str, Any]]:
    """Return the batches that there are."""
    found: list[dict[str, Any]] = (await http.get("/v1/batches")).json()["items"]
    return found


async def test_a_batch_is_submitted_once_for_its_id(api: LiveApi, http: AsyncClient) -> None:
    message = {"id": "order 1", "batch": BATCH}
    assert await taken(api, message, message, {**message, "id": "order 2"}) == [None] * 3
    (other,) = await taken(api, {"id": "order 1", "batch": {**BATCH, "name": "other"}})
    found = await batches(http)

    assert [(one["name"], one["user"], one["n_jobs"]) for one in found] == [
        ("from afar", "tester", 1)
    ] * 2
    assert other["status"] == 409


async def test_what_is_refused_has_a_problem_document(api: LiveApi, http: AsyncClient) -> None:
    wrong = [
        b"no JSON",
        {"batch": BATCH},
        {"id": "", "batch": BATCH},
        {"id": "a", "batch": {"jobs": [{"command": "true"}]}},
        {"id": "b", "batch": {"jobs": [{"command": ["true"], "priority": "high"}]}},
    ]
    found = await taken(api, *wrong)
    (stranger,) = await taken(api, {"id": "c", "batch": BATCH}, user="nobody")

    assert {one["code"] for one in found[:3]} == {"SUBMIT.MESSAGE_MALFORMED"}
    assert [one["errors"][0]["pointer"] for one in found[3:]] == [
        "/jobs/0/command",
        "/jobs/0/priority",
    ]
    assert stranger["status"] == 403
    assert await batches(http) == []


async def test_a_message_has_no_more_bytes_than_a_request(api: LiveApi) -> None:
    services = api.app.services
    services.settings = replace(services.settings, bunch_bytes_max=1000)
    (refused,) = await taken(api, {"id": "a" * 2000, "batch": BATCH})

    assert "bytes, at most 1,000" in refused["detail"]


def test_the_route_has_a_name_of_its_own() -> None:
    route = Route("home", SUBMISSIONS)

    assert route.name == "weft.home.submissions"
    assert route_of("home", route.name) == route
    assert route_of("home", "weft.home.outcomes") == Route("home", "")
    assert route_of("home", "weft.home.submit.") is None


@pytest.mark.parametrize(
    "unique", [{"on_conflict": "extend"}, {"on_conflict": "replace", "within_s": 9}]
)
async def test_the_time_of_a_key_fits_what_is_done(
    http: AsyncClient, unique: dict[str, object]
) -> None:
    answer = await http.post("/v1/batches", json={"jobs": [{}], "unique": {"key": "k", **unique}})
    assert [error["pointer"] for error in answer.json()["errors"]] == ["/unique/within_s"]
