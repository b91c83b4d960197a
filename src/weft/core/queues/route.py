"""Which queue takes a job: the first one in the order of priority whose guard is true."""

from collections import ChainMap, Counter
from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence
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
    ("user",): lambda request: request.user,
    ("batch", "name"): lambda request: request.batch_name or "",
    ("batch", "billing_project"): lambda request: request.billing_project,
    ("batch", "attributes"): lambda request: request.batch_attributes,
    ("now", "hour"): lambda request: request.now.hour,
    ("now", "weekday"): lambda request: request.now.isoweekday(),
    ("now", "date"): lambda request: request.now.date().isoformat(),
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


Key = tuple[object, ...]
"""What tells jobs apart for guards."""
CHOICES_KEPT: Final = 4096
"""Of one question."""
Guards = Sequence[tuple[str, Guard]]
"""With the names of their queues, in the order of priority."""


class Chosen(NamedTuple):
    """The first queue whose guard is true, else the default one."""

    queue: str
    n_evaluated: int
    failures: Sequence[str]
    """The queues before it whose guards could not be evaluated."""


def first_of(guards: Guards, values: Mapping[Path, Any]) -> Chosen:
    """Return the queue of jobs with these values (`Evaluates.each`)."""
    return chosen_of((queue, guard.evaluate(values)) for queue, guard in guards)


def chosen_of(verdicts: Iterable[tuple[str, tuple[bool, str | None]]]) -> Chosen:
    """Return the first queue whose guard is true, from what each says in turn."""
    failures, n = [], 0
    for queue, (takes, problem) in verdicts:
        n += 1
        if problem:
            failures.append(queue)
        if takes:
            return Chosen(queue, n, failures)
    return Chosen(DEFAULT, n, failures)


def takes_of_each(_: None, asked: tuple[Guard, Mapping[Path, Any]]) -> tuple[bool, str | None]:
    """Return what one guard says of jobs with these values (`Evaluates.each`)."""
    guard, values = asked
    return guard.evaluate(values)


class Unrouted(Exception):
    """Guards have to be evaluated first, which is done elsewhere."""


@dataclass
class Router:
    """Finds the queues of jobs of one request; those that no guard tells apart only once."""

    routes: Sequence[Route]
    """In the order of priority, the highest first."""
    request: Request

    def __post_init__(self) -> None:
        self._open = [
            (route.queue.name, route.guard)
            for route in self.routes
            if route.guard
            and route.queue.state == "enabled"
            and not self.request.refused_by(route.queue)
        ]
        reads = {path for _, guard in self._open for path in guard.reads}
        self._of_job = sorted(path for path in reads if _base(path) in _OF_JOB)
        self._fixed = _values(
            (path for path in reads if _base(path) in _OF_REQUEST), _OF_REQUEST, self.request
        )
        self._found: MutableMapping[Key, str] = {}
        self.n_evaluated = 0
        self.failures: Counter[str] = Counter()
        """How often the guard of a queue could not be evaluated."""

    def queue_of(self, job: Asked) -> str:
        """Return the name of the queue that takes a job that names none."""
        if not self._open:
            return DEFAULT
        values = _values(self._of_job, _OF_JOB, job)
        key = tuple(_hashable(values.get(path)) for path in self._of_job)
        return self._found[key] if key in self._found else self._new(key, values)

    def _new(self, key: Key, values: Mapping[Path, Any]) -> str:
        first = first_of(self._open, {**self._fixed, **values})
        return self._learn(key, first)

    def _learn(self, key: Key, found: Chosen) -> str:
        self.n_evaluated += found.n_evaluated
        self.failures.update(found.failures)
        self._found[key] = found.queue
        return found.queue

    def check_all_known(self) -> None:
        """Raise `Unrouted` if a queue that was returned is not known."""

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


class AskingRouter(Router):
    """A router that evaluates nothing: who asks learns what to ask elsewhere, and asks again."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._unknown: dict[Key, Mapping[Path, Any]] = {}
        self._memory: dict[Key, str] = {}

    @property
    def question(self) -> object:
        """Return what routers have in common that choose the same queues."""
        fixed = tuple((path, _hashable(one)) for path, one in sorted(self._fixed.items()))
        return tuple((queue, guard.text) for queue, guard in self._open), fixed

    def recall(self, memory: dict[Key, str]) -> None:
        """Know what was chosen before, and keep there what is learned."""
        self._memory = memory
        self._found = ChainMap({}, memory)

    def _new(self, key: Key, values: Mapping[Path, Any]) -> str:
        self._unknown[key] = values
        return DEFAULT

    def check_all_known(self) -> None:
        if self._unknown:
            raise Unrouted

    @property
    def guards(self) -> Guards:
        """Return what is to be evaluated, for `first_of`."""
        return self._open

    def unknown(self) -> Sequence[Mapping[Path, Any]]:
        """Return of what, for `first_of`, in the order in which it is learned."""
        return [{**self._fixed, **one} for one in self._unknown.values()]

    def learn(self, answers: Sequence[Chosen]) -> None:
        """Know the answers about all that was unknown."""
        for key, found in zip(self._unknown, answers, strict=True):
            self._learn(key, found)
            if not found.failures and len(self._memory) < CHOICES_KEPT:  # failures are counted
                self._memory[key] = found.queue
        self._unknown.clear()


def verdicts_of(router: Router, job: Asked) -> list[Verdict]:
    """Return what `Router.explain` says (`Evaluates.each`)."""
    return router.explain(job)


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
