"""Shapes: what jobs ask of a worker, with defaults, and checked against the largest workers."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import repeat
from typing import Any, Final, NamedTuple, cast

import msgspec

from weft.core.billing.resources import parse_cpu_m, parse_mebibytes, parse_memory_mib
from weft.core.errors import (
    InvalidValue,
    NotEnoughLicences,
    NotOffered,
    NoWorkerFits,
    WeftError,
    WrongType,
)
from weft.core.problems import Problems, pointer_of
from weft.core.queues import DEFAULT, Queue, Router
from weft.core.scheduling.offers import (
    FOREIGN,
    MACHINE,
    POSTGRES,
    PREEMPTIBLE,
    RESERVED,
    TRANSPORT,
    Ask,
    serves,
)
from weft.core.scheduling.time_limits import ASK as TIME_LIMIT
from weft.core.scheduling.time_limits import ends_within, limit_class, longest_limit
from weft.ports.store import Row, Shape
from weft.submission.translation.places import (
    APP,
    CONTAINER,
    SIMULATION,
    USUAL,
    executor_field,
    executor_of,
    installed_executors,
    queues_of,
)
from weft.wire.documents.jobs import JobDocument

DEFAULT_CPU_M: Final = 1000
DEFAULT_MEMORY_MIB: Final = 512
OF_SIMULATION: Final = Shape(cpu_m=1, memory_mib=0)
"""A slot of a worker of simulations, and nothing of a host."""
_MISSING: Final = {
    APP: "; gateways to engines run no applications",
    SIMULATION: '; `weft worker` with `runner = "simulation"` does',
    CONTAINER: "; the setting `containers = true` lets a worker run them",
}
"""Why no worker may have an executor."""
GPU_MAX: Final = 1024
COUNT_MAX: Final = 1_000_000_000
"""Fits the database's integer."""
PLACES_MAX: Final = 1_000
"""A job takes at most this number of a licence."""
KNOWN_SHOWN: Final = 20
WORDS_MAX: Final = 20
NOT_ASKED: Final = RESERVED | {PREEMPTIBLE, MACHINE}
"""What a job does not ask for among its resources."""
ONLY_PREEMPTIBLE: Final = (
    "only machines that their owner may take back hold it; say `preemptible: true` if the job "
    "bears that"
)
ENDS: Final = "its workers run on machines that end: give the job a time limit (timeout_s)"
_AS_OFFERED: Final = ("queue", TIME_LIMIT)
"""A worker that does not offer it serves all."""
_NONE: Final[Mapping[str, int]] = {}
_SIZES: Final = ("cpu_m", "memory_mib")


class ShapeBook:
    """The distinct shapes of one request.

    `workers`: what each kind of worker has (`ApiStore.pool_offers`); none known: nothing is
    refused for its size. `licences`: how many there are of each; they are gates and no part of a
    shape.
    """

    def __init__(self, workers: Sequence[Row], licences: Mapping[str, int] = _NONE) -> None:
        self.shapes: list[Shape] = []
        self._workers = workers
        self._licences = licences
        self._licences_by_given: dict[int, Mapping[str, int]] = {}
        self._index_by_shape: dict[Shape, int] = {}
        usual = [worker for worker in workers if _runs(worker, USUAL)]
        largest = {name: max((w[name] for w in usual), default=None) for name in _SIZES}
        self._default = Shape(
            cpu_m=min(DEFAULT_CPU_M, largest["cpu_m"] or DEFAULT_CPU_M),
            memory_mib=min(DEFAULT_MEMORY_MIB, largest["memory_mib"] or DEFAULT_MEMORY_MIB),
        )

    def licences_of(self, jobs: Sequence[JobDocument]) -> Sequence[Mapping[str, int]]:
        """Return how many of each licence jobs ask for, after `index_of`; nothing if none does."""
        found = self._licences_by_given
        return [found.get(id(job.resources), _NONE) for job in jobs] if found else ()

    def index_of(
        self,
        jobs: Sequence[JobDocument],
        rare: Sequence[JobDocument],
        problems: Problems,
        router: Router | None = None,
    ) -> list[int]:
        """Return each job's shape index, or one for all alike. `rare`: see `DocumentContext`."""
        given = [job.resources for job in jobs]
        besides = (_executors(rare), self._words_of(rare), _limit_classes(jobs))
        words = zip(*besides, strict=False)
        if (
            router is None
            and given.count(given[0]) == len(given)
            and all(isinstance(column, repeat) for column in besides)
        ):
            # They all ask for the same.
            given = given[:1]
        keys = [(id(one), *more) for one, more in zip(given, words, strict=False)]
        distinct = dict(zip(keys, given, strict=True))
        asks = {key: self._asked(one, key) for key, one in distinct.items()}
        queues: Iterable[str] = repeat(DEFAULT)
        if router is not None:
            queues = queues_of(jobs, [asks[key].shape for key in keys], router, problems)
        routed = list(zip(keys, queues, strict=False))
        by_name = {route.queue.name: route.queue for route in router.routes} if router else {}
        wrong: dict[_Routed, Problems] = {}
        index_by_routed: dict[_Routed, int] = {}
        for one in dict.fromkeys(routed):
            wrong[one] = asks[one[0]].wrong.copy()
            index_by_routed[one] = self.add(
                self._placed(asks[one[0]], by_name.get(one[1]), wrong[one])
            )
        if any(found.found for found in wrong.values()):
            shared = routed if len(routed) == len(jobs) else repeat(routed[0], len(jobs))
            for job_index, one in enumerate(shared):
                for kind, error in wrong[one].found:
                    pointer = _place_of(jobs[job_index], kind, error.pointer)
                    problems.add(kind, pointer_of("jobs", job_index) + pointer, error.message)
        if len(index_by_routed) == 1:
            return [0]
        return [index_by_routed[one] for one in routed]

    def machines_for(self, shape: Shape) -> list[str]:
        """Return the flavours of which the pool of a shape makes machines for single jobs."""
        pool = dict(shape.words).get("pool", DEFAULT)
        workers = [one for one in self._workers if one["offers"].get("pool", DEFAULT) == pool]
        return sorted({name for one in workers for name in one["offers"].get(MACHINE, ())})

    def add(self, shape: Shape) -> int:
        """Return the index of a shape, a new one if it is not known."""
        index = self._index_by_shape.setdefault(shape, len(self.shapes))
        if index == len(self.shapes):
            self.shapes.append(shape)
        return index

    def _words_of(self, jobs: Sequence[JobDocument]) -> Iterable["_Named"]:
        """Return the words that fields of each job stand for: that it bears that its machine is
        taken back, if any is; the flavour of its own machine. For ever none if no job has one.
        """
        bears = any(PREEMPTIBLE in worker["offers"] for worker in self._workers)
        if not (bears and jobs) and not any(job.machine is not None for job in jobs):
            return repeat(())
        return [
            (
                *([(PREEMPTIBLE, "yes")] if bears and job.preemptible else []),
                *([(MACHINE, job.machine)] if job.machine is not None else []),
            )
            for job in jobs
        ]

    def _asked(self, given: object, key: "_Key") -> "_Asked":
        wrong = Problems()
        if given is None:
            given = {}
        if not isinstance(given, Mapping):
            wrong.add(WrongType, "", 'expected a mapping such as {"cpu": 1, "memory": "512Mi"}')
            return _Asked(self._default, {}, wrong)
        if licences := self._parsed_licences(given, wrong):
            self._licences_by_given[id(given)] = licences
        others = {name: one for name, one in given.items() if name not in licences}
        shape = self._parsed(others, key[1], wrong)
        for name, word in key[2]:
            shape = changed(shape, {name: word})
        if key[3] is not None:
            shape = changed(shape, {TIME_LIMIT: key[3]})
        return _Asked(shape, given, wrong)

    def _parsed_licences(self, given: Mapping[str, Any], wrong: Problems) -> Mapping[str, int]:
        """Return how many of each licence are asked for."""
        found, parse = {}, partial(_parse_count, most=PLACES_MAX)
        for name in given.keys() & self._licences.keys():
            found[name] = count = self._read(name, given[name], parse, wrong)
            if count > (most := self._licences[name]):
                there = (
                    f"there {'is' if most == 1 else 'are'} {most} in all"
                    if most
                    else "there is none"
                )
                wrong.add(NotEnoughLicences, pointer_of(name), f"asks for {count} {name}; {there}")
        return found

    def _placed(self, asked: "_Asked", queue: Queue | None, wrong: Problems) -> Shape:
        """Return the shape in its queue: in the first pool that has a worker for it."""
        if queue is None or queue.name == DEFAULT:
            return self._fitting(asked.shape, asked.given, wrong, (DEFAULT,))
        placed, fits = placed_in(asked.shape, queue, self._workers)
        if not fits:
            self._fitting(asked.shape, asked.given, wrong, queue.pools)
        return placed

    def _parsed(self, asked: Mapping[str, Any], executor: str, wrong: Problems) -> Shape:
        offered = {name: one for worker in self._workers for name, one in worker["offers"].items()}
        default = self._default if executor != SIMULATION else OF_SIMULATION
        found: dict[str, int] = {}
        amounts: list[tuple[str, int]] = []
        words: list[tuple[str, _Words]] = [] if executor == USUAL else [("executor", executor)]
        for name, value in asked.items():
            if name in _READERS:
                column, read = _READERS[name]
                found[column] = self._read(name, value, read, wrong)
            elif name in NOT_ASKED or name not in offered:
                pointer = pointer_of(str(name))
                known = _listed([*_READERS, *sorted(offered.keys() - NOT_ASKED - _READERS.keys())])
                wrong.add(NotOffered, pointer, f"no worker offers this; known: {known}")
            elif isinstance(offered[name], int):
                amounts.append((name, self._read(name, value, _parse_count, wrong)))
            else:
                words.append((name, _words_asked(name, value, wrong)))
        return Shape(
            cpu_m=found.get("cpu_m", default.cpu_m),
            memory_mib=found.get("memory_mib", default.memory_mib),
            storage_mib=found.get("storage_mib", 0),
            gpu=found.get("gpu", 0),
            countables=tuple(sorted((name, count) for name, count in amounts if count)),
            words=tuple(sorted(words)),
        )

    @staticmethod
    def _read(name: str, value: object, read: Callable[[Any], int], wrong: Problems) -> int:
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            wrong.add(WrongType, pointer_of(name), "expected a number or a string")
            return 0
        try:
            return read(value)
        except (ValueError, OverflowError) as error:
            wrong.add(InvalidValue, pointer_of(name), str(error)[:200])
            return 0

    def _fitting(
        self, shape: Shape, asked: Mapping[str, Any], wrong: Problems, pools: Sequence[str]
    ) -> Shape:
        """Note if no worker of these pools can ever hold it, with the largest that would fit."""
        workers = [one for one in self._workers if one["offers"].get("pool", DEFAULT) in pools]
        if (flavour := dict(shape.words).get(MACHINE)) is not None:
            kinds = [one["offers"][MACHINE] for one in workers if MACHINE in one["offers"]]
            workers = [one for one in workers if flavour in one["offers"].get(MACHINE, ())]
            if not workers:
                known = _words(kinds) or "none"
                message = f"its pool makes no machines {flavour!r}; known: {known}"
                wrong.add(NoWorkerFits, pointer_of(MACHINE), message)
        if wrong.found or not workers or any(_holds(worker, shape) for worker in workers):
            return shape
        executor = dict(shape.words).get("executor", USUAL)
        workers = [one for one in workers if _runs(one, executor)] or workers
        asks = _asks_of(shape)
        asks.pop(TIME_LIMIT, None)
        for field, value in asks.items():
            offers = [_offer_of(worker, field) for worker in workers]
            pointer = pointer_of(field) if field in {*asked, "executor"} else ""
            if not isinstance(value, int):
                if not any(serves({field: offer}, {field: value}) for offer in offers):
                    words = [value] if isinstance(value, str) else value
                    shown = " or ".join(repr(word[:64]) for word in words)
                    message = f"no worker offers {field} {shown}; known: {_words(offers)}"
                    if field == "executor" and isinstance(value, str):
                        message += _MISSING.get(value, "")
                    wrong.add(NoWorkerFits, pointer, message)
            elif value > (largest := max(offer for offer in offers if isinstance(offer, int))):
                shown, has = _shown(field, value), _shown(field, largest)
                wrong.add(NoWorkerFits, pointer, f"asks for {shown}; the largest worker has {has}")
        lives = [one["offers"].get(TIME_LIMIT) for one in workers]
        if not wrong.found and None not in lives and not any(_outlasts(w, shape) for w in workers):
            wrong.add(
                NoWorkerFits,
                pointer_of(TIME_LIMIT),
                f"{ENDS} of at most {longest_limit(max(lives))} s",
            )
        bearing = changed(shape, {PREEMPTIBLE: "yes"})
        if not wrong.found and any(_holds(worker, bearing) for worker in workers):
            wrong.add(NoWorkerFits, "", ONLY_PREEMPTIBLE)
        if not wrong.found:
            sizes = ", ".join(_shown(f, _offer_of(workers[0], f)) for f in _READERS)
            wrong.add(
                NoWorkerFits, "", f"no single worker has all of this; the largest has {sizes}"
            )
        return shape


def changed(shape: Shape, asked: Mapping[str, int | str | None]) -> Shape:
    """Return a shape with other sizes or words; None: without the word."""
    sizes = {name: value for name, value in asked.items() if name in Shape.__annotations__}
    words: dict[str, Any] = {**dict(shape.words), **asked}
    kept = ((name, word) for name, word in words.items() if name not in sizes and word is not None)
    replaced: Shape = msgspec.structs.replace(shape, **sizes, words=tuple(sorted(kept)))
    return replaced


def placed_in(shape: Shape, queue: Queue, workers: Sequence[Row]) -> tuple[Shape, bool]:
    """Return the shape in the first pool of a queue with a worker for it, and whether one has."""
    placed = [changed(shape, {"pool": pool, "queue": queue.name}) for pool in queue.pools]
    for one in placed:
        if queue.consumers == "foreign" or any(_holds(worker, one) for worker in workers):
            return _carried(one, queue), True
    return _carried(placed[0], queue), False


def _carried(shape: Shape, queue: Queue) -> Shape:
    """Return the shape of jobs that travel over the transport of a queue."""
    if queue.transport == POSTGRES:
        return shape
    shape = changed(shape, {TRANSPORT: queue.transport})
    return changed(shape, {FOREIGN: "yes"}) if queue.consumers == "foreign" else shape


class _Asked(NamedTuple):
    """What a job asks for, whatever its queue."""

    shape: Shape
    given: Mapping[str, Any]
    wrong: Problems


_Words = str | tuple[str, ...]
_Named = tuple[tuple[str, str], ...]
_Key = tuple[int, str, _Named, str | None]
"""The identity of the resources as given, executor, words that other fields stand for, the class
of the time limit.
"""
_Routed = tuple[_Key, str]
"""What tells shapes apart: besides, the name of the queue."""


def _words_asked(name: str, value: object, wrong: Problems) -> _Words:
    """Return a word, or several of which a worker must offer one."""
    if isinstance(value, str):
        return value
    if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
        wrong.add(WrongType, pointer_of(name), "expected text, or a list of texts")
    elif not 0 < len(value) <= WORDS_MAX:
        message = f"{len(value)} words, expected 1 to {WORDS_MAX}"
        wrong.add(InvalidValue, pointer_of(name), message)
    else:
        words = tuple(sorted(set(value)))
        return words if len(words) > 1 else words[0]
    return ""


def _place_of(job: JobDocument, kind: type[WeftError], pointer: str) -> str:
    """Return the place within a job of what is wrong with its demands: mostly in its resources."""
    if kind is NoWorkerFits and pointer == pointer_of("executor"):
        return pointer_of(executor_field(job))
    of_job = kind is NoWorkerFits and pointer in {pointer_of(MACHINE), pointer_of(TIME_LIMIT)}
    return pointer if of_job else pointer_of("resources") + pointer


def _executors(jobs: Sequence[JobDocument]) -> Iterable[str]:
    """Return the executor of each job, for ever the usual one if no job needs another."""
    if all(executor_of(job) == USUAL for job in jobs):
        return repeat(USUAL)
    known = installed_executors()
    # Names of others are told of already.
    return [executor if (executor := executor_of(job)) in known else USUAL for job in jobs]


def _limit_classes(jobs: Sequence[JobDocument]) -> Iterable[str | None]:
    """Return the class of the time limit of each job, for ever none if no job has one."""
    if not any(job.timeout_s is not None for job in jobs):
        return repeat(None)
    return [limit_class(job.timeout_s) for job in jobs]


def _parse_count(value: float | str, most: int = COUNT_MAX) -> int:
    if not isinstance(value, str) and value < 0:
        raise ValueError(f"an amount cannot be negative: {value!r}")
    if not isinstance(value, int) or value > COUNT_MAX:
        raise ValueError(f"{value!r} is not a whole number of 0 or more")
    if value > most:
        raise ValueError(f"{value!r} is above {most}")
    return value


_READERS: Final[Mapping[str, tuple[str, Callable[[Any], int]]]] = {
    "cpu": ("cpu_m", parse_cpu_m),
    "memory": ("memory_mib", parse_memory_mib),
    "storage": ("storage_mib", parse_mebibytes),
    "gpu": ("gpu", partial(_parse_count, most=GPU_MAX)),
}


def _asks_of(shape: Shape) -> dict[str, Ask]:
    """Return all that a job of this shape asks, by the names of its document."""
    plain = {field: getattr(shape, column) for field, (column, _) in _READERS.items()}
    return {**plain, "executor": USUAL, **dict(shape.countables), **dict(shape.words)}


def _offer_of(worker: Row, field: str) -> Any:  # noqa: ANN401 (an offer of core.offers)
    """Return what a worker has of this; 0: nothing."""
    if field in _READERS and (column := _READERS[field][0]) in _SIZES:
        return worker[column]
    if field == "executor":
        return worker["offers"].get(field, [USUAL])
    return worker["offers"].get("storage_mib" if field == "storage" else field, 0)


def _runs(worker: Row, executor: Ask) -> bool:
    return serves({"executor": _offer_of(worker, "executor")}, {"executor": executor})


def _words(offers: Iterable[object]) -> str:
    """Return all words among some offers."""
    found: set[str] = set()
    for offer in offers:
        if not isinstance(offer, int):
            found.update([offer] if isinstance(offer, str) else cast("Sequence[str]", offer))
    return _listed(sorted(found))


def _listed(names: Sequence[str]) -> str:
    """Return the first names of a list."""
    more = len(names) - KNOWN_SHOWN
    return ", ".join(names[:KNOWN_SHOWN]) + (f" and {more} more" if more > 0 else "")


def _holds(worker: Row, shape: Shape) -> bool:
    asks = _asks_of(shape)
    offers = {field: _offer_of(worker, field) for field in asks if field not in _AS_OFFERED}
    for name in (*_AS_OFFERED, PREEMPTIBLE, MACHINE):
        if name in worker["offers"]:
            offers[name] = worker["offers"][name]
    return serves(offers, asks)


def _outlasts(worker: Row, shape: Shape) -> bool:
    """Say whether a worker whose machine ends can take jobs with this time limit."""
    return ends_within(dict(shape.words).get(TIME_LIMIT), worker["offers"][TIME_LIMIT])


def _shown(field: str, value: int) -> str:
    if field == "cpu":
        return f"{value / 1000:g} cpu"
    if field not in {"memory", "storage"}:
        return f"{value} {field}"
    for unit in ("Mi", "Gi"):
        if value % 1024 or not value:
            return f"{value}{unit} {field}"
        value //= 1024
    return f"{value}Ti {field}"
