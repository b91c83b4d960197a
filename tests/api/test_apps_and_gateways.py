"""Applications run on weft's own workers: a gateway to an engine hands programs over, not folders.

Their jobs are refused where no other worker is, and one that waits all the same is told why.
"""

import json
from pathlib import Path

import httpx
import pytest

from api.live import TOKEN, LiveApi, open_worker
from weft.client.aio import Client


@pytest.fixture
async def app(api: LiveApi, tmp_path: Path) -> str:
    """Give the name of an application."""
    described = {"name": "sayer", "version": "1.0", "templatePath": "wrapper.sh"}
    (tmp_path / "app.json").write_text(json.dumps(described))
    (tmp_path / "wrapper.sh").write_text("exit 0\n")
    async with Client(api.url, TOKEN) as client:
        await client.add_app(tmp_path)
    return "sayer-1.0"


async def test_application_is_refused_or_explained_where_gateways_are_alone(
    http: httpx.AsyncClient, database: dict[str, str], tmp_path: Path, app: str
) -> None:
    """Before any worker is there a job is taken, as its worker may come."""
    job = {"jobs": [{"app": app}, {"simulation": {"steps": []}}]}
    early = await http.post("/v1/batches", json=job)
    async with open_worker(database["weft_worker"], tmp_path / "logs", executors=["slurm"]):
        refused = await http.post("/v1/batches", json=job)
        why = (await http.get(f"/v1/batches/{early.json()['id']}/jobs/1/why")).json()

        assert (refused.status_code, refused.json()["code"]) == (400, "API.NO_WORKER_FITS")
        problems = {one["pointer"]: one["message"] for one in refused.json()["errors"]}
        known = "no worker offers executor {!r}; known: slurm; {}"
        simulates = '`weft worker` with `runner = "simulation"` does'
        assert problems == {
            "/jobs/0/app": known.format("app", "gateways to engines run no applications"),
            "/jobs/1/simulation": known.format("simulation", simulates),
        }
        (cause,) = why["causes"]
        assert cause["text"] == "waits for a worker that offers executor app: none does"


async def test_application_is_taken_for_a_machine_that_is_not_there_yet(
    http: httpx.AsyncClient, database: dict[str, str], tmp_path: Path, app: str
) -> None:
    small = {"name": "small", "cpu": 1, "memory": "1Gi"}
    pool = {"name": "default", "provider": "slurm", "max_workers": 1, "flavours": [small]}
    async with open_worker(database["weft_worker"], tmp_path / "logs", executors=["slurm"]):
        saved = await http.put("/v1/pools", json={"pools": [pool]})
        taken = await http.post("/v1/batches", json={"jobs": [{"app": app}]})
        await http.put("/v1/pools", json={"pools": []})

    assert (saved.status_code, taken.status_code) == (200, 201), taken.text
