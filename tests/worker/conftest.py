"""Fixtures of the worker's tests: a real spawner, with and without a PID namespace."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from contexts import async_fixture_of, fixture_of, scratch
from worker.fake_store import FakeStore
from worker.spawner_process import Agent, SpawnerProcess, has_namespaces
from worker.worker_process import Worker

short_path = fixture_of(scratch)
"""A directory whose path a socket can have."""


@pytest.fixture(params=["namespace", "subreaper"])
def spawner(request: pytest.FixtureRequest, short_path: Path) -> Iterator[SpawnerProcess]:
    """Return a spawner of each kind, started by one that blocks and ignores signals."""
    namespace = request.param == "namespace"
    if namespace and not has_namespaces():
        pytest.skip("this kernel lends no PID namespace")
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGCHLD})
    ignored = signal.signal(signal.SIGCHLD, signal.SIG_DFL if namespace else signal.SIG_IGN)
    try:
        one = SpawnerProcess(short_path, namespace=namespace)
    finally:
        signal.signal(signal.SIGCHLD, ignored)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    yield one
    one.stop()


plain_spawner = fixture_of(lambda short_path: SpawnerProcess(root=short_path))
"""A spawner without a namespace."""


@pytest.fixture
def agent(spawner: SpawnerProcess) -> Iterator[Agent]:
    """Return an agent of each kind of spawner."""
    one = spawner.connect()
    yield one
    one.close()


worker = async_fixture_of(lambda short_path: Worker(short_path, FakeStore()).running())
"""An agent with a spawner of its own and a store that is none."""
