"""The time axis of a batch: in which phase its jobs were, and where attempts ran."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import groupby
from typing import Annotated, Final, NamedTuple

from msgspec import Meta, Struct

from weft.core.states import JobState

PHASES: Final = ("waiting", "staging", "starting", "running", "storing", "blocked")
BUCKETS: Final = 120
ATTEMPTS_SHOWN: Final = 400
WORKERS_SHOWN: Final = 40
_MS: Final = timedelta(milliseconds=1)
Milliseconds = Annotated[int, Meta(ge=0, description="milliseconds")]


class PhaseTimes(Struct, frozen=True, kw_only=True):
    """The times of jobs, added up."""

    waiting_ms: Milliseconds = 0
    staging_ms: Milliseconds = 0
    starting_ms: Milliseconds = 0
    running_ms: Milliseconds = 0
    storing_ms: Milliseconds = 0
    blocked_ms: Milliseconds = 0


class TimelineBucket(Struct, frozen=True, kw_only=True):
    """How many jobs were in each phase during a stretch of time, on average."""

    at: Annotated[datetime, Meta(description="its begin")]
    waiting: Annotated[float, Meta(ge=0)]
    staging: Annotated[float, Meta(ge=0)]
    starting: Annotated[float, Meta(ge=0)]
    running: Annotated[float, Meta(ge=0)]
    storing: Annotated[float, Meta(ge=0)]
    blocked: Annotated[float, Meta(ge=0)]


class AttemptBar(Struct, frozen=True, kw_only=True):
    """One attempt on a worker."""

    job_id: int
    attempt: int
    lane: Annotated[int, Meta(ge=0, description="no two attempts of a lane ran at the same time")]
    claimed_at: datetime
    started_at: datetime | None
    ended_at: Annotated[datetime | None, Meta(description="null: it runs")]
    state: Annotated[str, Meta(description="of the job after it")]


class WorkerLine(Struct, frozen=True, kw_only=True):
    """What a worker ran of the batch."""

    worker: str
    n_attempts: Annotated[int, Meta(ge=0, description="that were read")]
    running: Annotated[
        list[float], Meta(description="how many attempts ran on average, for each bucket")
    ]
    attempts: Annotated[
        list[AttemptBar] | None, Meta(description="null: there are too many to show each")
    ]


class Timeline(Struct, frozen=True, kw_only=True):
    """The time axis of a batch."""

    batch_id: int
    begun_at: datetime
    ended_at: Annotated[datetime, Meta(description="its last end; while it runs, now")]
    bucket_ms: Annotated[int, Meta(ge=1)]
    n_jobs: Annotated[int, Meta(ge=0)]
    n_sampled: Annotated[
        int,
        Meta(
            ge=0,
            description="jobs that were read, spread evenly over their numbers; if fewer than "
            "`n_jobs`, counts and times are estimates",
        ),
    ]
    times: PhaseTimes
    buckets: list[TimelineBucket]
    n_workers: Annotated[int, Meta(ge=0, description="also those that are not listed")]
    workers: Annotated[list[WorkerLine], Meta(description="those that ran longest, by name")]


class AttemptDates(Struct, frozen=True, kw_only=True):
    """Dates of a job with one of its attempts; a job without attempts has none of these."""

    job_id: int
    state: JobState
    ready_at: datetime | None
    cancelled_at: datetime | None
    attempt: int | None
    worker: str | None
    end_state: JobState | None
    claimed_at: datetime | None
    started_at: datetime | None
    ended_at: datetime | None
    released_at: datetime | None
    now_at: datetime


class Span(NamedTuple):
    """Some time of a job in a phase."""

    phase: str
    begun_at: datetime
    ended_at: datetime


def build_timeline(
    batch_id: int, n_jobs: int, created_at: datetime, rows: Sequence[AttemptDates]
) -> Timeline:
    """Return the time axis. `rows`: dates of jobs with their attempts, in order."""
    by_phase: dict[str, list[tuple[datetime, datetime]]] = {phase: [] for phase in PHASES}
    n_sampled = 0
    for _, dateses in groupby(rows, key=lambda dates: dates.job_id):
        n_sampled += 1
        for phase, begin, end in spans_of(tuple(dateses)):
            if begin <= end:
                by_phase[phase].append((begin, end))
    spans = [one for found in by_phase.values() for one in found]
    factor = n_jobs / n_sampled if n_jobs > n_sampled > 0 else 1.0
    begun_at = min((begin for begin, _ in spans), default=created_at)
    ended_at = max((end for _, end in spans), default=begun_at)
    bucket = max(-((begun_at - ended_at) // BUCKETS), _MS)
    n_buckets = max(-((begun_at - ended_at) // bucket), 1)
    axis = _Axis(begun_at, bucket, n_buckets)
    means = {phase: axis.means(found) for phase, found in by_phase.items()}
    times = {
        f"{phase}_ms": sum((end - begin for begin, end in found), timedelta())
        for phase, found in by_phase.items()
    }
    lines = _worker_lines(rows, axis, factor)
    return Timeline(
        batch_id=batch_id,
        begun_at=begun_at,
        ended_at=ended_at,
        bucket_ms=max(bucket // _MS, 1),
        n_jobs=n_jobs,
        n_sampled=n_sampled,
        times=PhaseTimes(**{name: round(time * factor / _MS) for name, time in times.items()}),
        buckets=[
            TimelineBucket(
                at=begun_at + i * bucket,
                **{phase: round(means[phase][i] * factor, 3) for phase in PHASES},
            )
            for i in range(n_buckets)
        ],
        n_workers=len(lines),
        workers=sorted(
            sorted(lines, key=lambda line: -sum(line.running))[:WORKERS_SHOWN],
            key=lambda line: line.worker,
        ),
    )


def spans_of(rows: Sequence[AttemptDates]) -> Iterator[Span]:
    """Yield what a job did when: it waited until it was claimed, started, ran, was blocked. Time
    between an end and a retry by a person belongs to no phase.
    """
    job = rows[0]
    free_at = job.ready_at
    for row in rows:
        if row.claimed_at is None:
            break
        if free_at is not None:
            yield Span("waiting", free_at, row.claimed_at)
        end = row.ended_at or row.now_at
        if row.started_at is None:
            # A lease that came to nothing is waiting, too.
            yield Span("waiting", row.claimed_at, end)
        else:
            yield Span("starting", row.claimed_at, row.started_at)
            yield Span("running", row.started_at, end)
        free_at = end if row.end_state == JobState.READY else None
        if row.end_state == JobState.BLOCKED:
            free_at = row.released_at
            yield Span("blocked", end, free_at or job.cancelled_at or job.now_at)
        elif row.end_state is not None and job.ready_at is not None and job.ready_at > end:
            free_at = job.ready_at
    if free_at is not None and job.state < JobState.SUCCESS and job.state in _WAITING:
        yield Span("waiting", free_at, job.now_at)
    elif free_at is not None and job.state.is_terminal and job.cancelled_at is not None:
        yield Span("waiting", free_at, job.cancelled_at)


_WAITING: Final = (JobState.READY, JobState.QUEUED, JobState.CREATING)


class _Axis:
    """Stretches of time of the same length."""

    def __init__(self, begun_at: datetime, bucket: timedelta, n_buckets: int) -> None:
        self._begun_at, self._bucket, self._n = begun_at, bucket, n_buckets

    def _place(self, at: datetime) -> float:
        return min(max((at - self._begun_at) / self._bucket, 0.0), self._n)

    def means(self, spans: Iterable[tuple[datetime, datetime]]) -> list[float]:
        """Return for each stretch how many of these spans cover it, on average."""
        # What a span covers whole is added as a difference, so that its length costs nothing.
        part, whole = [0.0] * (self._n + 1), [0] * (self._n + 1)
        # Jobs of one submission wait since one moment, and all that wait do so until now.
        for (begun_at, ended_at), count in Counter(spans).items():
            first = self._place(begun_at)
            last = max(self._place(ended_at), first)
            i, k = int(first), int(last)
            if i == k:
                part[i] += (last - first) * count
            else:
                part[i] += (i + 1 - first) * count
                part[k] += (last - k) * count
                whole[i + 1] += count
                whole[k] -= count
        found, covered = [], 0
        for i in range(self._n):
            covered += whole[i]
            found.append(part[i] + covered)
        return found


def _worker_lines(rows: Sequence[AttemptDates], axis: _Axis, factor: float) -> list[WorkerLine]:
    by_worker: Mapping[str, list[AttemptDates]] = defaultdict(list)
    for one in rows:
        if one.worker is not None and one.claimed_at is not None:
            by_worker[one.worker].append(one)
    shows_each = factor == 1.0 and sum(map(len, by_worker.values())) <= ATTEMPTS_SHOWN
    return [
        WorkerLine(
            worker=worker,
            n_attempts=len(found),
            running=[
                round(mean * factor, 3)
                for mean in axis.means(
                    (one.started_at, one.ended_at or one.now_at) for one in found if one.started_at
                )
            ],
            attempts=_bars(found) if shows_each else None,
        )
        for worker, found in by_worker.items()
    ]


def _bars(dateses: Sequence[AttemptDates]) -> list[AttemptBar]:
    """Give each attempt the first lane that is free."""
    bars: list[AttemptBar] = []
    free_at: list[datetime] = []
    claimed = ((dates, dates.claimed_at) for dates in dateses if dates.claimed_at is not None)
    for dates, claimed_at in sorted(claimed, key=lambda pair: (pair[1], pair[0].job_id)):
        lane = next((i for i, at in enumerate(free_at) if at <= claimed_at), len(free_at))
        end = dates.ended_at or dates.now_at
        free_at[lane : lane + 1] = [end]
        bars.append(
            AttemptBar(
                job_id=dates.job_id,
                attempt=dates.attempt or 0,
                lane=lane,
                claimed_at=claimed_at,
                started_at=dates.started_at,
                ended_at=dates.ended_at,
                state=(dates.end_state or JobState.RUNNING).word,
            )
        )
    return bars
