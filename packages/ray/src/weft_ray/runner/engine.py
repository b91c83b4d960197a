"""Ray as an engine: an attempt is a job of Ray, whose id is the attempt's name."""

import asyncio
import time
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

import msgspec

from weft.core.ends.conditions import FILE_BYTES_MAX, Blocked
from weft.core.errors import Unavailable, WeftError
from weft.core.states import Command
from weft.plugins.runners.remote import Left, Status
from weft.plugins.runners.remote.calls import LongText
from weft.plugins.runners.remote.handles import ASK, PRODUCTS
from weft.plugins.runners.remote.outputs import grown_of, live_bytes, pieces_of, room_of
from weft.ports.executor import ExecutorLimits
from weft.ports.log_store import Stored, StoredStream
from weft.ports.runner import Assignment
from weft.telemetry.log import log
from weft.wire.log_format import STDERR, STDOUT, Piece
from weft_ray.runner.client import NoNode, RayClient, RayJob, RayRefused
from weft_ray.runner.jobs import (
    ATTEMPT,
    BEGAN,
    ERR,
    GIVEN,
    OUT,
    RUN,
    STATE,
    Node,
    Seen,
    folder_of,
    job_of,
    resources_of,
    status_of,
    withdrawn_of,
)
from weft_ray.settings import RaySettings

_STREAMS: Final = ((STDOUT, OUT), (STDERR, ERR))
_SHARE: Final = 4
"""The gateway waits this many times longer than its last look took."""
_LATE_S: Final = 5.0
"""For which a name is kept that was given more than once: the first request may still come."""
_HELD_S: Final = 60.0
"""For which a name is kept of an attempt that is not wanted."""
_MONITOR_S: Final = 2.5
"""For which Ray may still write what it knows of a job that has ended."""
_GONE: Final = "Ray does not know it any more"
_MARK_MAX: Final = 64


class RayEngine:
    """Ray, as the port of remote runners wants it."""

    meets: frozenset[str] = frozenset()
    followed_max = 20

    def __init__(
        self, client: RayClient, settings: RaySettings, limits: ExecutorLimits, *, tag: str
    ) -> None:
        self._client = client
        self._settings = settings
        self._limits = limits
        self._prefix = f"weft-{tag}-"
        self._resources = resources_of(settings)
        self._avoided: tuple[str, ...] = ()
        self._jobs: dict[str, RayJob] = {}
        """The job of each attempt, as it was at the last look."""
        self._began: dict[str, float] = {}
        """When the program of each attempt was begun."""
        self._unanswered: set[str] = set()
        """Attempts of which a request to run them was not answered."""
        self._late_until: dict[str, float] = {}
        self._gone_since: dict[str, float] = {}
        self._no_output_since: dict[str, float] = {}
        self._looked_at = 0.0
        self._took_s = 0.0

    async def submit(
        self, assignments: Mapping[str, Assignment]
    ) -> Mapping[str, WeftError | Blocked]:
        """Give Ray each attempt, several at a time; it has no call for many."""
        refused: dict[str, WeftError | Blocked] = {}
        jobs = {}
        for name, assignment in assignments.items():
            try:
                jobs[name] = job_of(
                    self._number(name),
                    assignment,
                    self._limits,
                    resources=self._resources,
                    avoided=self._avoided,
                )
            except WeftError as error:
                refused[name] = error
        answers = await asyncio.gather(
            *(self._give(name, job) for name, job in jobs.items()), return_exceptions=True
        )
        for name, answer in zip(jobs, answers, strict=True):
            if isinstance(answer, RayRefused):
                refused[name] = answer
            elif isinstance(answer, BaseException):
                raise answer
        return refused

    async def _give(self, name: str, job: Mapping[str, Any]) -> None:
        is_late = name in self._unanswered
        self._unanswered.add(name)
        if not await self._client.submit(job):
            found = await self._client.job(self._number(name))
            if found is None or _is_withdrawn(found):
                # The name was kept from a late request; now the attempt is wanted again.
                await self._client.delete(self._number(name))
                if not await self._client.submit(job):
                    raise Unavailable(f"{self._number(name)} is not free yet", hint="It will be.")
        self._unanswered.discard(name)
        if is_late:
            self._late_until[name] = time.monotonic() + _LATE_S

    def avoid(self, nodes: Collection[str]) -> None:
        self._avoided = tuple(sorted(nodes))

    async def settle(self, names: Sequence[str]) -> None:
        """Take these names, if they are still free, with jobs that do nothing: whoever comes late
        does not get them then.
        """
        await asyncio.gather(
            *(self._client.submit(withdrawn_of(self._number(name), name)) for name in names)
        )
        self._unanswered.difference_update(names)

    async def statuses(self, names: Sequence[str]) -> Mapping[str, Status]:
        """Ask for all jobs at once, and nodes for what has begun."""
        begun = time.monotonic()
        found = await self._read_jobs()
        found |= self._vanished(names, found)
        self._jobs = {name: found[name] for name in names if name in found}
        nodes = await asyncio.gather(*map(self._look, self._jobs))
        now = time.time()
        statuses = {}
        for (name, job), node in zip(self._jobs.items(), nodes, strict=True):
            seen = Seen(job, node, self._began.get(name))
            statuses[name] = status_of(seen, now, node_s=self._settings.ray_node_s)
        self._looked_at = time.monotonic()
        self._took_s = self._looked_at - begun
        return statuses

    def _vanished(self, names: Sequence[str], found: Mapping[str, RayJob]) -> dict[str, RayJob]:
        """Return what ran at the last look and is not there any more: a head that was started anew
        may have forgotten it, while its node still runs it for a time.
        """
        now, kept = time.monotonic(), {}
        for name in names:
            job = self._jobs.get(name)
            if name in found or job is None or job.is_over or job.driver_node_id is None:
                self._gone_since.pop(name, None)
            elif now - self._gone_since.setdefault(name, now) < self._settings.ray_node_s:
                kept[name] = msgspec.structs.replace(job, message=_GONE)
        return kept

    async def _look(self, name: str) -> Node:
        """Ask the node of an attempt when it was begun, unless that is known; say how it is."""
        job = self._jobs[name]
        if job.driver_node_id is None or (name in self._began and not job.is_over):
            return Node.ANSWERS
        if name in self._began and job.driver_exit_code is not None:
            return Node.ANSWERS  # its output says if it is gone since
        try:
            text = await self._read(name, BEGAN, bytes_max=_MARK_MAX, head_bytes=_MARK_MAX)
            if text is not None:
                self._began.setdefault(name, float(text.head))
        except NoNode:
            return Node.GONE
        except (Unavailable, ValueError):
            return Node.SILENT
        return Node.ANSWERS

    async def stop(self, names: Sequence[str], *, grace_ms: int) -> None:  # noqa: ARG002 (Ray has one for the cluster)
        await asyncio.gather(*map(self._stop, names))

    async def _stop(self, name: str) -> None:
        number = self._number(name)
        if await self._client.stop(number):
            return
        job = await self._client.job(number)
        if job is not None and not job.is_over:
            raise Unavailable(f"Ray cannot stop {number} yet", hint="It is asked again.")

    async def tell(self, one: Assignment, command: Command) -> str:  # noqa: ARG002 (it never can)
        """Say that there is no way."""
        if command.signal is None:
            return "the node keeps the time limit of a job in Ray, and it does not move"
        return "Ray sends no signals to its jobs"

    async def grown(self, stored: Mapping[str, Stored]) -> Mapping[str, Sequence[Piece]]:
        """Ask the nodes for what is new."""
        return await grown_of(stored, self._grown, (WeftError, NoNode))

    async def _grown(self, name: str, stored: Stored) -> list[Piece]:
        pieces: list[Piece] = []
        for stream, file in _STREAMS:
            has = stored.of(stream)
            if more := live_bytes(has, self._limits):
                text = await self._read(
                    name, file, has=has, bytes_max=more, head_bytes=more, is_live=True
                )
                pieces += pieces_of(stream, b"" if text is None else text.head)
        return pieces

    async def output(self, name: str, stored: Stored) -> Sequence[Piece]:
        """Return the rest of what the job wrote: the beginning and the end of what is too long."""
        pieces: list[Piece] = []
        try:
            for stream, file in _STREAMS:
                has = stored.of(stream)
                bytes_max, head_bytes = room_of(has, self._limits)
                text = await self._read(
                    name, file, has=has, bytes_max=bytes_max, head_bytes=head_bytes
                )
                pieces += pieces_of(stream, *(text or LongText(b"")))
        except (NoNode, Unavailable) as error:
            since = self._no_output_since.setdefault(name, time.monotonic())
            is_new = time.monotonic() - since < self._settings.ray_node_s
            if isinstance(error, Unavailable) and is_new:
                raise
            log.warning("worker.output_lost", attempt=name, why=str(error) or "no such node")
            return []
        return pieces

    async def _read(
        self,
        name: str,
        file: str,
        *,
        bytes_max: int,
        head_bytes: int,
        has: StoredStream | None = None,
        is_live: bool = False,
    ) -> LongText | None:
        """Return a file of an attempt behind what is stored of it; None: there is none."""
        where = self._folder(name)
        if where is None:
            return None
        node, folder = where
        return await self._client.read(
            node,
            f"{folder}/{file}",
            skip=0 if has is None else has.written,
            bytes_max=bytes_max,
            head_bytes=head_bytes,
            is_live=is_live,
        )

    def _folder(self, name: str) -> tuple[str, str] | None:
        """Return the node of an attempt, and its folder there; None: it has none yet."""
        job = self._jobs.get(name)
        if job is None or job.driver_node_id is None:
            return None
        return job.driver_node_id, folder_of(self._number(name), (job.metadata or {})[RUN])

    async def left(self, name: str) -> Left:
        """Return what the job left in its folder; one look, as most leave nothing."""
        where = self._folder(name)
        if where is None:
            return Left()
        try:
            names = await self._client.files(*where)
            found = {}
            for file, most in ((PRODUCTS, self._limits.product_bytes_max), (ASK, FILE_BYTES_MAX)):
                if file in names:
                    text = await self._read(name, file, bytes_max=most + 1, head_bytes=most + 1)
                    found[file] = b"" if text is None else text.head
        except NoNode:
            return Left()
        return Left(found.get(PRODUCTS, b""), found.get(ASK, b""))

    async def forget(self, names: Sequence[str]) -> None:
        """Let Ray forget the jobs; their files stay in the logs of their nodes, as all do."""
        await asyncio.sleep(max([0.0, *map(self._kept_s, names)]))
        await asyncio.gather(*map(self._forget, names))

    def _kept_s(self, name: str) -> float:
        """Return for how long a job is still needed in Ray."""
        late_s = self._late_until.get(name, 0.0) - time.monotonic()
        job = self._jobs.get(name)
        ended_s = 0.0 if job is None or job.end_time is None else job.end_time / 1000 - time.time()
        return max(late_s, min(ended_s, 0.0) + _MONITOR_S)

    async def _forget(self, name: str) -> None:
        number = self._number(name)
        if not await self._client.delete(number):
            job = await self._client.job(number)
            if job is not None and not _is_withdrawn(job):
                raise Unavailable(f"{number} has not ended in Ray", hint="It is asked again.")
        for kept in (
            self._jobs,
            self._began,
            self._late_until,
            self._no_output_since,
            self._gone_since,
        ):
            kept.pop(name, None)

    async def changed(self) -> None:
        """Return after a while; the more a look costs, the rarer it is."""
        rest_s = self._looked_at + _SHARE * self._took_s - time.monotonic()
        await asyncio.sleep(max(self._settings.ray_look_s, rest_s))

    def _number(self, name: str) -> str:
        return self._prefix + name.removeprefix("weft-")

    async def _read_jobs(self) -> dict[str, RayJob]:
        """Return our jobs by the names of attempts."""
        found, old = {}, []
        before_ms = (time.time() - _HELD_S) * 1000
        for job in await self._client.jobs():
            if not (job.submission_id or "").startswith(self._prefix):
                continue
            if not _is_withdrawn(job):
                found[str((job.metadata or {})[ATTEMPT])] = job
            elif job.is_over and (job.end_time or 0) < before_ms:
                old.append(str(job.submission_id))
        await asyncio.gather(*map(self._client.delete, old))
        return found


def _is_withdrawn(job: RayJob) -> bool:
    """Say whether a job is none of an attempt. One without what it was given is what Ray makes
    anew of a job that was deleted too early.
    """
    return (job.metadata or {}).get(STATE) != GIVEN
