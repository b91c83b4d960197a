"""Executors that an installed package brings, without a change in the api."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from api.live import TOKEN, LiveApi, open_worker
from plugins.package import install
from weft.client.aio import Client
from weft.ports.executor import EXECUTOR_PLUGINS
from weft.submission.translation.places import installed_executors

BUILT_IN = EXECUTOR_PLUGINS.names()
SHORT = {"name": "short", "priority": 20, "pools": ["default"]}


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Install a package that brings the executor `cluster`. Nothing needs to be loaded."""
    install(tmp_path, monkeypatch, executors="cluster = not.here:Cluster")
    installed_executors.cache_clear()
    yield
    installed_executors.cache_clear()


async def submitted(http: httpx.AsyncClient, job: dict[str, Any]) -> httpx.Response:
    return await http.post("/v1/batches", json={"jobs": [{"command": ["true"], **job}]})


@pytest.mark.usefixtures("package")
async def test_executor_of_a_package_is_accepted(http: httpx.AsyncClient) -> None:
    queues = {"queues": [{**SHORT, "guard": "true", "executor": "cluster"}]}
    saved = await http.put("/v1/queues", json=queues)
    accepted = await submitted(http, {"executor": "cluster"})
    refused = await submitted(http, {"executor": "abacus"})

    assert saved.status_code == 200
    assert accepted.status_code == 201
    (problem,) = refused.json()["errors"]
    assert (
        problem["message"]
        == f"not an executor; known: {', '.join(sorted({'cluster', *BUILT_IN}))}"
    )
    assert problem["pointer"] == "/jobs/0/executor"


async def test_executor_that_nobody_brings_is_refused(http: httpx.AsyncClient) -> None:
    wrong = await http.put("/v1/queues", json={"queues": [{**SHORT, "executor": "cluster"}]})
    refused = await submitted(http, {"executor": "cluster"})

    known = ", ".join(BUILT_IN)
    commands = ", ".join(one for one in BUILT_IN if one != "function")
    assert wrong.json()["errors"][0]["message"] == f"it cannot run commands; known: {commands}"
    assert refused.json()["errors"][0]["message"] == f"not an executor; known: {known}"


async def test_container_may_be_a_pod_and_nothing_else(http: httpx.AsyncClient) -> None:
    box = {"image": "docker://any"}
    accepted = await submitted(http, {"executor": "kubernetes", "container": box})
    refused = await submitted(http, {"executor": "nomad", "container": box})

    assert accepted.status_code == 201
    (problem,) = refused.json()["errors"]
    assert problem["message"] == "a job with `container` has the executor container or kubernetes"


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
