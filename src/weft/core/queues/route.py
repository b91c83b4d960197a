"""Which queue takes a job: the first one in the order of priority whose guard is true."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, NamedTuple

import msgspec

from weft.core.queues.attributes import BY_PATH, Path
from weft.core.queues.guard import Guard
from weft.core.queues.queue import DEFAULT, Queue


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What all jobs of a submission have in common."""

    user: str
    added_by: str | None = None
    """The user who adds jobs to a batch of `user`; None: that is the same."""
    now: datetime  # UTC
    batch_name: str | None = None
    billing_project: str = "default"
    batch_attributes: Mapping[str, str] = {}

    def refused_by(self, queue: Queue) -> str | None:
        """Return who may not use this queue; None: it may be used."""
        names = (self.user, self.added_by or self.user)
        return next((name for name in names if not queue.may_use(name)), None)


class Asked(NamedTuple):
    """What guards may know of one job."""

    executor: str = "process"
    name: str | None = None
    attributes: Mapping[str, str] = {}
    priority: int = 0
    n_jobs: int = 1
    timeout_s: float | None = None
    always_run: bool = False
    max_attempts: int = 1
    cpu_m: int = 1000
    memory_mib: int = 512
    storage_mib: int = 0
    gpu: int = 0
    app: str | None = None


class Route(NamedTuple):
    """A queue with its compiled guard. None: only jobs that name the queue."""

    queue: Queue
    guard: Guard | None


class Verdict(NamedTuple):
    """Whether a queue takes a job, and why not."""

    queue: str
    takes: bool
    reason: str


_MIB: Final = 2**20
_OF_REQUEST: Final[Mapping[Path, Callable[[Request], Any]]] = {
    ("user",): lambda one: one.user,
    ("batch", "name"): lambda one: one.batch_name or "",
    ("batch", "billing_project"): lambda one: one.billing_project,
    ("batch", "attributes"): lambda one: one.batch_attributes,
    ("now", "hour"): lambda one: one.now.hour,
    ("now", "weekday"): lambda one: one.now.isoweekday(),
    ("now", "date"): lambda one: one.now.date().isoformat(),
}
_OF_JOB: Final[Mapping[Path, Callable[[Asked], Any]]] = {
    ("executor",): lambda job: job.executor,
    ("job", "name"): lambda job: job.name or "",
    ("job", "app"): lambda job: job.app or "",
    ("job", "attributes"): lambda job: job.attributes,
    ("job", "priority"): lambda job: job.priority,
    ("job", "count"): lambda job: job.n_jobs,
    ("job", "timeout_s"): lambda job: float(job.timeout_s or 0),
    ("job", "always_run"): lambda job: job.always_run,
    ("job", "max_attempts"): lambda job: job.max_attempts,
    ("job", "resources", "cpu"): lambda job: job.cpu_m / 1000,
    ("job", "resources", "memory"): lambda job: job.memory_mib * _MIB,
    ("job", "resources", "storage"): lambda job: job.storage_mib * _MIB,
    ("job", "resources", "gpu"): lambda job: job.gpu,
}


@dataclass
class Router:
    """Finds the queues of jobs of one request; those that no guard tells apart only once."""

    routes: Sequence[Route]
    """In the order of priority, the highest first."""
    request: Request

    def __post_init__(self) -> None:
        self._open = [
            one
            for one in self.routes
            if one.guard
            and one.queue.state == "enabled"
            and not self.request.refused_by(one.queue)
        ]
        reads = {path for one in self._open for path in one.guard.reads}  # type: ignore[union-attr]  # filtered above
        self._of_job = sorted(path for path in reads if _base(path) in _OF_JOB)
        self._fixed = _values(
            (path for path in reads if _base(path) in _OF_REQUEST), _OF_REQUEST, self.request
        )
        self._found: dict[tuple[object, ...], str] = {}
        self.n_evaluated = 0
        self.failures: Counter[str] = Counter()
        """How often the guard of a queue could not be evaluated."""

    def queue_of(self, job: Asked) -> str:
        """Return the name of the queue that takes a job that names none."""
        if not self._open:
            return DEFAULT
        values = _values(self._of_job, _OF_JOB, job)
        key = tuple(_hashable(values.get(path)) for path in self._of_job)
        if key not in self._found:
            self._found[key] = self._first(values)
        return self._found[key]

    def _first(self, values: Mapping[Path, Any]) -> str:
        for queue, guard in self._open:
            if guard is None:
                continue
            self.n_evaluated += 1
            takes, problem = guard.evaluate({**self._fixed, **values})
            if problem:
                self.failures[queue.name] += 1
            if takes:
                return queue.name
        return DEFAULT

    def explain(self, job: Asked) -> list[Verdict]:
        """Return the verdicts of the queues in their order, up to the one that takes the job."""
        found: list[Verdict] = []
        for queue, guard in self.routes:
            if queue.name == DEFAULT:
                continue
            reason = self._refusal(queue, guard, job)
            found.append(Verdict(queue.name, not reason, reason))
            if not reason:
                return found
        return [*found, Verdict(DEFAULT, True, "")]  # noqa: FBT003 (a verdict)

    def _refusal(self, queue: Queue, guard: Guard | None, job: Asked) -> str:
        if queue.state != "enabled":
            return f"it is {queue.state}"
        if name := self.request.refused_by(queue):
            return f"{name} may not use it"
        if guard is None:
            return "it has no guard: it takes only jobs that name it"
        values = {
            **_values(guard.reads, _OF_REQUEST, self.request),
            **_values(guard.reads, _OF_JOB, job),
        }
        takes, problem = guard.evaluate(values)
        if takes:
            return ""
        read = ", ".join(f"{'.'.join(path)} = {_shown(values, path)}" for path in guard.reads)
        if problem:
            return f"its guard fails: {problem}"
        return f"its guard is false: {read}" if read else "its guard is false"


def _base(path: Path) -> Path:
    """Return the attribute of a path, which may name a key of a map."""
    return path if path in BY_PATH else path[:-1]


def _values(
    paths: Any,  # noqa: ANN401 (an iterable of paths)
    readers: Mapping[Path, Callable[[Any], Any]],
    source: object,
) -> dict[Path, Any]:
    found: dict[Path, Any] = {}
    for path in paths:
        reader = readers.get(path)
        if reader is not None:
            found[path] = reader(source)
        elif (of_map := readers.get(path[:-1])) is not None and path[-1] in of_map(source):
            found[path] = of_map(source)[path[-1]]
    return found


def _hashable(value: object) -> object:
    return frozenset(value.items()) if isinstance(value, Mapping) else value


def _shown(values: Mapping[Path, Any], path: Path) -> str:
    if path not in values:
        return "missing"
    value = values[path]
    return repr(value)[:100] if not isinstance(value, Mapping) else f"{len(value)} entries"
