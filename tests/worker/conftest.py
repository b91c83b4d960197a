"""Fixtures of the worker's tests: a real spawner, with and without a PID namespace."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from worker.spawner_process import Agent, SpawnerProcess, has_namespaces


@pytest.fixture
def short_path() -> Iterator[Path]:
    """Return a directory whose path a socket can have."""
    path = Path(tempfile.mkdtemp(prefix="weft-"))
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture(params=["namespace", "subreaper"])
def spawner(request: pytest.FixtureRequest, short_path: Path) -> Iterator[SpawnerProcess]:
    """Return a spawner of each kind."""
    namespace = request.param == "namespace"
    if namespace and not has_namespaces():
        pytest.skip("this kernel lends no PID namespace")
    one = SpawnerProcess(short_path, namespace=namespace)
    yield one
    one.stop()


@pytest.fixture
def plain_spawner(short_path: Path) -> Iterator[SpawnerProcess]:
    """Return a spawner without a namespace."""
    one = SpawnerProcess(short_path)
    yield one
    one.stop()


@pytest.fixture
def agent(spawner: SpawnerProcess) -> Iterator[Agent]:
    """Return an agent of each kind of spawner."""
    one = spawner.connect()
    yield one
    one.close()
