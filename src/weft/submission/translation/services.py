"""Services: jobs that are started again whenever they end (ADR 143)."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec

from weft.core.ends.retry_policy import WAIT_MAX_S
from weft.core.errors import InvalidValue
from weft.core.graph.parents import Parents, numbers_of
from weft.core.graph.positions import Positions
from weft.core.problems import Problems
from weft.core.states import Reason
from weft.settings import Settings
from weft.submission.translation.executors import USUAL
from weft.wire.documents.batches import JobDocument
from weft.wire.documents.services import HealthDocument

STARTS_MAX: Final = 32_000
"""Attempts have numbers of 16 bits."""
_WAIT_MIN_S: Final = 1.0
_TIME_S: Final = (0.1, 86_400.0)
_FAILURES_MAX: Final = 1000
NOT_BESIDE: Final = (
    "function", "simulation", "container", "engine", "app", "count", "values", "outputs", "retry",
    "retry_on", "external_errors", "exit_codes", "retry_with", "deadline",
)  # fmt: skip
_NEVER_AGAIN: Final = {
    Reason.PREEMPTED, Reason.CANCELLED, Reason.DEADLINE, Reason.BLOCKED, Reason.OVERDUE,
}  # fmt: skip
AGAIN: Final = sum(1 << reason for reason in Reason if reason not in _NEVER_AGAIN)
"""The reasons after which a service is started again, as bits; losses have no limit of their own.
"""


def check_service(job: JobDocument, settings: Settings, problems: Problems, at: str) -> None:
    """Note what is wrong with a service."""
    service = job.service
    assert service is not None
    if not job.name:
        problems.add(InvalidValue, f"{at}/service", "a service needs a `name`")
    if not job.command and not job.script:
        problems.add(InvalidValue, f"{at}/service", "a service needs a `command` or `script`")
    if job.script and job.script.startswith("#!"):
        message = "a script of a service is run by sh: name its program in `command`"
        problems.add(InvalidValue, f"{at}/script", message)
    if job.executor not in {None, USUAL}:
        problems.add(InvalidValue, f"{at}/executor", "a service is a process of a worker's host")
    if job.max_attempts != 1:
        message = "not allowed in a service, which has as many as it needs"
        problems.add(InvalidValue, f"{at}/max_attempts", message)
    if not _WAIT_MIN_S <= service.first_s <= service.longest_s <= WAIT_MAX_S:
        message = f"it should be from {_WAIT_MIN_S:g} to longest_s, which is at most a year"
        problems.add(InvalidValue, f"{at}/service/first_s", message)
    if service.health is not None:
        for field, message in _wrong_health(service.health, settings.argv_bytes_max):
            problems.add(InvalidValue, f"{at}/service/health{field}", message)


def _wrong_health(health: HealthDocument, bytes_max: int) -> Iterator[tuple[str, str]]:
    if bool(health.command) is (health.http is not None):
        yield "", "it has one of `command` and `http`"
    texts = "".join((*(health.command or ()), health.http or ""))
    if "\0" in texts:
        yield "", "a text cannot contain NUL"
    if len(texts.encode()) > bytes_max:
        yield "", f"its texts have more than {bytes_max} bytes (argv_bytes_max)"
    if health.http is not None:
        try:
            parts = urlsplit(health.http)
            is_good = parts.scheme in {"http", "https"} and bool(parts.hostname)
        except ValueError:
            is_good = False
        if not is_good:
            yield "/http", "it should be an address such as http://127.0.0.1:8080/ready"
    least, most = _TIME_S
    for name in ("every_s", "timeout_s"):
        if not least <= getattr(health, name) <= most:
            yield f"/{name}", f"it should be from {least:g} to {most:g}"
    if not 1 <= health.failures <= _FAILURES_MAX:
        yield "/failures", f"it should be from 1 to {_FAILURES_MAX}"


def check_services(
    jobs: Sequence[JobDocument], problems: Problems, *, has_lifecycle: bool
) -> None:
    """Note names that two services of a document have, and statuses beside them."""
    seen: set[str] = set()
    for index, job in enumerate(jobs):
        if job.service is None:
            continue
        if has_lifecycle:
            message = "not in a batch with a lifecycle, which says itself what follows an end"
            problems.add(InvalidValue, f"/jobs/{index}/service", message)
        if job.name in seen:
            message = "two services of a document have this name"
            problems.add(InvalidValue, f"/jobs/{index}/name", message)
        seen.add(job.name or "")


def check_children(
    jobs: Sequence[JobDocument],
    parents: Sequence[Parents],
    on_start: Sequence[Parents],
    positions: Positions,
    problems: Problems,
) -> None:
    """Note jobs that would wait for the end of a service."""
    services = {
        positions.of(index).start for index, job in enumerate(jobs) if job.service is not None
    }
    for index, given in enumerate(parents if services else ()):
        begun = numbers_of(on_start[index]) if on_start else ()
        if not services.difference(begun).isdisjoint(numbers_of(given)):
            message = "it would wait for a service, which does not end"
            problems.add(InvalidValue, f"/jobs/{index}/parents", message)


def kept_of_service(job: JobDocument) -> Mapping[str, Any]:
    """Return what is kept: every exit code but 0 is told as an external error, after which it
    waits and is tried again, and no wait is the last one. What was before a long run is forgotten.
    """
    service = job.service
    assert service is not None
    waits = [service.first_s]
    while waits[-1] < service.longest_s:
        waits.append(min(2 * waits[-1], service.longest_s))
    steps = [{"tries": 1, "wait_s": wait} for wait in waits[:-1]]
    steps.append({"tries": STARTS_MAX, "wait_s": waits[-1]})
    return {
        "service": msgspec.to_builtins(service),
        "retry": {
            "policy": "stepwise", "jitter": 0, "steps": steps, "give_up_s": None,
            "forgets_s": service.longest_s,
        },
        "end_rules": {"external": [[1, 255]]},
    }  # fmt: skip
