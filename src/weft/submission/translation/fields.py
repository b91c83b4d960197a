"""The fields that few jobs have: what is checked of each, and what becomes of it.

A document whose jobs have none of them pays nothing for them (`are_ordinary`). A field that
`FIELDS` does not name, and that the document of a job shows if it was given
(`wire/answers/jobs.py`), is kept as it was sent.

A request may have 10,000 jobs, and a look at one field of each costs as much as a tenth of its
decoding. So nothing looks at these fields if no job has any: that is known of jobs that were
decoded without them (`usual_jobs.py`), and of others by one look at all of them.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import MAXYEAR, UTC, datetime, timedelta
from operator import attrgetter
from typing import Any, Final

import msgspec

from weft.core.errors import InvalidValue
from weft.core.problems import Problems, pointer_of
from weft.core.text.texts import wrong_name
from weft.settings import Settings
from weft.submission.translation.cache import CACHE, check_cache
from weft.submission.translation.files import check_inputs, check_outputs
from weft.submission.translation.kinds import (
    APP_NOT_BESIDE,
    SERVICE_NOT_BESIDE,
    SIMULATION_NOT_BESIDE,
    WAIT_NOT_BESIDE,
    as_simulation,
    check_parameters,
    check_service,
    check_simulation,
    check_wait,
    kept_of_service,
    kept_of_wait,
)
from weft.submission.translation.places import CONTAINER as EXECUTOR
from weft.submission.translation.places import check_executor
from weft.submission.translation.retries import REASONS, check_retry, rules_of, stored_policy
from weft.wire.answers.jobs import Job
from weft.wire.documents.jobs import JobDocument
from weft.wire.spec import (
    CODE,
    CONTAINER,
    ENGINE_OPTIONS,
    FILES,
    NO_NETWORK,
    PACKAGES,
    SECRETS,
    SERVICE,
    JobSpec,
    requiring,
)
from weft.wire.usual_jobs import UsualJob


def check_container(job: JobDocument, _: Settings, problems: Problems, at: str) -> None:
    """Note what is wrong with a container."""
    assert job.container is not None
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


def check_uses(job: JobDocument, _: Settings, problems: Problems, at: str) -> None:
    """Note secrets that are neither a variable nor a file, or both, or two in the same one."""
    taken: set[tuple[str | None, ...]] = set()
    for n, use in enumerate(job.secrets or ()):
        target = (use.env, use.file, use.registry and "")
        if sum(one is not None for one in target) != 1:
            message = "a secret becomes a variable (`env`) or a file (`file`)"
            problems.add(InvalidValue, f"{at}/secrets/{n}", message)
        elif use.registry is not None and job.container is None:
            message = "only a job with `container` has an image of a registry"
            problems.add(InvalidValue, f"{at}/secrets/{n}/registry", message)
        elif target in taken:
            message = f"another secret is {use.env or use.file or 'for a registry'} already"
            problems.add(InvalidValue, f"{at}/secrets/{n}", message)
        taken.add(target)


def needing(requirement: str, name: str) -> Callable[[JobSpec], JobSpec]:
    """Return what lets only runners run a job with this field that know what it needs."""

    def changed(spec: JobSpec) -> JobSpec:
        return requiring(spec, requirement) if getattr(spec, name) else spec

    return changed


def check_network(job: JobDocument, _: Settings, problems: Problems, at: str) -> None:
    """Note a call of a function that forbids the network."""
    if job.network is False and job.function is not None:
        message = "calls of functions share processes, which have the network of their worker"
        problems.add(InvalidValue, f"{at}/network", message)


def without_network(spec: JobSpec) -> JobSpec:
    """Let only runners run this job that can keep it from the network."""
    return requiring(spec, NO_NETWORK) if spec.network is False else spec


FIRST_YEAR: Final = 1970

Check = Callable[[JobDocument, Settings, Problems, str], None]
"""Notes what is wrong with a job that has the field; the text is the pointer to the job."""
Kept = Callable[[JobDocument], Mapping[str, Any]]
"""Returns what is kept of a job that has the field, by name."""


@dataclass(frozen=True)
class JobField:
    """A field that few jobs have: None in all others."""

    name: str
    checks: tuple[Check, ...] = ()
    keeps: Kept | None = None
    """None: nothing is kept beside the spec, which has all fields of the same names anyway."""
    spec: Callable[[JobSpec], JobSpec] | None = None
    """How it changes the rest of the spec."""
    beside: tuple[str, ...] = ()
    """Fields that cannot stand beside it."""


def kept(
    name: str, keeps: Kept | None = None, check: Check | None = None, beside: tuple[str, ...] = ()
) -> JobField:
    """Return a field that is kept, as it was sent if nothing else is said. Its texts and times are
    checked by their types, whatever else is.
    """

    def check_value(job: JobDocument, settings: Settings, problems: Problems, at: str) -> None:
        _check_value(getattr(job, name), settings, problems, at + pointer_of(name))

    checks = (check_value,) if check is None else (check_value, check)
    return JobField(name, checks, keeps or (lambda job: {name: getattr(job, name)}), beside=beside)


def _not_before(job: JobDocument) -> Mapping[str, Any]:
    assert job.not_before is not None
    return {"not_before": job.not_before.astimezone(UTC)}


def _deadline(job: JobDocument) -> Mapping[str, Any]:
    assert job.deadline is not None
    latest = job.deadline - timedelta(seconds=job.timeout_s or 0)
    return {"deadline": job.deadline.astimezone(UTC), "latest_start": latest.astimezone(UTC)}


def _policy(job: JobDocument) -> Mapping[str, Any]:
    assert job.retry is not None
    return {"retry": stored_policy(job.retry)}


def _rules(job: JobDocument) -> Mapping[str, Any]:
    rules = rules_of(job)
    return {} if rules is None else {"end_rules": rules}


def _with_rules(name: str) -> Kept:
    return lambda job: {name: getattr(job, name), **_rules(job)}


_NO_PROGRAMS: Final = ("app", "container", "simulation")
_LISTED: Final = (
    JobField("count"),
    JobField("values"),
    JobField("function", beside=("command", "script", "stdin", "umask")),
    JobField("executor", (check_executor,)),
    JobField("log"),
    JobField("simulation", (check_simulation,), spec=as_simulation, beside=SIMULATION_NOT_BESIDE),
    JobField(
        "container", (check_container,), spec=in_container, beside=("function", "simulation")
    ),
    JobField("engine", spec=needing(ENGINE_OPTIONS, "engine")),
    kept("not_before", _not_before),
    kept("deadline", _deadline),
    kept("queue"),
    JobField("retry_on", keeps=_rules),
    kept("retry", _policy, check_retry),
    kept("external_errors", _with_rules("external_errors")),
    kept("exit_codes", _with_rules("exit_codes")),
    JobField("app", keeps=lambda job: {"app": job.app}, beside=APP_NOT_BESIDE),
    JobField("parameters", (check_parameters,), keeps=lambda job: {"parameters": job.parameters}),
    JobField("network", (check_network,), spec=without_network),
    JobField("secrets", (check_uses,), spec=needing(SECRETS, "secrets")),
    JobField("inputs", (check_inputs,), spec=needing(FILES, "inputs")),
    JobField("outputs", (check_outputs,), spec=needing(FILES, "outputs")),
    JobField(
        "service",
        (check_service,),
        kept_of_service,
        needing(SERVICE, "service"),
        SERVICE_NOT_BESIDE,
    ),
    kept("wait", kept_of_wait, check_wait, WAIT_NOT_BESIDE),
    JobField("code", spec=needing(CODE, "code"), beside=("cwd", *_NO_PROGRAMS)),
    JobField("requirements", spec=needing(PACKAGES, "requirements"), beside=_NO_PROGRAMS),
    kept(CACHE, check=check_cache),
)


def _kept_as_sent() -> Iterator[JobField]:
    """Yield the fields that the document of a job shows and that need no more than that."""
    needed = JobDocument.__struct_fields__
    listed = {field.name for field in _LISTED}
    for shown in msgspec.structs.fields(Job):
        if shown.default is msgspec.UNSET and shown.name in needed and shown.name not in listed:
            yield kept(shown.name)


FIELDS: Final[tuple[JobField, ...]] = (*_LISTED, *_kept_as_sent())
"""In the order in which they change specs."""


def given_fields(jobs: Sequence[JobDocument]) -> list[JobField]:
    """Return the fields of `FIELDS` that any of these jobs has."""
    columns = ((field, list(map(attrgetter(field.name), jobs))) for field in FIELDS)
    return [field for field, column in columns if column.count(None) < len(column)]


def check_fields(
    fields: Sequence[JobField], jobs: Sequence[JobDocument], settings: Settings, problems: Problems
) -> None:
    """Note what is wrong with these fields."""
    for field in fields:
        for index, job in _having(field, jobs) if field.checks or field.beside else ():
            for name in field.beside:
                if getattr(job, name) is not None:
                    message = f"not allowed beside `{field.name}`"
                    problems.add(InvalidValue, f"/jobs/{index}/{name}", message)
            for check in field.checks:
                check(job, settings, problems, f"/jobs/{index}")


def kept_fields(
    fields: Sequence[JobField], jobs: Sequence[JobDocument]
) -> dict[int, dict[str, Any]]:
    """Return what is kept of the jobs that have such fields, by the indices of the jobs."""
    found: dict[int, dict[str, Any]] = {}
    for field in fields:
        if field.keeps is not None:
            for index, job in _having(field, jobs):
                if values := field.keeps(job):
                    found.setdefault(index, {}).update(values)
    return found


def changed_specs(
    fields: Sequence[JobField], specs: list[JobSpec], jobs: Sequence[JobDocument]
) -> list[JobSpec]:
    """Return the specs of these jobs as the fields change them."""
    for field in fields:
        if field.spec is not None:
            specs = [*specs]
            for index, _ in _having(field, jobs):
                specs[index] = field.spec(specs[index])
    return specs


def _having(field: JobField, jobs: Sequence[JobDocument]) -> Iterator[tuple[int, JobDocument]]:
    """Yield the jobs that have a field, with their indices."""
    values = map(attrgetter(field.name), jobs)
    return ((index, jobs[index]) for index, value in enumerate(values) if value is not None)


def _check_value(value: object, settings: Settings, problems: Problems, at: str) -> None:
    parts: Mapping[Any, object] = {}
    if isinstance(value, str):
        if wrong := wrong_name(value, chars_max=settings.name_chars_max):
            problems.add(InvalidValue, at, wrong)
    elif isinstance(value, datetime):
        # The first years and the last one may not exist in UTC, or before a time limit.
        if not FIRST_YEAR <= value.year < MAXYEAR:
            problems.add(InvalidValue, at, f"not a year from {FIRST_YEAR} to {MAXYEAR - 1}")
    elif isinstance(value, msgspec.Struct):
        parts = msgspec.structs.asdict(value)
    elif isinstance(value, Mapping):
        parts = value
    elif isinstance(value, Sequence):
        parts = dict(enumerate(value))
    for name, part in parts.items():
        inner = at + pointer_of(name)
        if isinstance(name, str):
            _check_value(name, settings, problems, inner)
        _check_value(part, settings, problems, inner)


_NAMES: Final = [field.name for field in FIELDS if field.name != "retry_on"]
_LOOK: Final = " or ".join(f"job.{name} is not None" for name in _NAMES)
# Compiled from our own names, because each field that a loop looks at costs twice as much.
_is_any_given: Final[Callable[[Sequence[JobDocument]], bool]] = eval(  # noqa: S307
    f"lambda jobs: any({_LOOK} for job in jobs)"
)


def are_ordinary(jobs: Sequence[JobDocument]) -> bool:
    """Say whether no job has a field of `FIELDS`, but for reasons for retries that all share."""
    reasons = {job.retry_on for job in jobs}
    if len(reasons) > 1 or not all(REASONS.issuperset(one or ()) for one in reasons):
        return False
    return {UsualJob}.issuperset(map(type, jobs)) or not _is_any_given(jobs)
