"""Answer the calls of workers outside, and tell them what they must look at."""

import asyncio
import hashlib
import time
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Any, Final

import msgspec

from weft.api.worker_link.handing_over import LinkedHandOver
from weft.api.worker_link.looking import LinkedRunningFiles
from weft.api.worker_link.notices import LinkNotices, Listener, Notice
from weft.api.worker_link.output import LinkedOutput
from weft.api.worker_link.refusals import refused, wrong_frame
from weft.api.worker_link.together import Together
from weft.ports.spool import Spool
from weft.ports.store import (
    Caller,
    Claimed,
    ClaimRequest,
    HeartbeatAnswer,
    OfferAnswer,
    WorkTerms,
)
from weft.ports.worker_link import (
    FRAME_VERSIONS,
    LISTED_MAX,
    Beat,
    Ends,
    Frame,
    Hello,
    LinkedStore,
    LinkFacts,
    LinkTerms,
    call_forms,
)
from weft.telemetry import metrics

_REMEMBERED_MAX: Final = 10_000
_ENTRIES_MAX: Final = 50_000
"""In one list of a call: more than a worker has attempts."""
_DELAY_MS_MAX: Final = 1e9
_SECRETS: Final = frozenset({"get_secrets", "seal_secrets"})
_FREE: Final = frozenset({"hello", "home_tenant", "list_ended_jobs", "list_removed"})
"""What they tell is no secret: who registered may ask, in bounded sets."""


@dataclass
class WorkerLink:
    """Serves linked workers; one per application."""

    find_store: Callable[[], LinkedStore]
    """Raises `Unavailable` where the api has no login for it."""
    spool: Spool
    lost_after_s: float
    handing_over: LinkedHandOver
    shipped_to: Callable[[str], str | None] = lambda _database_id: None
    """Says where the output in the spool is shipped to, by the database; None: nowhere."""
    _terms: dict[tuple[int, int], LinkTerms] = field(default_factory=dict)
    """Of incarnations, by token: they never change."""
    _heard: dict[int, tuple[float, tuple[str, str], LinkFacts]] = field(default_factory=dict)
    """What incarnations said of themselves, when, and their pools and names; the one that was
    silent longest first.
    """

    def __post_init__(self) -> None:
        self._output = LinkedOutput(self.spool, self.lost_after_s)
        self._notices = LinkNotices(self.find_store)
        self.running = LinkedRunningFiles(self.find_store, self._notices)
        self._beats: Together[Beat, HeartbeatAnswer] = Together(
            lambda beats: self.find_store().heartbeats(beats),
            lambda one: self.find_store().heartbeat(**one._asdict()),
        )
        self._ends: dict[int, Together[Ends, Sequence[str]]] = {}

    async def answer(self, caller: Caller, frame: Frame) -> bytes:
        """Do what a frame says; return the result. Raise `LinkRefused`, `LinkFrameRefused`, and
        what the store raises.
        """
        work = _work_of(caller)
        form = call_forms().get(frame.call)
        if frame.version not in FRAME_VERSIONS or form is None:
            versions = " and ".join(map(str, FRAME_VERSIONS))
            raise wrong_frame(
                f"it is {frame.call[:40]!r} of version {frame.version}; this server reads "
                f"version {versions}"
            )
        try:
            given = form.decode_arguments(frame.arguments)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise wrong_frame(str(error)) from error
        return msgspec.msgpack.encode(await self._call(caller, work, frame, given))

    async def _call(
        self, caller: Caller, work: WorkTerms, frame: Frame, given: dict[str, Any]
    ) -> object:
        store = self.find_store()
        if frame.call == "register_worker":
            facts = _registration(caller, work, given)
            if shipped := self.shipped_to(await store.database_id()):
                facts = {**facts, "log_directory": shipped}
            if facts["log_place"] is not None:  # who follows its first output finds it at once
                owner = _hash_of(f"{caller.token_id}/{facts['name']}")
                await asyncio.to_thread(self.spool.begin, facts["log_place"], owner)
            return await store.register_linked(caller.token_id, facts)
        if frame.call == "hello":
            known = await store.database_id()
            return Hello(known, self.lost_after_s, work.pool, work.names, time.time())
        if given.get("incarnation_id", frame.incarnation_id) != frame.incarnation_id:
            if frame.call in _SECRETS:  # as of any attempt that the worker does not have
                return [None] * len(given["wanted"])
            raise refused("The call is about another incarnation than the frame.")
        terms = await self.terms_of(caller, frame.incarnation_id)
        _check_lengths(given, LISTED_MAX if frame.call in _FREE else _ENTRIES_MAX)
        if frame.call == "answer_look":
            await self.running.take(store, **given)
            return None
        if frame.call == "write_log":
            return await self._output.write(store, terms, frame.incarnation_id, given)
        if frame.call == "write_logs":
            return await self._output.write_many(
                store, terms, frame.incarnation_id, given["parts"]
            )
        if frame.call == "write_checkpoint":
            return await self._output.write_checkpoint(store, terms, frame.incarnation_id, given)
        if frame.call in {"find_checkpoint", "read_checkpoint"}:
            return await getattr(self._output, frame.call)(store, **given)
        if frame.call == "sign_files":
            return await self.handing_over.sign(store, **given)
        if frame.call == "seal_secrets":
            return await self.handing_over.seal(store, **given)
        if frame.call == "check_functions":
            return await self.handing_over.check(store, **given)
        if frame.call == "get_chunks":
            pairs = zip(given["batch_ids"], given["chunk_firsts"], strict=False)
            return await self.handing_over.chunks(store, frame.incarnation_id, pairs)
        if frame.call == "remove_logs":
            await self._output.remove(store, terms, frame.incarnation_id, given)
            return None
        if frame.call not in _FREE and "incarnation_id" not in given:
            live = await store.list_live(frame.incarnation_id)
            return await _ask_about(store, frame.call, given, live)
        if frame.call == "claim_offered" and not await _consumes(store, **given):
            return [OfferAnswer("not_now", *one) for one in given["offers"]]
        if frame.call == "record_files":
            await self.handing_over.check_files(store, **given)
        found = await self._together(store, frame.call, given, terms)
        self._note(frame, given, found, (work.pool, terms.worker))
        if frame.call == "get_secrets":  # of the previous release, which has no key for them
            return [one and replace(one, body=None) for one in found]
        if frame.call == "find_stores":
            return [one and replace(one, body=None, row=None) for one in found]
        return found

    async def _together(
        self, store: LinkedStore, call: str, given: dict[str, Any], terms: LinkTerms
    ) -> Any:  # noqa: ANN401 (of the call)
        """Call the store; heartbeats, and ends for workers of one pool, share transactions."""
        if call == "heartbeat":
            return await self._beats.ask(Beat(**given))
        if call == "complete_attempts" and given["reports"]:
            return await self._ends_of(terms.pool_id).ask(Ends(**given))
        return await getattr(store, call)(**given)

    def _ends_of(self, pool_id: int) -> Together[Ends, Sequence[str]]:
        if pool_id not in self._ends:
            self._ends[pool_id] = Together(
                lambda ends: self.find_store().complete_together(ends),
                lambda one: self.find_store().complete_attempts(*one),
            )
        return self._ends[pool_id]

    def show(self) -> None:
        """Set the metrics of the workers that were heard of."""
        metrics.set_linked_workers({
            worker: (facts.delay_ms / 1000, facts.unshipped_bytes, facts.input_cache_bytes)
            for worker, facts in self.told().items()
        })  # fmt: skip

    def told(self) -> Mapping[tuple[str, str], LinkFacts]:
        """Return what workers have said last, by pool and name; of those that said nothing for
        long, or not to this api, there is nothing.
        """
        since = time.monotonic() - self.lost_after_s
        return {name: facts for at, name, facts in self._heard.values() if at > since}

    def _note(
        self,
        frame: Frame,
        given: Mapping[str, Any],
        found: Any,  # noqa: ANN401 (of the call)
        worker: tuple[str, str],
    ) -> None:
        """Note which attempts the worker has by now."""
        if frame.call == "claim_jobs":
            self._output.begin(frame.incarnation_id, found)
        elif frame.call == "claim_offered":
            claimed = [one.claimed for one in found if one.claimed is not None]
            self._output.begin(frame.incarnation_id, claimed)
        elif frame.call in {"claim_reserved", "complete_and_claim"}:
            self._output.begin(
                frame.incarnation_id, found[0 if frame.call == "claim_reserved" else 1]
            )
        elif frame.call == "heartbeat":
            self._output.heard(frame.incarnation_id, is_alive=found.alive)
            self._heard.pop(frame.incarnation_id, None)
            if found.alive and frame.facts is not None and _is_sound(frame.facts):
                self._heard[frame.incarnation_id] = time.monotonic(), worker, frame.facts
                while len(self._heard) > _REMEMBERED_MAX:
                    del self._heard[next(iter(self._heard))]
        if "reports" in given and frame.call in {"complete_attempts", "complete_and_claim"}:
            self._output.end(frame.incarnation_id, given["reports"])

    async def terms_of(self, caller: Caller, incarnation_id: int) -> LinkTerms:
        """Return what is known of an incarnation. Raise `LinkRefused` if the caller's token has
        not registered it.
        """
        _work_of(caller)
        key = (caller.token_id, incarnation_id)
        if key not in self._terms:
            found = await self.find_store().get_link(incarnation_id, caller.token_id)
            if found is None:
                raise refused("This token has registered no such incarnation of a worker.")
            if len(self._terms) >= _REMEMBERED_MAX:
                self._terms.clear()
            self._terms[key] = found
        return self._terms[key]

    def forget(self, told: int | None) -> None:
        """End the notices of callers about whom a notice is; see `LinkNotices`."""
        self._notices.forget(told)

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


def _is_sound(facts: LinkFacts) -> bool:
    """Say whether it may be: a worker says whatever it likes."""
    counts = facts.unshipped_bytes, facts.input_cache_bytes
    return 0 <= facts.delay_ms < _DELAY_MS_MAX and all(0 <= one < 2**63 for one in counts)


def _registration(caller: Caller, work: WorkTerms, given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a registration as it may be. Raise `LinkRefused`."""
    if given["pool"] != work.pool:
        raise refused(f"It is for workers of pool {work.pool!r}.")
    if not fnmatchcase(given["name"], work.names):
        raise refused(f"It is for workers with names like {work.names!r}.")
    folder = given["log_place"]
    if folder is not None:  # nobody names a directory of others
        text = f"{caller.token_id}/{given['name']}/{folder}"
        folder = _hash_of(text)
    return {**given, "log_place": folder}


def _hash_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]


async def _ask_about(
    store: LinkedStore, call: str, given: Mapping[str, Any], live: Sequence[Claimed]
) -> object:
    """Answer a question about jobs for those of these attempts only."""
    if call in {"get_payload_part", "get_app_part"}:
        if given["batch_id"] not in {one.batch_id for one in live}:
            return None
        return await getattr(store, call)(**given)
    if call == "list_job_users":
        jobs = {(one.batch_id, one.job_id) for one in live}
        return await store.list_job_users(_only(given["jobs"], jobs))
    if call == "list_choices":
        batches = {one.batch_id for one in live}
        return await store.list_choices([one for one in given["batch_ids"] if one in batches])
    assert call == "list_time_limits", f"the link does not know whose {call} may be asked"
    keys = {(one.batch_id, one.job_id, one.attempt) for one in live}
    return await store.list_time_limits(_only(given["attempts"], keys))


async def _consumes(
    store: LinkedStore,
    incarnation_id: int,
    transport: str,
    tenant: str,
    queue: str,
    offers: Sequence[tuple[int, int, int]],
    request: ClaimRequest,
) -> bool:
    """Say whether these offers may be this worker's: it hears of no others, not even whether there
    are any.
    """
    del request
    _check_lengths({"offers": offers}, LISTED_MAX)
    known = await store.list_consumed(incarnation_id, [transport])
    return (transport, tenant, queue) in known


def _only(asked: Sequence[Any], known: Collection[Any]) -> list[Any]:
    return [one for one in asked if one in known]


def _check_lengths(given: Mapping[str, Any], most: int) -> None:
    for name, value in given.items():
        if isinstance(value, list | tuple) and len(value) > most:
            raise wrong_frame(f"{name} has {len(value)} entries, more than {most}")


def _work_of(caller: Caller) -> WorkTerms:
    if caller.work is None:
        raise refused("It names no pool.")
    return caller.work
