"""Jobs in containers: checks, their executor in specs, and what their runner must know."""

from typing import Final

import msgspec

from weft.core.errors import InvalidValue
from weft.core.problems import Problems
from weft.settings import Settings
from weft.submission.translation.executors import CONTAINER as EXECUTOR
from weft.submission.translation.executors import IN_CONTAINERS
from weft.wire.documents.batches import JobDocument
from weft.wire.spec import CONTAINER, JobSpec, requiring

_NOT_BESIDE: Final = ("function", "simulation")


def check_contained(job: JobDocument, _: Settings, problems: Problems, at: str) -> None:
    """Note a job of this executor that says no image."""
    if job.executor == EXECUTOR and job.container is None:
        message = "a job of the executor `container` needs a container"
        problems.add(InvalidValue, f"{at}/container", message)


def check_container(job: JobDocument, _: Settings, problems: Problems, at: str) -> None:
    """Note what is wrong with a container, and with what stands beside it."""
    assert job.container is not None
    if job.executor not in {None, *IN_CONTAINERS}:
        message = f"a job with a container has the executor {' or '.join(IN_CONTAINERS)}"
        problems.add(InvalidValue, f"{at}/executor", message)
    for name in _NOT_BESIDE:
        if getattr(job, name) is not None:
            problems.add(InvalidValue, f"{at}/{name}", "not allowed in a job with a container")
    targets: set[str] = set()
    for n, mount in enumerate(job.container.mounts):
        target, where = mount.target.rstrip("/"), f"{at}/container/mounts/{n}/target"
        if not target or ".." in target.split("/"):
            problems.add(InvalidValue, where, "expected an absolute path below /, without ..")
        elif target in targets:
            problems.add(InvalidValue, where, "another mount is there already")
        targets.add(target)


def in_container(spec: JobSpec) -> JobSpec:
    """Let only runners run this job that can make its container."""
    return requiring(msgspec.structs.replace(spec, executor=EXECUTOR), CONTAINER)
