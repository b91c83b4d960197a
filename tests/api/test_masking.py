"""Secrets in the environment of jobs are shown to nobody."""

from typing import Any

import httpx

from weft.core.access.secret_variables import MASK

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
