"""Secrets over HTTP: set by their users, named by jobs, and returned by no route. Those in the
environment of jobs are shown to nobody.
"""

from typing import Any

import asyncpg
import httpx

from api.live import LiveApi, LiveWorker, add
from weft.core.access.secret_variables import MASK
from weft.core.states import AttemptKey
from weft.wire.sealed import key_id_of, new_key, parse_keys

VALUE = "canary-6f1d"
USES = [{"name": "db", "env": "DB_PASSWORD"}, {"name": "db", "file": "key.pem"}]
JOB = {"command": ["true"], "secrets": USES}


async def set_secret(http: httpx.AsyncClient, name: str = "db", **more: Any) -> httpx.Response:  # noqa: ANN401
    return await http.put(f"/v1/secrets/{name}", json={"value": VALUE}, **more)


async def test_a_value_is_taken_and_never_returned(http: httpx.AsyncClient) -> None:
    made = await set_secret(http)
    again = await set_secret(http)
    listed = await http.get("/v1/secrets")
    batch = await http.post("/v1/batches", json={"jobs": [JOB]})
    job = await http.get(f"/v1/batches/{batch.json()['id']}/jobs/1")
    removed = [await http.delete("/v1/secrets/db") for _ in range(2)]

    assert made.status_code == again.status_code == 200, made.text
    assert listed.json()["items"] == [again.json()]
    assert job.json()["spec"]["secrets"] == USES
    assert job.json()["spec"].get("executor", "process") == "process"
    assert [one.status_code for one in removed] == [200, 404]
    assert removed[1].json()["code"] == "API.SECRET_NOT_FOUND"
    assert VALUE not in "".join(one.text for one in (made, again, listed, batch, job, *removed))


async def test_jobs_name_secrets_that_their_user_has(http: httpx.AsyncClient) -> None:
    ann = await add(http, "ann")
    await set_secret(http, "other")
    await set_secret(http, headers=ann)
    wrong = [
        {"name": "db", "env": "A"},
        {"name": "other"},
        {"name": "other", "env": "A", "file": "a"},
        {"name": "other", "env": "B"},
        {"name": "other", "env": "B"},
    ]
    refused = await http.post("/v1/batches", json={"jobs": [{}, {"secrets": wrong}]})
    batch = (await http.post("/v1/batches", json={"jobs": [{}]})).json()["id"]
    project = "/v1/billing-projects/default/members/ann"
    assert (await http.put(project, json={})).status_code == 200
    of_another = await http.post(f"/v1/batches/{batch}/updates", json={"jobs": [JOB]}, headers=ann)

    assert refused.status_code == 400
    assert [one["pointer"] for one in refused.json()["errors"]] == [
        "/jobs/1/secrets/0/name",
        "/jobs/1/secrets/1",
        "/jobs/1/secrets/2",
        "/jobs/1/secrets/4",
    ]
    assert "weft secret set db" in refused.json()["errors"][0]["message"]
    assert of_another.status_code == 403, of_another.text
    assert (await http.get(f"/v1/batches/{batch}")).json()["n_jobs"] == 1


async def test_what_cannot_be_a_secret_is_refused(http: httpx.AsyncClient) -> None:
    cases = [
        ("", "db", 400),
        ("a\0b", "db", 400),
        ("x" * 65537, "db", 413),
        ("x", "a b", 400),
        ("é" * 32768, "db", 200),
    ]
    for value, name, status in cases:
        answer = await http.put(f"/v1/secrets/{name}", json={"value": value})

        assert answer.status_code == status, answer.text[:300]
        assert len(value) < 9 or value not in answer.text


async def test_a_user_has_a_limited_number(http: httpx.AsyncClient) -> None:
    for n in range(100):
        assert (await set_secret(http, f"s{n}")).status_code == 200
    answer = await set_secret(http)

    assert (answer.status_code, answer.json()["code"]) == (409, "API.TOO_MANY_SECRETS")


async def test_all_are_encrypted_anew_and_old_keys_can_go(
    http: httpx.AsyncClient, api: LiveApi, worker: LiveWorker
) -> None:
    ann = await add(http, "ann")
    await set_secret(http)
    await set_secret(http, headers=ann)
    old = api.secret_keys[0]
    api.secret_keys.insert(0, *parse_keys(new_key()))
    forbidden = await http.post("/v1/secret-rotation", json={}, headers=ann)
    rotated = [await http.post("/v1/secret-rotation", json={}) for _ in range(2)]
    api.secret_keys.remove(old)
    await http.post("/v1/batches", json={"jobs": [JOB]})
    (one,) = await worker.claim()
    key = AttemptKey(one.batch_id, one.job_id, one.attempt)
    (stored,) = await worker.store.get_secrets(worker.incarnation_id, [(key, "db")])
    api.secret_keys.clear()
    without = await set_secret(http)

    assert forbidden.status_code == 403
    assert [one.json()["n_rotated"] for one in rotated] == [2, 0]
    assert stored is not None
    assert stored.body is not None
    assert key_id_of(stored.body).hex() == rotated[0].json()["key"]
    assert (without.status_code, without.json()["code"]) == (409, "API.SECRET_KEY_MISSING")


async def test_a_value_that_was_moved_stops_the_rotation(
    http: httpx.AsyncClient, api: LiveApi, admin: asyncpg.Connection
) -> None:
    await set_secret(http)
    await admin.execute("UPDATE weft.secret SET name = 'moved'")
    api.secret_keys.insert(0, *parse_keys(new_key()))
    answer = await http.post("/v1/secret-rotation", json={})

    assert (answer.status_code, answer.json()["code"]) == (409, "API.SECRET_UNREADABLE")


SECRET = "hunter2-of-the-test"
ENVIRONMENT = {"MY_API_TOKEN": SECRET, "DB": f"postgres://ada:{SECRET}@db/x", "PLAIN": "shown"}
MASKED = {"MY_API_TOKEN": MASK, "DB": f"postgres://ada:{MASK}@db/x", "PLAIN": "shown"}


async def test_the_document_of_a_job_masks_secrets(http: httpx.AsyncClient) -> None:
    cases: list[Any] = [{}, {"count": 3}, {"function": {"call": "math:hypot"}}]
    for more in cases:
        command = {} if "function" in more else {"command": ["true"]}
        document = {"jobs": [{**command, **more, "env": ENVIRONMENT}], "inherit_env": ENVIRONMENT}
        created = (await http.post("/v1/batches", json=document)).json()

        answer = await http.get(f"/v1/batches/{created['id']}/jobs/1")

        assert SECRET not in answer.text
        spec = answer.json()["spec"]
        assert spec["inherit_env"] == MASKED
        assert {name: spec["env"][name] for name in MASKED} == MASKED


async def test_a_masked_value_that_comes_back_is_refused(http: httpx.AsyncClient) -> None:
    for value in [MASK, MASKED["DB"]]:
        for document, pointer in (
            ({"jobs": [{"command": ["true"], "env": {"A": value}}]}, "/jobs/0/env/A"),
            ({"jobs": [{}], "inherit_env": {"A": value}}, "/inherit_env/A"),
        ):
            answer = await http.post("/v1/batches", json=document)

            assert answer.status_code == 400
            (error,) = answer.json()["errors"]
            assert error["pointer"] == pointer
            assert "write the value itself" in error["message"]


async def test_a_bunch_that_differs_names_the_variables_only(http: httpx.AsyncClient) -> None:
    batch = (await http.post("/v1/batches", json={})).json()["id"]
    at = f"/v1/batches/{batch}/updates"
    update = (await http.post(at, json={"n_jobs": 1})).json()["update_id"]
    bunch: dict[str, Any] = {"first": 1, "jobs": [{"command": ["true"], "env": ENVIRONMENT}]}
    await http.post(f"{at}/{update}/jobs", json=bunch)

    bunch["jobs"][0]["env"] = {**ENVIRONMENT, "MY_API_TOKEN": "another"}
    answer = await http.post(f"{at}/{update}/jobs", json=bunch)

    assert answer.json()["code"] == "API.BUNCH_DIFFERS"
    assert answer.json()["errors"][0]["message"] == "they differ in MY_API_TOKEN"
    assert SECRET not in answer.text
