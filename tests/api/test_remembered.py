"""What the api remembers of its tenants does not grow with their number, and what the door of
Hail remembers is shown to nobody else.
"""

from pathlib import Path

import pytest

from api.fakes import RecordingStore
from api.hail_door import API, Hail, batch, job
from api.live import LiveWorker, add
from weft.api.services import Services
from weft.core.states import Reason
from weft.ports.store import Caller
from weft.run.doors import api_doors
from weft.settings import Settings

TENANTS = [Caller(tenant, tenant, "ada") for tenant in (1, 2, 3)]


@pytest.fixture
def store() -> RecordingStore:
    return RecordingStore()


@pytest.fixture
def services(store: RecordingStore, tmp_path: Path) -> Services:
    return Services(
        store=store,
        logs=None,  # type: ignore[arg-type]  # not asked
        settings=Settings(home=tmp_path),
        feeds=None,  # type: ignore[arg-type]  # not asked
    )


async def test_workers_are_read_once_for_all_tenants(
    services: Services, store: RecordingStore
) -> None:
    found = [await services.workers(caller) for caller in TENANTS]

    assert [[{**one, "serves_tenant_id": None} for one in store.workers]] * 3 == found
    assert store.workers_asked == 1


LIVE_DOORS = api_doors()


async def test_what_is_remembered_of_a_batch_is_for_those_who_see_it(hail: Hail) -> None:
    """The names in lists of jobs, and the numbers of an open update."""
    made = await hail.ask("POST", "/batches/create", batch("t", n_jobs=2))
    b = made["id"]
    bob = await add(hail.http, "bob")
    await hail.http.request("DELETE", "/v1/billing-projects/default/members/bob")
    jobs, update = f"/batches/{b}/jobs", f"/batches/{b}/updates/1"
    await hail.ask("POST", f"{update}/jobs/create", [job(1, "true")])
    foreign = await hail.http.post(
        f"{API}{update}/jobs/create", json=[job(2, "true")], headers=bob
    )
    await hail.ask("POST", f"{update}/jobs/create", [job(2, "true")])
    await hail.ask("PATCH", f"{update}/commit")
    listed = await hail.ask("GET", jobs)
    hidden = [
        (await hail.http.get(f"{API}{path}", headers=bob)).status_code
        for path in (jobs, f"{jobs}/1", f"/batches/{b}/job-groups/0/jobs?q=success")
    ]
    late = await hail.refused("POST", f"{update}/jobs/create", [job(2, "true")])
    another = await hail.ask("POST", f"/batches/{b}/updates/create", {"token": "u", "n_jobs": 1})
    path = f"/batches/{b}/updates/{another['update_id']}/jobs/create"
    await hail.ask("POST", path, [])
    await hail.ask("DELETE", f"/batches/{b}")
    gone = [await hail.refused("POST", path, [job(1, "x")]), await hail.refused("GET", jobs)]

    assert (foreign.status_code, hidden) == (404, [404] * 3)
    assert [one["user"] for one in listed["jobs"]] == ["tester"] * 2
    assert late == (400, "update 1 is already committed")
    assert [status for status, _ in gone] == [404, 404]


async def test_log_comes_with_a_warning_that_the_image_is_a_label(
    hail: Hail, worker: LiveWorker
) -> None:
    """What the job wrote is never changed."""
    odd = {"type": "docker", "image": "a\nb\u2028", "command": ["true"]}
    b = await hail.submit("t", job(1, "false"), job(2, "true", process=odd))
    for reason in (Reason.EXIT, None):
        (claimed,) = await worker.claim_and_start(1)
        worker.write(claimed, (1, b"out\n"))
        await worker.end([claimed], output=(4, 0), reason=reason)
    failed, good, raw = [
        await hail.http.get(f"{API}/batches/{b}/jobs/{path}")
        for path in ("1/log", "2/log", "1/log/main")
    ]
    warnings = [one.headers["x-hail-deprecated"] for one in (failed, good, raw)]

    assert failed.json() == good.json() == {"main": "out\n"}
    assert raw.content == b"out\n"
    assert [one.partition(" is only a label here")[0] for one in warnings] == [
        "image 'ubuntu:24.04'", r"image 'a\nb\u2028'", "image 'ubuntu:24.04'",
    ]  # fmt: skip
