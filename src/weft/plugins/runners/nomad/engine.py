"""Nomad as an engine: an attempt is a dispatched job; its name is the token of the dispatch."""

import asyncio
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from weft.core.ends.conditions import FILE_BYTES_MAX, Blocked
from weft.core.errors import Unavailable, WeftError
from weft.plugins.runners.nomad.client import NomadClient, NomadRefused
from weft.plugins.runners.nomad.jobs import (
    ASK,
    ATTEMPT,
    LIMIT,
    PRODUCTS,
    STATE,
    TASK,
    job_of,
    parent_of,
    payload_of,
    size_of,
)
from weft.plugins.runners.nomad.settings import NomadSettings
from weft.plugins.runners.nomad.statuses import status_of, why_unplaced
from weft.plugins.runners.remote import Left, Status
from weft.plugins.runners.remote.calls import LongText
from weft.plugins.runners.remote.outputs import live_bytes, pieces_of, room_of
from weft.ports.executor import ExecutorLimits
from weft.ports.log_store import Stored, StoredStream
from weft.ports.runner import Assignment
from weft.wire.log_format import STDERR, STDOUT, Piece

_NOTHING: Final = "ZXhpdCAwCg=="
"""A script that does nothing."""
_WITHDRAWN: Final = "withdrawn"
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
        self._parents: set[str] = set()
        """Parameterised jobs that Nomad has."""
        self._asked: dict[str, tuple[str, str]] = {}
        """Parent and payload of attempts of which Nomad has not said that it took them."""
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
        for name, one in assignments.items():
            try:
                payload = payload_of(one, self._limits)
                self._asked[name] = (await self._parent(one), payload)
            except Unavailable:
                raise
            except WeftError as error:
                refused[name] = error
            else:
                self._limit_s[name] = one.spec.timeout_s
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
        jobs = await self._read_jobs()
        wanted = {jobs[name]["ID"]: name for name in names if name in jobs}
        self._jobs |= {name: str(number) for number, name in wanted.items()}
        if not wanted:
            return {}
        found: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
        allocations = await self._client.call(
            "GET", ["allocations"], task_states="true", resources="false",
            filter=f'JobID contains "{self._prefix}"',
        )  # fmt: skip
        for one in allocations or ():
            if one["JobID"] in wanted:
                found[one["JobID"]].append(one)
        reasons = await self._reasons() if wanted.keys() - found.keys() else {}
        statuses = {}
        for number, name in wanted.items():
            own, why = found[number], reasons.get(number, "")
            statuses[name] = status = status_of(jobs[name], own, self._limit_s.get(name), why)
            if status.started_s_ago is not None and own:
                self._allocations[name] = min(own, key=lambda one: one["CreateTime"])["ID"]
        return statuses

    def avoid(self, nodes: Collection[str]) -> None:
        """Do nothing: it says no nodes."""

    async def settle(self, names: Sequence[str]) -> None:
        """Take the tokens of these dispatches, if they are still free, with jobs that do nothing:
        Nomad answers the late one with ours then.
        """
        for name in names:
            if name in self._asked:
                parent, _ = self._asked[name]
                self._asked[name] = (parent, _NOTHING)
                await self._dispatch(name, _WITHDRAWN)

    async def stop(self, names: Sequence[str], *, grace_ms: int) -> None:  # noqa: ARG002 (Nomad knows one for the job)
        """Stop the jobs."""
        jobs = await self._read_jobs() if any(one not in self._jobs for one in names) else {}
        numbers = [self._jobs.get(one) or jobs.get(one, {}).get("ID") for one in names]
        await self._delete([str(one) for one in numbers if one], purge=False)

    async def grown(self, stored: Mapping[str, Stored]) -> Mapping[str, Sequence[Piece]]:
        """Ask the nodes for what is new."""
        answers = await asyncio.gather(
            *(self._grown(name, has) for name, has in stored.items()), return_exceptions=True
        )
        found = {}
        for name, answer in zip(stored, answers, strict=True):
            if isinstance(answer, list):
                found[name] = answer
            elif not isinstance(answer, WeftError):  # its node may be away
                raise answer
        return found

    async def _grown(self, name: str, stored: Stored) -> list[Piece]:
        pieces: list[Piece] = []
        for stream, word in _STREAMS:
            has = stored.of(stream)
            if more := live_bytes(has, self._limits):
                text = await self._log(name, word, has, more, more)
                pieces += pieces_of(stream, text.head)
        return pieces

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
            ["client", "fs", "logs", allocation], task=TASK, type=word, plain="true",
            origin="start", offset=str(has.written), bytes_max=bytes_max, head_bytes=head_bytes,
        )  # fmt: skip

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
                    ["client", "fs", "readat", allocation], path=f"{folder}/{file}",
                    offset="0", limit=str(size), bytes_max=size, head_bytes=size,
                )  # fmt: skip
                found[file] = text.head
        return Left(found.get(PRODUCTS, b""), found.get(ASK, b""))

    async def forget(self, names: Sequence[str]) -> None:
        """Remove the jobs from Nomad."""
        await self._delete([self._jobs[one] for one in names if one in self._jobs], purge=True)
        for name in names:
            for kept in (self._jobs, self._allocations, self._limit_s, self._asked):
                kept.pop(name, None)

    async def changed(self) -> None:
        """Return after a while."""
        await asyncio.sleep(self._settings.nomad_look_s)

    async def names(self) -> list[str]:
        """Return the attempts that Nomad knows."""
        return sorted(await self._read_jobs())

    async def _reasons(self) -> dict[str, str]:
        """Return why no node takes jobs, by their ids in Nomad."""
        told = await self._client.call(
            "GET", ["evaluations"],
            filter=f'Status == "blocked" and JobID contains "{self._prefix}"',
        )  # fmt: skip
        return {str(one["JobID"]): why_unplaced(one) for one in told or ()}

    async def _read_jobs(self) -> dict[str, Mapping[str, Any]]:
        """Return our dispatched jobs by the names of attempts."""
        jobs = await self._client.call("GET", ["jobs"], prefix=self._prefix, meta="true")
        found = {}
        for one in jobs or ():
            meta = one.get("Meta") or {}
            if one.get("ParentID") and meta.get(STATE) != _WITHDRAWN and ATTEMPT in meta:
                found[str(meta[ATTEMPT])] = one
                if limit := meta.get(LIMIT):
                    self._limit_s[str(meta[ATTEMPT])] = float(limit)
        return found

    async def _parent(self, one: Assignment) -> str:
        """Return the parameterised job of an attempt's size; it is made if need be."""
        document = job_of(size_of(one), self._settings, self._limits)
        parent = parent_of(self._prefix, document)
        if parent not in self._parents:
            job = {**document, "ID": parent, "Name": parent}
            await self._client.call("PUT", ["jobs"], {"Job": job})
            self._parents.add(parent)
        return parent

    async def _dispatch(self, name: str, state: str = "") -> None:
        parent, payload = self._asked[name]
        meta = {ATTEMPT: name, STATE: state or "given"}
        if (limit_s := self._limit_s.get(name)) is not None:
            meta[LIMIT] = str(limit_s)
        body = {"Payload": payload, "Meta": meta}
        answer = await self._client.call(
            "POST", ["job", parent, "dispatch"], body, idempotency_token=self._prefix + name
        )
        if answer is None:  # somebody has removed the parameterised job
            self._parents.discard(parent)
            raise Unavailable(f"Nomad has lost the job {parent}", hint="It is registered again.")
        self._asked.pop(name, None)

    async def _delete(self, numbers: Sequence[str], *, purge: bool) -> None:
        words = "true" if purge else "false"
        await asyncio.gather(
            *(self._client.call("DELETE", ["job", number], purge=words) for number in numbers)
        )
