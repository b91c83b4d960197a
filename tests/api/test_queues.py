"""Queues over HTTP: saved, listed, and found for jobs."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest

from api.live import LiveApi, LiveWorker
from api.test_tenants import create
from weft.core.errors import TooManyAtOnce
from weft.core.queues import first_of
from weft.run.isolated.asking.evaluation import Evaluation
from weft.telemetry import metrics

BIG = {"name": "big", "priority": 20, "guard": "job.resources.cpu >= 2"}
SHORT = {"name": "short", "priority": 10, "guard": "job.timeout_s > 0 && job.timeout_s <= 600"}

OF_TENANTS = {
    "weft_jobs",
    "weft_queue_jobs",
    "weft_licences",
    "weft_licences_used",
    "weft_workers",
    "weft_conditions",
    "weft_guard_failures_total",
    "weft_guard_failures_created",
}
"""All metrics that are not of the whole site."""
ONES = "[" + ",".join("1" * 215) + "]"
FREEZING = f"{ONES}.all(x,{ONES}.all(y,job.name.matches('(\\\\w{{90}})+$')||true))"
"""It takes minutes, in which nothing else runs."""


async def save(
    http: httpx.AsyncClient, *queues: dict[str, Any], dry_run: bool = False
) -> dict[str, Any]:
    answer = await http.put("/v1/queues", json={"queues": queues, "dry_run": dry_run})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def queues_of(http: httpx.AsyncClient, batch_id: int = 1) -> list[str]:
    jobs = (await http.get(f"/v1/batches/{batch_id}/jobs")).json()["items"]
    return [job["queue"] for job in jobs]


async def counts(http: httpx.AsyncClient) -> dict[str, tuple[int, int]]:
    found = (await http.get("/v1/queues")).json()["items"]
    return {one["name"]: (one["n_waiting"], one["n_running"]) for one in found}


async def refusals(http: httpx.AsyncClient) -> float:
    page = (await http.get("/metrics")).text
    return float(re.findall(r"^weft_queue_full_total{.*} (.*)$", page, re.MULTILINE)[0])


async def test_jobs_wait_in_the_first_queue_whose_guard_is_true(
    http: httpx.AsyncClient, worker: LiveWorker
) -> None:
    await save(http, SHORT, BIG)
    jobs = [
        {"resources": {"cpu": 2}, "timeout_s": 5},
        {"timeout_s": 600},
        {"timeout_s": 601},
        {"queue": "big"},
        {"count": 3, "timeout_s": 1},
    ]
    created = await http.post("/v1/batches", json={"jobs": jobs})

    assert created.status_code == 201
    assert await queues_of(http) == ["big", "short", "default", "big", "short", "short", "short"]
    assert await counts(http) == {"big": (2, 0), "short": (4, 0), "default": (1, 0)}
    assert len(await worker.claim()) == 7
    assert await counts(http) == {"big": (0, 2), "short": (0, 4), "default": (0, 1)}


async def test_an_update_is_routed_by_its_batch(http: httpx.AsyncClient) -> None:
    await save(http, {**BIG, "guard": "batch.name == 'nightly' && batch.attributes.team == 'a'"})
    named = {"name": "nightly", "attributes": {"team": "a"}}
    await http.post("/v1/batches", json=named)
    await http.post("/v1/batches/1/updates", json={"jobs": [{}]})
    reserved = (await http.post("/v1/batches/1/updates", json={"n_jobs": 1})).json()
    bunch = f"/v1/batches/1/updates/{reserved['update_id']}"
    await http.post(f"{bunch}/jobs", json={"first": 1, "jobs": [{}]})
    await http.post(f"{bunch}/commit", json={})

    assert await queues_of(http) == ["big", "big"]


async def test_many_equal_jobs_cost_one_evaluation(
    http: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    await save(http, BIG, SHORT)
    seen: list[int] = []
    each = Evaluation.each

    async def count(
        evaluation: Evaluation,
        tenant_id: int,
        function: Callable[..., Any],
        *asked: Any,  # noqa: ANN401
    ) -> Sequence[Any]:
        if function is first_of:
            seen.append(len(asked[1]))
        return await each(evaluation, tenant_id, function, *asked)

    monkeypatch.setattr(Evaluation, "each", count)
    jobs = [{"name": f"n{n}", "timeout_s": 60} for n in range(10_000)]
    for _ in range(2):
        await http.post("/v1/batches", json={"jobs": jobs})

    assert seen == [1]
    assert (await counts(http))["short"] == (20_000, 0)


async def test_saving_says_what_changes(http: httpx.AsyncClient) -> None:
    planned = await save(http, BIG, {**SHORT, "pools": ["night", "default"]}, dry_run=True)
    untouched = await counts(http)
    saved = await save(http, BIG, {**SHORT, "pools": ["night", "default"]})
    again = await save(http, BIG, {**SHORT, "pools": ["night", "default"]})
    swapped = await save(http, {**BIG, "priority": 10}, {**SHORT, "priority": 20})

    assert [(one["kind"], one["queue"]) for one in planned["changes"]] == [
        ("create", "big"),
        ("create", "short"),
    ]
    assert (planned["new_pools"], list(untouched)) == (["night"], ["default"])
    assert saved == {**planned, "dry_run": False}
    assert again["changes"] == []
    assert [one["queue"] for one in swapped["changes"]] == ["short", "big"]
    assert list(await counts(http)) == ["short", "big", "default"]


async def test_wrong_queues_are_refused_and_nothing_changes(http: httpx.AsyncClient) -> None:
    cases: list[tuple[Any, ...]] = [
        ({"guard": "job.resources.cpu >"}, "/queues/1/guard", "line 1, column 20"),
        ({"guard": "user"}, "/queues/1/guard", "not true or false"),
        ({"guard": FREEZING}, "/queues/1/guard", "at most 64 commas"),
        ({"guard": "job.wrong == 1"}, "/queues/1/guard", "there is no attribute job.wrong"),
        ({"priority": 20}, "/queues/1/priority", "big has the priority 20 already"),
        ({"priority": None}, "/queues/1/priority", "a queue needs a priority"),
        ({"name": "big"}, "/queues/1/name", "big stands there twice"),
        ({"pools": []}, "/queues/1/pools", "at least one pool"),
        ({"executor": "abacus"}, "/queues/1/executor", "cannot run commands"),
        ({"name": "default", "priority": None}, "/queues/1", "no priority and no guard"),
        (
            {"name": "default", "priority": None, "guard": None, "users": ["ann"]},
            "/queues/1",
            "enabled for everybody",
        ),
    ]
    for queue, pointer, message in cases:
        refused = await http.put("/v1/queues", json={"queues": [BIG, {**SHORT, **queue}]})

        assert refused.status_code == 400
        assert refused.json()["errors"][0]["pointer"] == pointer
        assert message in refused.json()["errors"][0]["message"]
        assert (refused.json()["code"] == "API.INVALID_GUARD") == pointer.endswith("guard")
        assert list(await counts(http)) == ["default"]


async def test_a_job_may_name_only_a_queue_that_takes_it(http: httpx.AsyncClient) -> None:
    await save(
        http,
        {"name": "drained", "priority": 1, "state": "draining"},
        {"name": "bobs", "priority": 2, "users": ["bob"]},
        {"name": "open", "priority": 3},
    )
    jobs = [{"queue": name} for name in ("drained", "bobs", "nothing", "open", "default")]
    refused = (await http.post("/v1/batches", json={"jobs": jobs})).json()

    assert [(one["pointer"], one["message"]) for one in refused["errors"]] == [
        ("/jobs/0/queue", "the queue 'drained' is draining"),
        ("/jobs/1/queue", "tester may not use the queue 'bobs'"),
        ("/jobs/2/queue", "there is no queue 'nothing'; known: open, bobs, drained, default"),
    ]
    await http.post("/v1/batches", json={"jobs": jobs[3:]})
    assert await queues_of(http) == ["open", "default"]


async def test_a_queue_with_waiting_jobs_is_not_deleted(
    http: httpx.AsyncClient, worker: LiveWorker
) -> None:
    await save(http, BIG)
    await http.post("/v1/batches", json={"jobs": [{"queue": "big"}]})
    refused = await http.put("/v1/queues", json={"queues": [SHORT]})
    assert (refused.status_code, refused.json()["code"]) == (409, "API.QUEUE_HAS_JOBS")
    assert "`weft queue drain big --move-to default`" in refused.json()["hint"]
    assert list(await counts(http)) == ["big", "default"]

    await worker.work()
    await save(http, SHORT)
    assert list(await counts(http)) == ["short", "default"]
    assert await queues_of(http) == ["big"]


async def test_a_queue_limits_how_many_of_its_jobs_run(
    http: httpx.AsyncClient, worker: LiveWorker
) -> None:
    """Those of a user, too."""
    await save(http, {**BIG, "max_running": 2}, {**SHORT, "max_running_per_user": 1})
    jobs = [{"queue": "big", "count": 3}, *[{"queue": "short"}] * 2, {}]
    await http.post("/v1/batches", json={"jobs": jobs})
    await worker.claim()

    assert await counts(http) == {"big": (1, 2), "short": (1, 1), "default": (0, 1)}
    queue = (await http.get("/v1/queues/big")).json()
    assert (queue["max_running"], queue["max_running_per_user"]) == (2, None)


async def test_a_full_queue_refuses_jobs(http: httpx.AsyncClient) -> None:
    """Of new batches, of updates, and of updates that are committed."""
    await save(http, {**BIG, "max_waiting": 2})
    before = await refusals(http)
    two = {"jobs": [{"queue": "big"}] * 2}
    await http.post("/v1/batches", json=two)
    refused = await http.post("/v1/batches", json=two)
    reserved = (await http.post("/v1/batches/1/updates", json={"n_jobs": 1})).json()
    bunch = f"/v1/batches/1/updates/{reserved['update_id']}"
    await http.post(f"{bunch}/jobs", json={"first": 1, "jobs": [{"queue": "big"}]})
    answers = [
        await http.post("/v1/batches/1/updates", json=two),
        await http.post(f"{bunch}/commit", json={}),
    ]

    assert refused.json()["title"] == 'queue "big" is full'
    assert {(one.status_code, one.json()["code"]) for one in [refused, *answers]} == {
        (409, "API.QUEUE_FULL")
    }
    assert await counts(http) == {"big": (2, 0), "default": (0, 0)}
    assert len((await http.get("/v1/batches")).json()["items"]) == 1
    assert await refusals(http) == before + 3


async def test_a_queue_is_drained_and_nothing_else_changes(http: httpx.AsyncClient) -> None:
    await save(http, {**BIG, "max_running": 2}, SHORT)
    await http.post("/v1/batches", json={"jobs": [{"queue": "big"}]})
    drained = await http.post("/v1/queues/big/drain", json={})
    again = (await http.post("/v1/queues/short/drain", json={})).json()
    refused = [
        (one.status_code, one.json()["code"])
        for one in [
            await http.post("/v1/queues/default/drain", json={}),
            await http.post("/v1/queues/nothing/drain", json={}),
        ]
    ]

    assert (drained.json()["state"], drained.json()["max_running"]) == ("draining", 2)
    assert again["state"] == "closed"
    assert refused == [(409, "API.QUEUE_ALWAYS_OPEN"), (404, "API.QUEUE_NOT_FOUND")]
    await http.post("/v1/batches", json={"jobs": [{"resources": {"cpu": 2}, "timeout_s": 5}]})
    assert await queues_of(http, 2) == ["default"]


async def test_queues_are_found_by_name(http: httpx.AsyncClient) -> None:
    await save(http, BIG)
    found = (await http.get("/v1/queues/big")).json()
    missing = await http.get("/v1/queues/nothing")
    malformed = await http.get("/v1/queues/a%20b")

    assert (found["guard"], found["pools"], found["state"]) == (
        BIG["guard"],
        ["default"],
        "enabled",
    )
    assert (missing.status_code, missing.json()["code"]) == (404, "API.QUEUE_NOT_FOUND")
    assert malformed.status_code == 400


async def test_a_document_is_tested_without_being_submitted(http: httpx.AsyncClient) -> None:
    await save(http, BIG, SHORT)
    jobs = [{}, {"resources": {"cpu": 4}}, {}, {"queue": "short"}]
    tested = (await http.post("/v1/queue-test", json={"jobs": jobs})).json()["routes"]
    wrong = await http.post("/v1/queue-test", json={"jobs": [{"queue": "x"}]})
    nothing = await http.post("/v1/queue-test", json={"jobs": []})

    assert nothing.json() == {"routes": []}
    assert [(one["jobs"], one["queue"]) for one in tested] == [
        ([1, 3], "default"),
        ([2], "big"),
        ([4], "short"),
    ]
    assert [one["reason"] for one in tested[0]["verdicts"]] == [
        "its guard is false: job.resources.cpu = 1.0",
        "its guard is false: job.timeout_s = 0.0",
        "",
    ]
    assert wrong.json()["errors"][0]["pointer"] == "/jobs/0/queue"
    assert (await http.get("/v1/batches")).json()["items"] == []


async def test_a_guard_that_fails_is_counted_in_a_metric(http: httpx.AsyncClient) -> None:
    await save(http, {"name": "zero", "priority": 1, "guard": "1 / 0 == 1"})
    await http.post("/v1/batches", json={"jobs": [{}] * 3})
    page = (await http.get("/metrics")).text

    assert await queues_of(http) == ["default"] * 3
    assert 'weft_guard_failures_total{queue="zero",role="api"} 1.0' in page


async def test_failing_guards_are_shown_to_their_tenant_only(http: httpx.AsyncClient) -> None:
    """And of that to those who see what all submit."""
    ann = await create(http, "acme")
    queue = {"name": "merger", "priority": 1, "guard": "1 / 0 == 1"}
    await http.put("/v1/queues", json={"queues": [queue]}, headers=ann)
    await http.post("/v1/batches", json={"jobs": [{}]}, headers=ann)
    made = await http.post("/v1/users", json={"name": "bob"}, headers=ann)
    bob = {"authorization": f"Bearer {made.json()['token']}"}
    hers, ours, his = [(await http.get("/metrics", headers=one)).text for one in (ann, {}, bob)]

    assert 'weft_guard_failures_total{queue="merger"' in hers
    assert 'weft_guard_failures_total{queue="merger"' not in his
    assert "weft_queue_jobs" in his
    assert "merger" not in ours


async def test_metrics_of_the_site_are_shown_to_its_administrators_only(
    http: httpx.AsyncClient, tmp_path: Path
) -> None:
    """Those of its other roles, too; a viewer gets what is counted for the tenant."""
    (tmp_path / "run").mkdir(exist_ok=True)
    metrics.write_snapshot(tmp_path / "run" / "driver.prom")
    ann = await create(http, "acme")
    user = {"name": "vic", "role": "viewer"}
    made = await http.post("/v1/users", json=user, headers=ann)
    vic = {"authorization": f"Bearer {made.json()['token']}"}
    await http.post("/v1/batches", json={"jobs": [{}]}, headers=ann)
    ours, *theirs = [(await http.get("/metrics", headers=one)).text for one in ({}, ann, vic)]

    assert "weft_http_requests_total{" in ours
    assert 'role="driver"' in ours
    for page in theirs:
        names = set(re.findall(r"^(\w+){", page, re.MULTILINE))
        assert {"weft_jobs", "weft_queue_jobs", "weft_workers", "weft_conditions"} <= names
        assert names <= OF_TENANTS
        assert set(re.findall(r'role="(\w+)"', page)) == {"api"}
    assert 'weft_jobs{role="api",state="ready"} 1.0' in theirs[0]


@pytest.mark.parametrize("call", ["overview", "list_queues", "list_licences"])
async def test_without_the_database_no_counts_of_others_are_shown(
    api: LiveApi, http: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    await http.post("/v1/batches", json={"jobs": [{}]})
    ann = await create(http, "acme")
    before = (await http.get("/metrics")).text

    async def fail(*_: object) -> None:
        raise TooManyAtOnce("too many at once", hint="Wait.")

    monkeypatch.setattr(api.store, call, fail)
    ours, hers = [await http.get("/metrics", headers=one) for one in ({}, ann)]

    assert 'weft_jobs{role="api",state="ready"} 1.0' in before
    assert (hers.status_code, hers.text) == (200, "")
    assert "weft_http_requests_total{" in ours.text
    assert not [name for name in OF_TENANTS if f"\n{name}{{" in ours.text]


async def test_jobs_of_each_queue_are_metrics(http: httpx.AsyncClient, worker: LiveWorker) -> None:
    """A queue that is deleted has none any more."""
    await save(http, SHORT)
    await http.post("/v1/batches", json={"jobs": [{"timeout_s": 5}, {"timeout_s": 5}]})
    await worker.claim(1)
    await http.post("/v1/batches", json={"jobs": [{}]})
    page = (await http.get("/metrics")).text
    await worker.work()
    await save(http)
    after = (await http.get("/metrics")).text

    lines = [line for line in page.splitlines() if line.startswith("weft_queue_jobs{")]
    assert sorted(lines) == [
        'weft_queue_jobs{queue="default",role="api",state="running"} 0.0',
        'weft_queue_jobs{queue="default",role="api",state="waiting"} 1.0',
        'weft_queue_jobs{queue="short",role="api",state="running"} 1.0',
        'weft_queue_jobs{queue="short",role="api",state="waiting"} 1.0',
    ]
    assert 'queue="short"' not in after


async def test_licences_are_metrics(http: httpx.AsyncClient, worker: LiveWorker) -> None:
    await http.put("/v1/licences/metered", json={"n": 3})
    await http.post("/v1/batches", json={"jobs": [{"resources": {"metered": 2}}]})
    await worker.claim(1)
    page = (await http.get("/metrics")).text
    await worker.work()
    await http.delete("/v1/licences/metered")
    after = (await http.get("/metrics")).text

    assert 'weft_licences{licence="metered",role="api"} 3.0' in page
    assert 'weft_licences_used{licence="metered",role="api"} 2.0' in page
    assert "metered" not in after


async def test_a_job_waits_in_the_first_pool_that_has_a_worker_for_it(
    http: httpx.AsyncClient, worker: LiveWorker
) -> None:
    await save(http, {**BIG, "pools": ["empty", "default"]}, {**SHORT, "pools": ["empty"]})
    jobs = [{"queue": "big"}, {"queue": "short"}, {"queue": "big", "resources": {"cpu": 100}}]
    refused = await http.post("/v1/batches", json={"jobs": jobs})
    await http.post("/v1/batches", json={"jobs": jobs[:2]})

    assert refused.json()["code"] == "API.NO_WORKER_FITS"
    assert [one.job_id for one in await worker.claim()] == [1]
    assert (await counts(http))["short"] == (1, 0)


async def test_wrong_limits_of_attempts_are_refused(http: httpx.AsyncClient) -> None:
    for monitor, pointer, says in [
        ({"ready_s": 0}, "/queues/0/monitor/ready_s", "expected more than 0"),
        ({"blocked_s": 1e9}, "/queues/0/monitor/blocked_s", "expected at most 31622400"),
        ({"executing_s": 0}, "/queues/0/monitor/executing_s", "expected more than 0"),
        ({"silent_s": -1}, "/queues/0/monitor/silent_s", "expected more than 0"),
        ({"executing_s": 1e9}, "/queues/0/monitor/executing_s", "expected at most 31622400"),
        ({"sleeping_s": 5}, "/queues/0/monitor/sleeping_s", "no such field"),
        ({"rounds": -1}, "/queues/0/monitor/rounds", "expected at least 0"),
        (
            {"rounds": 1.5},
            "/queues/0/monitor/rounds",
            "expected a whole number, got a decimal number",
        ),
    ]:
        answer = await http.put("/v1/queues", json={"queues": [{**BIG, "monitor": monitor}]})
        (problem,) = answer.json()["errors"]

        assert answer.status_code == 400
        assert (problem["pointer"], problem["message"]) == (pointer, says)


async def test_limits_of_attempts_have_defaults(http: httpx.AsyncClient) -> None:
    """They are saved as they are now."""
    given = {"rounds": 1, "silent_s": 60, "archiving_s": 0.5, "ready_s": 86400, "blocked_s": 0.5}
    (change,) = (await save(http, {**BIG, "monitor": given}))["changes"]
    shown = await http.get("/v1/queues")
    (big, default) = shown.json()["items"]

    assert change["fields"]["monitor"] == [None, big["monitor"]]
    assert big["monitor"]["rounds"] == 1
    assert big["monitor"]["executing_s"] == 16200
    assert (big["monitor"]["ready_s"], big["monitor"]["blocked_s"]) == (86400, 0.5)
    assert default["monitor"] is None
    assert (await save(http, {**BIG, "monitor": given}))["changes"] == []
    limits = shown.text.replace(" ", "")
    assert '"silent_s":60,' in limits
    assert '"assigned_s":1800,' in limits
    assert (big["monitor"]["archiving_s"], change["fields"]["monitor"][1]["silent_s"]) == (0.5, 60)
    (changed,) = (await save(http, {**BIG, "monitor": {"rounds": 1}}))["changes"]
    _, now = changed["fields"]["monitor"]
    assert (now["ready_s"], now["blocked_s"]) == (None, None)


FOREIGN = {"name": "big", "priority": 20}


async def test_only_queues_that_travel_have_foreign_consumers(http: httpx.AsyncClient) -> None:
    cases: list[tuple[Any, ...]] = [
        ({"slots": 2}, "slots"),
        ({"queued_s": 2}, "queued_s"),
        ({"consumers": "foreign", "slots": 2}, "consumers"),
        ({"consumers": "foreign", "transport": "rabbit"}, "slots"),
    ]
    for fields, pointer in cases:
        answer = await http.put("/v1/queues", json={"queues": [{**FOREIGN, **fields}]})

        assert answer.status_code == 400
        assert f"/queues/0/{pointer}" in {one["pointer"] for one in answer.json()["errors"]}
