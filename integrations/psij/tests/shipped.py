"""What PSI/J's own tests import by three names, and its releases leave out."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile

import pytest
from psij import Job, JobExecutor, JobState, JobStatus

FOLDER = Path.home() / ".psij/test"
FOLDER.mkdir(parents=True, exist_ok=True)


@dataclass
class ExecutorTestParams:
    launcher: str
    executor: str = "weft"
    url = queue_name = account = None


@pytest.fixture(params=["single", "multiple"])
def execparams(request: pytest.FixtureRequest) -> ExecutorTestParams:
    return ExecutorTestParams(request.param)


def assert_completed(job: Job, status: JobStatus, attached: bool = False) -> None:  # noqa: FBT002
    assert status.state == JobState.COMPLETED, (job, attached)


def _make_test_dir() -> None:
    """It is there."""


def _get_timeout(_: ExecutorTestParams) -> None:
    return None


def _get_executor_instance(params: ExecutorTestParams, job: Job | None = None) -> JobExecutor:
    if job is not None and job.spec is not None:
        job.spec.launcher = params.launcher
    return JobExecutor.get_instance(params.executor)


@contextmanager
def _deploy(path: str) -> Iterator[Path]:
    with NamedTemporaryFile(dir=FOLDER) as copied:
        shutil.copyfile(path, copied.name)
        yield Path(copied.name)
