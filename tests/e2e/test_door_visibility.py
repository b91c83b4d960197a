"""Owner, member, operator and stranger ask for a job of the doors of JobWeaver and Agave."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from e2e.conftest import Weft

APP = {
    "name": "idle",
    "version": "1.0",
    "templatePath": "wrapper.sh",
    "deploymentPath": ".",
    "executionSystem": "local",
    "inputs": [],
    "parameters": [],
}
JOBWEAVER = {"jobType": "SIMULATION", "payload": {"steps": []}, "maxRetryCount": 0}


@dataclass(frozen=True)
class Users:
    """Clients of the owner, a member of their billing project, an operator, and a stranger."""

    owner: httpx.Client
    member: httpx.Client
    operator: httpx.Client
    stranger: httpx.Client


@pytest.fixture(scope="module")
def users(weft: Weft, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Users]:
    folder = tmp_path_factory.mktemp("idle")
    (folder / "wrapper.sh").write_text("exit 0\n")
    (folder / "app.json").write_text(json.dumps(APP))
    url = json.loads((weft.home / "client.json").read_text())["url"]
    tokens = [
        _token(weft, "user", "add", "seen-owner"),
        _token(weft, "user", "add", "seen-member"),
        _token(weft, "user", "add", "seen-operator", "--role", "operator"),
        _token(weft, "tenant", "create", "seen", "--admin", "eve"),
    ]
    _run(weft, "app", "add", str(folder))
    with ExitStack() as opened:
        clients = [
            httpx.Client(base_url=url, headers={"authorization": f"Bearer {one}"}, timeout=30)
            for one in tokens
        ]
        yield Users(*map(opened.enter_context, clients))


def _run(weft: Weft, *arguments: str) -> bytes:
    return weft.told(*arguments)


def _token(weft: Weft, *arguments: str) -> str:
    return str(json.loads(_run(weft, *arguments, "--json"))["token"])


def _of_jobweaver(client: httpx.Client, job_id: str) -> tuple[int, int, int]:
    """Return the status of the job, how many lists have it, and how many they count."""
    lists = [
        client.get(path, params={"size": 1000}).json()
        for path in ("/api/jobs", "/internal/jobs", "/internal/jobs?sort=updatedAt,asc")
    ]
    named = [one["id"] for one in lists[0]["jobs"]]
    named += [one["jobId"] for page in lists[1:] for one in page["content"]]
    statuses = {
        client.get(path).status_code
        for path in (f"/api/jobs/{job_id}", f"/internal/jobs/{job_id}/status")
    }
    (status,) = statuses
    executions = client.get(f"/internal/executions/{job_id}").json()["page"]["totalElements"]
    assert status == 200 or executions == 0
    counted = {lists[0]["totalElements"], *(page["page"]["totalElements"] for page in lists[1:])}
    (count,) = counted
    return status, named.count(job_id), count


def _of_agave(client: httpx.Client, job_id: str) -> tuple[int, int, int]:
    paths = [
        f"/jobs/v2/{job_id}{rest}"
        for rest in ("", "/status", "/history", "/pems", "/outputs/listings")
    ]
    (status,) = {client.get(path).status_code for path in paths}
    found = [one["id"] for one in client.get("/jobs/v2").json()["result"]]
    return status, found.count(job_id), len(found)


def _submit_jobweaver(owner: httpx.Client) -> tuple[str, str]:
    job_id = str(owner.post("/api/jobs", json=JOBWEAVER).json()["jobId"])
    return job_id, owner.get(f"/api/jobs/{job_id}").json()["weftJob"].partition(".")[0]


def _submit_agave(owner: httpx.Client) -> tuple[str, str]:
    answer = owner.post("/jobs/v2", json={"name": "seen", "appId": "idle-1.0"})
    assert answer.status_code == 201, answer.text
    found = owner.get("/v1/batches", params={"q": f"foreign_id = {answer.json()['result']['id']}"})
    return answer.json()["result"]["id"], "b" + str(found.json()["items"][0]["id"])


Door = tuple[
    Callable[[httpx.Client], tuple[str, str]], Callable[[httpx.Client, str], tuple[int, int, int]]
]


def test_application_is_shown_by_status_and_page(weft: Weft, users: Users) -> None:
    _, batch = _submit_agave(users.owner)
    token = users.operator.headers["authorization"].removeprefix("Bearer ")
    shown = weft.run("status", f"{batch}.j1", env={"WEFT_TOKEN": token})
    page = users.owner.get(f"/ui/batches/{batch[1:]}/jobs/1").text

    assert "idle-1.0" in shown.stdout.decode(), shown.stderr.decode()
    assert "<dt>Application</dt><dd><bdi>idle-1.0</bdi></dd>" in page


@pytest.mark.parametrize(
    "door",
    [(_submit_jobweaver, _of_jobweaver), (_submit_agave, _of_agave)],
    ids=["jobweaver", "agave"],
)
def test_owner_granted_users_and_operators_see_a_job(users: Users, door: Door) -> None:
    """A member of its billing project is a stranger to it until it is shared, and afterwards."""
    submit, look = door
    job_id, batch = submit(users.owner)
    _, n_own, count = look(users.owner, job_id)
    assert n_own in {1, 3}
    assert look(users.member, job_id) == (404, 0, 0)
    assert look(users.stranger, job_id) == (404, 0, 0)
    assert look(users.operator, job_id)[0] == 200
    shared: dict[str, Any] = {"permission": "read"}
    path = f"/v1/batches/{batch}/permissions/seen-member"
    answer = users.owner.put(path, json=shared)
    assert answer.status_code < 300, answer.text
    assert look(users.member, job_id) == (200, n_own, 1)
    assert look(users.owner, job_id) == (200, n_own, count)
    assert users.owner.delete(path).status_code < 300
    assert look(users.member, job_id) == (404, 0, 0)
    assert users.member.get(f"/v1/batches/{batch}").status_code == 200
