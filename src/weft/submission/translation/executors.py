"""Which executor runs a job, and which there are.

The installed packages name the executors by entry points, so a new one needs no change here. The
api does not load them: it must know an executor's name, a worker runs it.
"""

from functools import cache
from typing import Final

from weft.core.errors import InvalidValue
from weft.core.problems import Problems
from weft.ports.executor import EXECUTOR_PLUGINS
from weft.ports.runner import RUNNER_PLUGINS
from weft.settings import Settings
from weft.wire.documents.batches import JobDocument

USUAL: Final = "process"
FUNCTION: Final = "function"
"""Runs functions."""
SIMULATION: Final = "simulation"
"""Runs simulations."""
CONTAINER: Final = "container"
"""Runs what has a container."""
IN_CONTAINERS: Final = (CONTAINER, "kubernetes")
"""Those that run what has a container; the first, unless the job says another."""
APP: Final = "app"
"""Runs applications; all others run commands."""
_RUN_BY: Final = {
    FUNCTION: (FUNCTION,), CONTAINER: IN_CONTAINERS, APP: (APP,), SIMULATION: (SIMULATION,),
}  # fmt: skip
"""What runs a job with such a field; the executors are named as the fields."""


@cache
def installed_executors() -> tuple[str, ...]:
    """Return the names of all executors."""
    return EXECUTOR_PLUGINS.names()


@cache
def _engines() -> frozenset[str]:
    """Return the executors that are named as what runs their jobs elsewhere."""
    return frozenset(RUNNER_PLUGINS.names()) - {SIMULATION}


def check_executor(job: JobDocument, _: Settings, problems: Problems, at: str) -> None:
    """Note an executor that is not installed, or not the one for what the job runs."""
    known = installed_executors()
    if job.executor not in known:
        message = f"not an executor; known: {', '.join(known)}"
        problems.add(InvalidValue, f"{at}/executor", message)
    for name, executors in _RUN_BY.items():
        is_there = getattr(job, name) is not None
        if is_there and job.executor not in executors:
            message = f"a job with `{name}` has the executor {' or '.join(executors)}"
            problems.add(InvalidValue, f"{at}/executor", message)
        elif job.executor == name and not is_there:
            message = f"a job of the executor `{name}` needs `{name}`"
            problems.add(InvalidValue, f"{at}/{name}", message)
    for name in ("code", "requirements"):
        if getattr(job, name) is not None and job.executor in _engines():
            message = f"{job.executor} runs it elsewhere, where weft brings none: have it there"
            problems.add(InvalidValue, f"{at}/{name}", message)


def executor_of(job: JobDocument) -> str:
    """Return the executor that a job names, else the one for what it runs."""
    named = (name for name in _RUN_BY if getattr(job, name) is not None)
    return job.executor or next(named, USUAL)


def executor_field(job: JobDocument) -> str:
    """Return the field by which a job asks for its executor."""
    fields = ("executor", *_RUN_BY)
    return next((name for name in fields if getattr(job, name) is not None), "executor")
