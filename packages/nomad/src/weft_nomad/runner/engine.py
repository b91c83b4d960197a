"""Nomad as an engine: an attempt is a dispatched job. Its name is the token of the dispatch."""

import asyncio
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from signal import Signals
from typing import Any, Final

from msgspec import structs

from weft.core.ends.conditions import FILE_BYTES_MAX, Blocked
from weft.core.errors import Unavailable, WeftError
from weft.core.signals import word_of
from weft.core.states import Command, Phase, Reason
from weft.plugins.runners.remote import Left, Status
from weft.plugins.runners.remote.black_nodes import told_avoided
from weft.plugins.runners.remote.calls import LongText
from weft.plugins.runners.remote.handles import ASK, PRODUCTS
from weft.plugins.runners.remote.outputs import grown_of, live_bytes, pieces_of, room_of
from weft.ports.executor import ExecutorLimits
from weft.ports.log_store import Stored, StoredStream
from weft.ports.runner import Assignment
from weft.wire.log_format import STDERR, STDOUT, Piece
from weft_nomad.runner.client import NewsWatch, NomadClient, NomadRefused
from weft_nomad.runner.jobs import (
    ATTEMPT,
    AVOIDED,
    FOR_A_TIME,
    LIMIT,
    STATE,
    TASK,
    first_of,
    has_children,
    has_successors,
    is_only_barred,
    job_of,
    moves,
    parent_of,
    payload_of,
    peak_of,
    size_of,
    status_of,
    why_unplaced,
)
from weft_nomad.settings import NomadSettings

_NOTHING: Final = "ZXhpdCAwCg=="
"""A script that does nothing."""
_WITHDRAWN: Final = "withdrawn"
FORWARDED: Final = (Signals.SIGHUP, Signals.SIGINT, Signals.SIGQUIT, Signals.SIGTERM)
"""What the program `timeout`, which keeps limits, passes on to the job."""
_STREAMS: Final = ((STDOUT, "stdout"), (STDERR, "stderr"))


class NomadEngine:
    """Nomad, as the port of remote runners wants it."""

    meets: frozenset[str] = frozenset()
    followed_max = 50

    def __init__(
        self, client: NomadClient, settings: NomadSettings, limits: ExecutorLimits, *, tag: str
    ) -> None:
        self._client = client
        self._settings = settings
        self._limits = limits
        self._prefix = f"weft-{tag}-"
        self._parents: dict[str, tuple[str, ...]] = {}
        """Parameterised jobs that Nomad has, and the nodes that each avoids."""
        self._asked: dict[str, tuple[str, str, tuple[str, ...]]] = {}
        """Parent, payload and avoided nodes of attempts that Nomad has not said to have taken."""
        self._avoided: tuple[str, ...] = ()
        self._returned: set[str] = set()
        """Attempts that waited for nodes other than those which are avoided no more: they are
        given back, to be submitted without that.
        """
        self._moved: set[str] = set()
        """Attempts that Nomad takes from their node, and whose jobs were stopped."""
        self._peaks: dict[str, int] = {}
        """The most memory of each attempt that was seen."""
        self._watch = NewsWatch(lambda: client.news(self._prefix))
        self._limit_s: dict[str, float | None] = {}
        self._allocations: dict[str, str] = {}
        """The allocation that runs each attempt, or ran it."""
        self._jobs: dict[str, str] = {}
        """Nomad's job of each attempt."""

    async def submit(
        self, assignments: Mapping[str, Assignment]
    ) -> Mapping[str, WeftError | Blocked]:
        """Dispatch each attempt, several at a time; Nomad has no call for many."""
        refused: dict[str, WeftError | Blocked] = {}
        sent = []
        for name, assignment in assignments.items():
            try:
                payload = payload_of(assignment, self._limits)
                await self._ask(name, assignment, payload)
            except Unavailable:
                raise
            except WeftError as error:
                self._asked.pop(name, None)
                refused[name] = error
            else:
                self._limit_s[name] = assignment.spec.timeout_s
                sent.append(name)
        answers = await asyncio.gather(*map(self._dispatch, sent), return_exceptions=True)
        for name, answer in zip(sent, answers, strict=True):
            if isinstance(answer, NomadRefused):
                refused[name] = answer
            elif isinstance(answer, BaseException):
                raise answer
        return refused

    async def statuses(self, names: Sequence[str]) -> Mapping[str, Status]:
        """Ask for all jobs, for all allocations, and why some have none."""
        with self._watch.looking():
            return await self._statuses(names)

    async def _statuses(self, names: Sequence[str]) -> Mapping[str, Status]:
        jobs = await self._read_jobs()
        wanted = {jobs[name]["ID"]: name for name in names if name in jobs}
        self._jobs |= {name: str(number) for number, name in wanted.items()}
        if not wanted:
            return {}
        found: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
        allocations = await self._client.call(
            "GET",
            ["allocations"],
            task_states="true",
            resources="false",
            filter=f'JobID contains "{self._prefix}"',
        )
        for allocation in allocations or ():
            if allocation["JobID"] in wanted:
                found[allocation["JobID"]].append(allocation)
        waits = await self._blocked() if wanted.keys() - found.keys() else {}
        statuses = {}
        for number, name in wanted.items():
            own, evaluation = found[number], waits.get(number, {})
            why = ""
            if evaluation:
                why = f"{why_unplaced(evaluation)}{told_avoided(_avoided_by(jobs[name]))}"
            status = status_of(jobs[name], own, self._limit_s.get(name), why)
            if status.started_s_ago is not None and own:
                self._allocations[name] = first_of(own)["ID"]
            if own and has_successors(own):
                status = structs.replace(status, phase=Phase.EXECUTING, ended_s_ago=None)
            if status.ended_s_ago is not None:
                status = self._ended(name, status)
            statuses[name] = status
        barred = [
            name
            for number, name in wanted.items()
            if not found[number] and self._is_barred(jobs[name], waits.get(number, {}))
        ]
        await self._give_back(barred)
        await self._keep_from_moving(
            name for number, name in wanted.items() if any(map(moves, found[number]))
        )
        return statuses

    async def _keep_from_moving(self, names: Iterable[str]) -> None:
        """Stop the jobs of what Nomad takes from a node: it would run them again on another."""
        new = {*names} - self._moved
        await self._delete([self._jobs[name] for name in new], purge=False)
        self._moved |= new

    def _ended(self, name: str, status: Status) -> Status:
        if name in self._returned and status.started_s_ago is None:
            status = structs.replace(status, reason=Reason.PREEMPTED)
        return structs.replace(status, memory_peak_bytes=self._peaks.get(name, 0))

    def _is_barred(self, job: Mapping[str, Any], evaluation: Mapping[str, Any]) -> bool:
        avoided = _avoided_by(job)
        return bool(avoided) and avoided.isdisjoint(self._avoided) and is_only_barred(evaluation)

    async def _give_back(self, names: Sequence[str]) -> None:
        """Stop what waits; the next look says whether it had begun meanwhile."""
        self._returned.update(names)
        await self._delete([self._jobs[name] for name in names], purge=False)

    def avoid(self, nodes: Collection[str]) -> None:
        self._avoided = tuple(sorted(nodes))

    async def settle(self, names: Sequence[str]) -> None:
        """Take the tokens of these dispatches, if they are still free, with jobs that do nothing:
        Nomad answers the late one with ours then.
        """
        for name in names:
            if name in self._asked:
                parent, _, avoided = self._asked[name]
                self._asked[name] = (parent, _NOTHING, avoided)
                await self._dispatch(name, _WITHDRAWN)

    async def stop(self, names: Sequence[str], *, grace_ms: int) -> None:  # noqa: ARG002 (Nomad knows one for the job)
        jobs = await self._read_jobs() if any(name not in self._jobs for name in names) else {}
        numbers = [self._jobs.get(name) or jobs.get(name, {}).get("ID") for name in names]
        await self._delete([str(number) for number in numbers if number], purge=False)

    async def tell(self, assignment: Assignment, command: Command) -> str:
        """Send a signal; a limit is kept on the node, and does not move."""
        if command.signal is None:
            return "the node keeps the time limit of a job in Nomad, and it does not move"
        if assignment.spec.timeout_s is not None and command.signal not in FORWARDED:
            words = ", ".join(map(word_of, FORWARDED))
            return f"jobs with a time limit can get {words} in Nomad"
        if (allocation := self._allocations.get(assignment.key.name)) is None:
            return "it does not run yet"
        body = {"Signal": Signals(command.signal).name, "Task": TASK}
        try:
            await self._client.call("POST", ["client", "allocation", allocation, "signal"], body)
        except NomadRefused as error:
            return error.message
        return ""

    async def grown(self, stored: Mapping[str, Stored]) -> Mapping[str, Sequence[Piece]]:
        """Ask the nodes for what is new."""
        return await grown_of(stored, self._grown)

    async def _grown(self, name: str, stored: Stored) -> list[Piece]:
        pieces: list[Piece] = []
        await self._weigh(name)
        for stream, word in _STREAMS:
            has = stored.of(stream)
            if more := live_bytes(has, self._limits):
                text = await self._log(name, word, has, more, more)
                pieces += pieces_of(stream, text.head)
        return pieces

    async def _weigh(self, name: str) -> None:
        """Note how much memory an attempt holds; Nomad forgets it with the end."""
        if (allocation := self._allocations.get(name)) is not None:
            told = await self._client.call("GET", ["client", "allocation", allocation, "stats"])
            peak = peak_of(told or {})
            self._peaks[name] = max(peak, self._peaks.get(name, 0))

    async def output(self, name: str, stored: Stored) -> Sequence[Piece]:
        """Return the rest of what the job wrote: the beginning and the end of what is too long."""
        pieces: list[Piece] = []
        for stream, word in _STREAMS:
            has = stored.of(stream)
            head, cut, tail = await self._log(name, word, has, *room_of(has, self._limits))
            pieces += pieces_of(stream, head, cut, tail)
        return pieces

    async def _log(
        self, name: str, word: str, has: StoredStream, bytes_max: int, head_bytes: int
    ) -> LongText:
        """Return what a job wrote to a stream behind what is stored."""
        allocation = self._allocations.get(name)
        if allocation is None:
            return LongText(b"")
        return await self._client.read(
            ["client", "fs", "logs", allocation],
            task=TASK,
            type=word,
            plain="true",
            origin="start",
            offset=str(has.written),
            bytes_max=bytes_max,
            head_bytes=head_bytes,
        )

    async def left(self, name: str) -> Left:
        """Return what the job left in its directory; one look, as most leave nothing."""
        allocation = self._allocations.get(name)
        if allocation is None:
            return Left()
        folder = f"{TASK}/local"
        there = await self._client.call("GET", ["client", "fs", "ls", allocation], path=folder)
        names = {str(one["Name"]) for one in there or () if not one["IsDir"]}
        found = {}
        for file, most in ((PRODUCTS, self._limits.product_bytes_max), (ASK, FILE_BYTES_MAX)):
            if file in names:
                size = most + 1
                text = await self._client.read(
                    ["client", "fs", "readat", allocation],
                    path=f"{folder}/{file}",
                    offset="0",
                    limit=str(size),
                    bytes_max=size,
                    head_bytes=size,
                )
                found[file] = text.head
        return Left(found.get(PRODUCTS, b""), found.get(ASK, b""))

    async def forget(self, names: Sequence[str]) -> None:
        """Remove the jobs from Nomad."""
        await self._delete([self._jobs[one] for one in names if one in self._jobs], purge=True)
        for name in names:
            self._returned.discard(name)
            self._moved.discard(name)
            for kept in (
                self._jobs,
                self._allocations,
                self._limit_s,
                self._asked,
                self._peaks,
            ):
                kept.pop(name, None)

    async def changed(self) -> None:
        """Return when Nomad tells of an attempt, and after a while."""
        await self._watch.changed(self._settings.nomad_look_s, wanted=bool(self._jobs))

    async def names(self) -> list[str]:
        """Return the attempts that Nomad knows."""
        return sorted(await self._read_jobs())

    async def _blocked(self) -> dict[str, Mapping[str, Any]]:
        """Return the evaluations of jobs that no node takes, by their ids in Nomad."""
        told = await self._client.call(
            "GET",
            ["evaluations"],
            filter=f'Status == "blocked" and JobID contains "{self._prefix}"',
        )
        return {str(one["JobID"]): one for one in told or ()}

    async def _read_jobs(self) -> dict[str, Mapping[str, Any]]:
        """Return our dispatched jobs by the names of attempts."""
        jobs = await self._client.call("GET", ["jobs"], prefix=self._prefix, meta="true")
        found = {}
        await self._drop([job for job in jobs or () if not job.get("ParentID")])
        for job in jobs or ():
            meta = job.get("Meta") or {}
            if job.get("ParentID") and meta.get(STATE) != _WITHDRAWN and ATTEMPT in meta:
                found[str(meta[ATTEMPT])] = job
                if limit := meta.get(LIMIT):
                    self._limit_s[str(meta[ATTEMPT])] = float(limit)
        return found

    async def _drop(self, parents: Sequence[Mapping[str, Any]]) -> None:
        """Remove what has avoided nodes for a time, and runs nothing any more."""
        asked = {parent for parent, _, _ in self._asked.values()}
        old = [
            number
            for parent in parents
            if (number := str(parent["ID"])).startswith(self._prefix + FOR_A_TIME)
            and number not in asked
            and self._parents.get(number) != self._avoided
            and not has_children(parent)
        ]
        for number in old:
            self._parents.pop(number, None)
        await self._delete(old, purge=True)

    async def _ask(self, name: str, assignment: Assignment, payload: str) -> None:
        """Note what to dispatch; the parameterised job of its size is made if need be."""
        avoided = self._avoided
        document = job_of(size_of(assignment), self._settings, self._limits, avoided)
        parent = parent_of(self._prefix, document)
        self._asked[name] = parent, payload, avoided
        if parent not in self._parents:
            job = {**document, "ID": parent, "Name": parent}
            await self._client.call("PUT", ["jobs"], {"Job": job})
            self._parents[parent] = avoided

    async def _dispatch(self, name: str, state: str = "") -> None:
        parent, payload, avoided = self._asked[name]
        meta = {ATTEMPT: name, STATE: state or "given", AVOIDED: ",".join(avoided)}
        if (limit_s := self._limit_s.get(name)) is not None:
            meta[LIMIT] = str(limit_s)
        body = {"Payload": payload, "Meta": meta}
        answer = await self._client.call(
            "POST", ["job", parent, "dispatch"], body, idempotency_token=self._prefix + name
        )
        if answer is None:  # somebody has removed the parameterised job
            self._parents.pop(parent, None)
            raise Unavailable(f"Nomad has lost the job {parent}", hint="It is registered again.")
        self._asked.pop(name, None)

    async def _delete(self, numbers: Sequence[str], *, purge: bool) -> None:
        words = "true" if purge else "false"
        await asyncio.gather(
            *(self._client.call("DELETE", ["job", number], purge=words) for number in numbers)
        )


def _avoided_by(job: Mapping[str, Any]) -> frozenset[str]:
    text = str((job.get("Meta") or {}).get(AVOIDED) or "")
    return frozenset(text.split(",") if text else ())
