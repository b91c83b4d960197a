"""How jobs travel: in one request if they are few, else in bunches, several at a time."""

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import msgspec

from weft.client.http.blocking import asyncio, need_loop
from weft.client.http.calls import Document
from weft.client.http.session import new_key
from weft.client.routes import Routes
from weft.client.submission.spool import parts_of, size_of
from weft.core.errors import FieldError, QuotaExceeded, Unavailable, WeftError

BUNCH_JOBS_MIN = 100
BUNCH_JOBS_MAX = 10_000
BUNCH_BYTES = 1 << 20
"""Size at which a bunch is sent, if it has `BUNCH_JOBS_MIN` jobs."""
BUNCH_BYTES_MAX = 8 << 20
"""Half of what the server takes, so that the rest of the request has room."""
PART_JOBS = 100_000
"""Jobs of one bunch, those of arrays counted one by one: a fraction of a second for the database.
While it adds them, events wait for it (a reader sees what is older than every open writer).
"""
PART_EDGES = 500_000
"""Pairs of a job and its parent in one bunch with arrays."""
PARALLEL = 6

Job = Mapping[str, Any] | msgspec.Struct | msgspec.Raw


class Bunch(NamedTuple):
    """What one request brings."""

    first: int
    """Number of its first job in the update (from 1)."""
    jobs: list[msgspec.Raw]
    """Encoded documents. An array counts as one here."""
    n_jobs: int
    """How many jobs they are."""
    origins: list[int]
    """Which of the given documents each of them is, or is a part of (from 0)."""


def cut_bunches(
    jobs: Iterable[Job],
    *,
    jobs_min: int = BUNCH_JOBS_MIN,
    jobs_max: int = BUNCH_JOBS_MAX,
    bytes_aim: int = BUNCH_BYTES,
    bytes_max: int = BUNCH_BYTES_MAX,
    part_max: int = PART_JOBS,
) -> Iterator[Bunch]:
    """Yield consecutive bunches: of `jobs_min` to `jobs_max` documents and about `bytes_aim`
    bytes.

    `bytes_max` goes before `jobs_min`; one job that is larger than a bunch stands alone. An array
    of more than `part_max` jobs is cut into parts that continue its indices.
    """
    first, bodies, origins = 1, list[msgspec.Raw](), list[int]()
    n_jobs, n_bytes, n_edges = 0, 0, 0
    for origin, body, more_jobs, more_edges in _parts(jobs, part_max):
        n_bytes += len(body)
        if bodies and (
            (len(bodies) >= jobs_min and n_bytes > bytes_aim)
            or len(bodies) >= jobs_max
            or n_bytes > bytes_max
            or n_jobs + more_jobs > part_max
            or n_edges + more_edges > PART_EDGES
        ):
            yield Bunch(first, bodies, n_jobs, origins)
            first, bodies, origins = first + n_jobs, [], []
            n_jobs, n_bytes, n_edges = 0, len(body), 0
        bodies.append(body)
        origins.append(origin)
        n_jobs += more_jobs
        n_edges += more_edges
    if bodies:
        yield Bunch(first, bodies, n_jobs, origins)


def _parts(jobs: Iterable[Job], part_max: int) -> Iterator[tuple[int, msgspec.Raw, int, int]]:
    """Yield each document, or each part of an array: its origin, its encoded form, the number of
    its jobs, and the number of pairs of a job and its parent; ordinary jobs have none of these.
    """
    encode = msgspec.msgpack.Encoder().encode
    for origin, job in enumerate(jobs):
        if isinstance(job, msgspec.Raw):
            yield origin, job, 1, 0
        elif isinstance(job, msgspec.Struct) or not isinstance(size_of(job), int):
            yield origin, msgspec.Raw(encode(job)), 1, 0
        else:
            n_parents = sum(map(_count_of, job.get("parents") or ()))
            most = max(1, min(part_max, PART_EDGES // max(1, n_parents)))
            for part, n_jobs in parts_of(job, most):
                yield origin, msgspec.Raw(encode(part)), n_jobs, n_jobs * n_parents


def _count_of(parent: object) -> int:
    """Return for how many jobs a parent stands: `[first, last]` is a range."""
    if isinstance(parent, dict):
        return _count_of(parent["of"])
    if isinstance(parent, list | tuple):
        first, last = map(int, parent)
        return max(1, last - first + 1)
    return 1


async def send_bunches(
    bunches: Iterator[Bunch],
    send: Callable[[Bunch], Awaitable[object]],
    *,
    parallel: int = PARALLEL,
    on_sent: Callable[[int], None] | None = None,
) -> None:
    """Send each bunch, `parallel` requests at a time. `on_sent` is told how many jobs each held.

    At most `parallel` bunches exist at once, so an endless iterator needs no memory. The first
    error ends all and is raised.
    """

    async def work() -> None:
        # All workers draw from one iterator: nobody awaits inside it, so no two get the same
        # bunch.
        for bunch in bunches:
            await send(bunch)
            if on_sent is not None:
                on_sent(bunch.n_jobs)

    await need_loop()
    from weft.ports.patience import run_beside  # noqa: PLC0415 (it needs asyncio)

    await run_beside(*(work() for _ in range(parallel)))


@dataclass
class Upload:
    """One update on its way to a batch.

    `run` may be called again after it failed, and resumes: the numbers are reserved
    once, by a key of their own, and a bunch that arrived without our knowing is not taken twice.
    """

    n_jobs: int
    """Those of arrays counted one by one."""
    jobs: Callable[[], Iterable[Job]]
    """Yields the jobs, numbers instead of names; it may be called again and yields the same."""
    groups: Sequence[Mapping[str, Any]] = ()
    inherit_env: Mapping[str, str] | None = None
    positions: Sequence[int] | None = None
    """Where each job stood in the user's document (from 0), for messages; None: the same order."""
    ahead: Mapping[str, bytes] = field(default_factory=dict)
    """What the jobs need at the server before they are sent, by digest."""
    _key: str = field(default_factory=new_key)
    _sent: set[int] = field(default_factory=set)
    """First jobs of the bunches that are there."""

    async def run(
        self, api: Routes, batch_id: int, *, on_sent: Callable[[int], None] | None = None
    ) -> Mapping[str, Any]:
        """Reserve, fill and commit; return the document of the update."""
        for digest, body in self.ahead.items():
            await api.send_payload(batch_id, digest, body)
        update = await api.reserve_update(
            batch_id, n_jobs=self.n_jobs, n_groups=len(self.groups), key=self._key
        )
        if update["committed"]:  # by an earlier run, whose answer was lost
            return update
        update_id = int(update["update_id"])
        for start in range(0, len(self.groups), BUNCH_JOBS_MAX):
            groups = self.groups[start : start + BUNCH_JOBS_MAX]
            await api.add_groups(batch_id, update_id, start + 1, groups)

        async def send(bunch: Bunch) -> None:
            if bunch.first not in self._sent:
                await self._send(api, batch_id, update_id, bunch)

        await send_bunches(cut_bunches(self.jobs()), send, on_sent=on_sent)
        return await api.commit_update(batch_id, update_id)

    async def _send(self, api: Routes, batch_id: int, update_id: int, bunch: Bunch) -> None:
        first, env = bunch.first, self.inherit_env
        try:
            await api.add_jobs(batch_id, update_id, first, bunch.jobs, inherit_env=env)
        except WeftError as error:
            error.errors = tuple(self._moved(one, bunch) for one in error.errors)
            raise
        self._sent.add(first)

    def _moved(self, error: FieldError, bunch: Bunch) -> FieldError:
        """Return the error with the position in the whole document instead of in the bunch."""
        parts = error.pointer.split("/")
        if len(parts) < 3 or parts[1] != "jobs" or not parts[2].isdecimal():  # noqa: PLR2004 (/jobs/N)
            return error
        origin = bunch.origins[int(parts[2])]
        parts[2] = str(origin if self.positions is None else self.positions[origin])
        return FieldError("/".join(parts), error.message)


ONE_REQUEST_JOBS: Final = 2_000
"""Documents of jobs, and of groups, in one request."""
ONE_REQUEST_BYTES: Final = 4 << 20


class Filled(NamedTuple):
    """A batch whose update was sent in bunches and committed."""

    batch_id: int
    batch: Document
    """What the server answered when the batch was created; empty if it existed."""
    update: Document


def fits_one_request(
    *, n_documents: int, n_jobs: int, n_groups: int, n_bytes: Callable[[], int]
) -> bool:
    """Say whether one request is enough. `n_jobs` counts the jobs of arrays one by one."""
    return (
        n_documents <= ONE_REQUEST_JOBS
        and n_jobs <= PART_JOBS
        and n_groups <= ONE_REQUEST_JOBS
        and n_bytes() <= ONE_REQUEST_BYTES
    )


def is_small(document: Document) -> bool:
    """Say whether a document goes into one request.

    A malformed one does, so that the server says what is wrong with it.
    """
    jobs, groups = document.get("jobs"), document.get("groups") or []
    if not isinstance(jobs, list) or not all(isinstance(job, dict) for job in jobs):
        return True
    counts = [size for job in jobs if (size := size_of(job)) is not None]
    if not isinstance(groups, list) or not all(isinstance(n, int) and n > 0 for n in counts):
        return True
    return fits_one_request(
        n_documents=len(jobs),
        n_jobs=sum(counts),
        n_groups=len(groups),
        n_bytes=lambda: len(msgspec.msgpack.encode(document)),
    )


async def fill_in_bunches(
    api: Routes,
    plan: Callable[[int], Awaitable[Upload]],
    *,
    batch: Document,
    batch_id: int | None = None,
    key: str | None = None,
    may_resume: bool = False,
    on_sent: Callable[[int], None] | None = None,
) -> Filled:
    """Send the upload that `plan` returns for the batch, and commit it.

    `batch_id` None: the batch is created first, idempotently if `key` is given. If the server
    refuses a bunch, a new batch is cancelled; if the server is away, only where the caller cannot
    resume. It is deleted if a quota refuses it, because what was sent would count as stored, and
    if the caller is interrupted and cannot resume.
    """
    created: Document = {}
    number = batch_id
    if number is None:
        created = await api.create_batch(batch, key=key)
        number = int(created["id"])
        if created.get("skipped"):
            return Filled(number, created, created)
    try:
        upload = await plan(number)
        update = await upload.run(api, number, on_sent=on_sent)
    except WeftError as error:
        is_resumable = may_resume and isinstance(error, Unavailable)
        if batch_id is None and isinstance(error, QuotaExceeded):
            await api.delete_batch(number)
        elif batch_id is None and not is_resumable:
            await api.cancel_batch(number, force=True)
        raise
    except asyncio.CancelledError:  # somebody pressed Ctrl-C
        if batch_id is None and not may_resume:
            await api.delete_batch(number)
        raise
    return Filled(number, created, update)
