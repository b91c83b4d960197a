"""The other end of the link of workers outside: it calls the store for them, about what is theirs.

A token says which pool and which names; an incarnation belongs to the token that registered it.
What no incarnation limits by itself is answered for its live attempts only.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import msgspec

from weft.core.bounded import read_msgpack
from weft.core.errors import LinkFrameRefused
from weft.ports.spool import Spool
from weft.ports.store import Caller, Claimed, HeartbeatAnswer, WorkTerms
from weft.ports.worker_link import (
    FRAME_VERSIONS,
    Beat,
    Ends,
    Frame,
    LinkedStore,
    LinkTerms,
    call_forms,
)
from weft_link.serving.calls import CALLS, About, Asked, Rule
from weft_link.serving.left_files import LinkedFiles
from weft_link.serving.linked_hand_over import LinkedHandOver
from weft_link.serving.looking import LinkedRunningFiles
from weft_link.serving.notices import LinkNotices, Listener, Notice
from weft_link.serving.output import LinkedOutput
from weft_link.serving.refusals import refused, wrong_frame
from weft_link.serving.shared_transactions import Hearing, SharedTransactions

_REMEMBERED_MAX: Final = 10_000
_NOBODYS: Final = LinkTerms(0, None)
_NO_JOBS: Final[Sequence[Claimed]] = ()


class FrameRead(NamedTuple):
    """A frame, how its call is answered, and its arguments."""

    frame: Frame
    rule: Rule
    arguments: dict[str, Any]


def read_frame(body: bytes) -> FrameRead:
    """Read the body of a call. Raise `LinkFrameRefused`."""
    try:
        frame: Frame = read_msgpack(body, Frame)
    except msgspec.DecodeError as error:
        raise LinkFrameRefused(
            "the body is not a frame of a worker",
            detail=f"{error}.",
            hint="Only `weft worker --connect` sends them.",
        ) from error
    rule = CALLS.get(frame.call)
    if frame.version not in FRAME_VERSIONS or rule is None:
        versions = " and ".join(map(str, FRAME_VERSIONS))
        raise wrong_frame(
            f"it is {frame.call[:40]!r} of version {frame.version}; this server reads "
            f"version {versions}"
        )
    try:
        arguments = call_forms()[frame.call].decode_arguments(frame.arguments)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise wrong_frame(str(error)) from error
    return FrameRead(frame, rule, arguments)


@dataclass
class WorkerLink:
    """Serves linked workers; one per application."""

    find_store: Callable[[], LinkedStore]
    """Raises `Unavailable` where the api has no login for it."""
    spool: Spool
    lost_after_s: float
    handing_over: LinkedHandOver
    files: LinkedFiles
    shipped_to: Callable[[str], str | None] = lambda _database_id: None
    """Says where the output in the spool is shipped to, by the database; None: nowhere."""
    _terms: dict[tuple[int, int], LinkTerms] = field(default_factory=dict)
    """Of incarnations, by token: they never change."""

    def __post_init__(self) -> None:
        self.output = LinkedOutput(self.spool, self.lost_after_s)
        self._notices = LinkNotices(self.find_store)
        self.running = LinkedRunningFiles(self.find_store, self._notices)
        self.begin_exec = self.running.begin
        self.hearing = Hearing(self.lost_after_s)
        self.beats: SharedTransactions[Beat, HeartbeatAnswer] = SharedTransactions(
            lambda beats: self.find_store().heartbeats(beats),
            lambda one: self.find_store().heartbeat(**one._asdict()),
        )
        self._ends: dict[int, SharedTransactions[Ends, Sequence[str]]] = {}

    async def answer(self, caller: Caller, read: FrameRead) -> bytes:
        """Do what a frame says; return the result. Raise `LinkRefused`, and as the store does."""
        return msgspec.msgpack.encode(await self._answer(caller, _work_of(caller), *read))

    async def _answer(
        self, caller: Caller, work: WorkTerms, frame: Frame, rule: Rule, given: dict[str, Any]
    ) -> object:
        store, number, live, terms = self.find_store(), frame.incarnation_id, _NO_JOBS, _NOBODYS
        if rule.about is not About.NOBODY:
            if given.get("incarnation_id", number) != number:
                if rule.strange is None:
                    raise refused("The call is about another incarnation than the frame.")
                return rule.strange(given)
            terms = await self.terms_of(caller, number)
        if rule.about is About.ITS_JOBS:
            live = await store.list_live(number)
        asked = Asked(frame.call, given, caller, work, number, frame.facts, store, terms, live)
        return await rule.serves(self, asked)

    def ends_of(self, pool_id: int) -> SharedTransactions[Ends, Sequence[str]]:
        """Return what shares transactions for the ends of a pool."""
        if pool_id not in self._ends:
            self._ends[pool_id] = SharedTransactions(
                lambda ends: self.find_store().complete_together(ends),
                lambda one: self.find_store().complete_attempts(*one),
            )
        return self._ends[pool_id]

    async def terms_of(self, caller: Caller, incarnation_id: int) -> LinkTerms:
        """Return what is known of an incarnation. Raise `LinkRefused` if the caller's token has
        not registered it.
        """
        _work_of(caller)
        key = (caller.token_id, incarnation_id)
        if key not in self._terms:
            link = await self.find_store().get_link(incarnation_id, caller.token_id)
            if link is None:
                raise refused("This token has registered no such incarnation of a worker.")
            if len(self._terms) >= _REMEMBERED_MAX:
                self._terms.clear()
            self._terms[key] = link
        return self._terms[key]

    async def notices(
        self, caller: Caller, incarnation_id: int, *, again_s: float
    ) -> AsyncIterator[Notice | None]:
        """Yield the notices for an incarnation, and None every `again_s` seconds, as long as the
        token is valid. Nothing is told of others: not even which batch was cancelled.
        """
        terms, store = await self.terms_of(caller, incarnation_id), self.find_store()
        listener = Listener(caller, incarnation_id, terms.pool_id)
        with self._notices.opened(listener) as stream:
            # Whoever revoked the token before the line above has told nobody of this stream.
            if await store.get_link(incarnation_id, caller.token_id) is None:
                return
            while stream.is_open:
                try:
                    async with asyncio.timeout(again_s):
                        notice = await stream.next()
                except TimeoutError:
                    if await store.get_link(incarnation_id, caller.token_id) is None:
                        return
                    yield None
                    continue
                if notice is None:
                    return
                yield notice


def _work_of(caller: Caller) -> WorkTerms:
    if caller.work is None:
        raise refused("It names no pool.")
    return caller.work
