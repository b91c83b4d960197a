"""Executors that an installed package brings, without a change in the api."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from plugins.package import install
from weft.ports.executor import EXECUTOR_PLUGINS
from weft.submission.translation.executors import installed_executors

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
