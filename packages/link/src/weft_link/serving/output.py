"""What linked workers write: files of their live attempts, and checkpoints that the next read."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from weft.core.errors import DiskFull, SpoolFull
from weft.core.states import AttemptKey
from weft.ports.checkpoints import CheckpointFound
from weft.ports.spool import Spool
from weft.ports.store import Claimed, EndReport
from weft.ports.worker_link import LOG_BYTES_MAX, LinkedStore, LinkTerms, LogPart
from weft.telemetry import metrics
from weft.wire.log_format import attempt_of
from weft_link.serving.refusals import refused, wrong_frame

_REMEMBERED_MAX: Final = 10_000
Done = TypeVar("Done")


@dataclass
class _Live:
    """The live attempts of an incarnation."""

    keys: set[AttemptKey]
    sure_at: float = field(default_factory=time.monotonic)
    """When the store last said that it lives."""


class LinkedOutput:
    """The calls about files of output. Which attempts are live is remembered, because a running
    one writes every second; not for longer than an incarnation may be silent before it is lost,
    and not by what removes or replaces something.
    """

    def __init__(self, spool: Spool, lost_after_s: float) -> None:
        self._spool = spool
        self._sure_s = lost_after_s / 2
        self._live: OrderedDict[int, _Live] = OrderedDict()

    def begin(self, incarnation_id: int, claimed: Iterable[Claimed]) -> None:
        """Note attempts that an incarnation has just claimed."""
        keys = {one.key for one in claimed}
        if incarnation_id in self._live:
            self._live[incarnation_id].keys.update(keys)
            return
        self._live[incarnation_id] = _Live(keys)
        while len(self._live) > _REMEMBERED_MAX:
            self._live.popitem(last=False)

    def heard(self, incarnation_id: int, *, is_alive: bool) -> None:
        """Note what the store says of an incarnation."""
        if not is_alive:
            self._live.pop(incarnation_id, None)
        elif (known := self._live.get(incarnation_id)) is not None:
            known.sure_at = time.monotonic()

    def end(self, incarnation_id: int, reports: Iterable[EndReport]) -> None:
        """Forget attempts whose ends are recorded."""
        if known := self._live.get(incarnation_id):
            known.keys -= {AttemptKey(one.batch_id, one.job_id, one.attempt) for one in reports}

    async def _keys(
        self,
        store: LinkedStore,
        incarnation_id: int,
        wanted: Collection[AttemptKey],
        *,
        ask: bool = False,
    ) -> Collection[AttemptKey]:
        """Return the live attempts, `wanted` among them if they are."""
        known = self._live.pop(incarnation_id, None)
        is_sure = known is not None and time.monotonic() - known.sure_at < self._sure_s
        if known is None or ask or not is_sure or not known.keys.issuperset(wanted):
            live = await store.list_live(incarnation_id)
            known = _Live({one.key for one in live})
        self._live[incarnation_id] = known
        while len(self._live) > _REMEMBERED_MAX:
            self._live.popitem(last=False)
        return known.keys

    async def write(
        self, store: LinkedStore, terms: LinkTerms, incarnation_id: int, given: Mapping[str, Any]
    ) -> int:
        """Keep a part of a file. Raise `LinkRefused`, `LinkFrameRefused`, `SpoolFull`,
        `DiskFull`.
        """
        path, data = given["path"], given["data"]
        if (key := attempt_of(path)) is not None:
            await self.check_live(store, incarnation_id, key)
        return await _in_thread(self._spool.write, _place(terms), path, given["offset"], data)

    async def write_many(
        self, store: LinkedStore, terms: LinkTerms, incarnation_id: int, given: Mapping[str, Any]
    ) -> list[int]:
        """Keep parts of many files; see the port. Raise `LinkRefused`, `LinkFrameRefused`."""
        parts: Sequence[LogPart] = given["parts"]
        if sum(len(one.data) for one in parts) > LOG_BYTES_MAX:
            raise wrong_frame(f"it has more than {LOG_BYTES_MAX} bytes")
        root = _place(terms)
        keys = {one.path: key for one in parts if (key := attempt_of(one.path)) is not None}
        live = await self._keys(store, incarnation_id, set(keys.values()))
        others = {path for path, key in keys.items() if key not in live}

        def write(one: LogPart) -> int:
            if one.path in others:
                return -1
            try:
                return self._spool.write(root, one.path, one.offset, one.data)
            except (SpoolFull, DiskFull):
                metrics.SPOOL_REFUSALS.inc()
                return -1

        return await _in_thread(lambda: [write(one) for one in parts])

    async def remove(
        self, store: LinkedStore, terms: LinkTerms, incarnation_id: int, given: Mapping[str, Any]
    ) -> None:
        """Forget files of live attempts, and batches that were deleted."""
        paths = given["paths"]
        batches: dict[int, str] = {}
        keys: set[AttemptKey] = set()
        for path in paths:
            if (key := attempt_of(path)) is not None:
                keys.add(key)
            elif (number := path.removeprefix("attempts/b")).isdecimal():
                batches[int(number)] = path
        if keys:
            await self.check_live(store, incarnation_id, *keys, ask=True)
        if batches:
            removed = set(await store.list_removed(sorted(batches)))
            paths = [path for path in paths if path not in batches.values()]
            paths += [path for one, path in batches.items() if one in removed]
        await _in_thread(self._spool.remove, _place(terms), paths)

    async def write_checkpoint(
        self, store: LinkedStore, terms: LinkTerms, incarnation_id: int, given: Mapping[str, Any]
    ) -> int:
        """Keep a part of a checkpoint. Raise as `write`."""
        key: AttemptKey = given["key"]
        await self.check_live(store, incarnation_id, key, ask=True)
        found = given["found"]._replace(attempt=key.attempt)
        part = (given["offset"], given["data"], found)
        return await _in_thread(self._spool.write_checkpoint, _place(terms), key, *part)

    async def find_checkpoint(
        self, store: LinkedStore, incarnation_id: int, key: AttemptKey
    ) -> CheckpointFound | None:
        """Find the checkpoint of the job of a live attempt. Raise `LinkRefused`."""
        await self.check_live(store, incarnation_id, key)
        return await asyncio.to_thread(self._spool.find_checkpoint, key.batch_id, key.job_id)

    async def read_checkpoint(
        self, store: LinkedStore, incarnation_id: int, key: AttemptKey, offset: int
    ) -> bytes:
        """Read a part of it. Raise `LinkRefused`."""
        await self.check_live(store, incarnation_id, key)
        return await asyncio.to_thread(
            self._spool.read_checkpoint, key.batch_id, key.job_id, offset, LOG_BYTES_MAX
        )

    async def check_live(
        self, store: LinkedStore, incarnation_id: int, *keys: AttemptKey, ask: bool = False
    ) -> None:
        """Raise `LinkRefused` unless the worker has these attempts. `ask`: do not remember."""
        live = await self._keys(store, incarnation_id, keys, ask=ask)
        if not all(key in live for key in keys):
            raise refused("It is about the output of an attempt that this worker has not.")


def _place(terms: LinkTerms) -> str:
    if terms.log_place is None:
        raise refused("The worker did not say at its registration that it keeps output.")
    return terms.log_place


async def _in_thread(write: Callable[..., Done], *arguments: object) -> Done:
    """Let a thread write. Raise `LinkFrameRefused`, `SpoolFull`, `DiskFull`."""
    try:
        return await asyncio.to_thread(write, *arguments)
    except ValueError as error:
        raise wrong_frame(str(error)) from error
    except (SpoolFull, DiskFull):
        metrics.SPOOL_REFUSALS.inc()
        raise
