"""Walls around what the owner of a job alone uses."""

from collections.abc import Mapping
from typing import Any

import httpx
import msgspec
import pytest

from api.live import LiveWorker, add
from weft.wire import exec as wire

WORD = "word-of-ann"
WALLS: Mapping[str, Mapping[str, Any]] = {
    "secret": {"secrets": [{"name": "db", "env": "DB"}]},
    "masked variable": {"env": {"API_TOKEN": WORD}},
    "password in a URL": {"env": {"FROM": f"https://me:{WORD}@host"}},
}
ROLES = ("user", "operator", "tenant-admin")
"""Of who tries it, a member of the billing project: all permissions on the batch are theirs."""
COMMAND, PORT = (
    wire.frame(wire.BEGIN, msgspec.json.encode(document))
    for document in ({"command": ["env"]}, {"port": 8888})
)
OWNERS = ("API.FORBIDDEN", 403)
FEATURES: Mapping[str, tuple[str, str, Any, tuple[str, int] | None]] = {
    "exec": ("POST", "/exec", COMMAND, OWNERS),
    "forward": ("POST", "/exec", PORT, OWNERS),
    "job": ("GET", "", None, None),
    "attempts": ("GET", "/attempts", None, None),
    "files of its directory": ("GET", "/files", None, None),
    "notes": ("GET", "/notes", None, None),
    "output": ("GET", "/log", None, None),
    "resubmission": ("POST", "/../../resubmit", {"job": 1}, OWNERS),
}
"""What reaches behind: how it is asked for, and what refuses it; None: it shows no such value."""


@pytest.fixture
async def people(http: httpx.AsyncClient) -> Mapping[str, Mapping[str, str]]:
    """Give the headers of the owner, who has a secret, and of one of each role."""
    ann = await add(http, "ann")
    await http.put("/v1/secrets/db", json={"value": WORD}, headers=ann)
    return {"ann": ann} | {role: await add(http, f"a-{role}", role=role) for role in ROLES}


async def ask(
    http: httpx.AsyncClient, feature: str, batch_id: int, header: Mapping[str, str]
) -> httpx.Response:
    method, path, body, _ = FEATURES[feature]
    whole = f"/v1/batches/{batch_id}/jobs/1{path}"
    whole = whole.replace("/jobs/1/../../", "/")
    if isinstance(body, bytes):
        media = {"content-type": wire.MEDIA}
        return await http.request(method, whole, content=body, headers={**header, **media})
    return await http.request(method, whole, json=body, headers=header)


@pytest.mark.parametrize("wall", WALLS.values(), ids=WALLS)
async def test_no_later_feature_reaches_behind_a_wall(
    http: httpx.AsyncClient,
    worker: LiveWorker,
    people: Mapping[str, Mapping[str, str]],
    wall: Mapping[str, Any],
) -> None:
    jobs = [{"command": ["sleep", "100"], **wall}]
    made = await http.post("/v1/batches", json={"jobs": jobs}, headers=people["ann"])
    batch_id = made.json()["id"]
    await worker.claim_and_start(1)
    for feature, (*_, refusal) in FEATURES.items():
        for role in ROLES:
            answer = await ask(http, feature, batch_id, people[role])
            assert WORD not in answer.text, (feature, role)
            if refusal is not None:
                assert (answer.json()["code"], answer.status_code) == refusal, (feature, role)

    owner = await ask(http, "exec", batch_id, people["ann"])
    assert owner.json()["code"] == "WORKER.EXEC_ELSEWHERE"  # this host has no spawner of it


async def test_members_run_commands_beside_jobs_that_hide_nothing(
    http: httpx.AsyncClient, worker: LiveWorker, people: Mapping[str, Mapping[str, str]]
) -> None:
    jobs = [{"command": ["sleep", "100"], "env": {"PLAIN": "x"}}]
    made = await http.post("/v1/batches", json={"jobs": jobs}, headers=people["ann"])
    await worker.claim_and_start(1)
    for role in ROLES:
        answer = await ask(http, "exec", made.json()["id"], people[role])
        assert answer.json()["code"] == "WORKER.EXEC_ELSEWHERE", role
