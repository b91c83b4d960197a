"""What workers outside write: files of their live attempts only, and checkpoints, which the next
attempts read.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from weft.api.worker_link.refusals import refused, wrong_frame
from weft.core.attempt_key import AttemptKey
from weft.core.errors import SpoolFull
from weft.ports.checkpoints import CheckpointFound
from weft.ports.spool import Spool
from weft.ports.store import Claimed, EndReport
from weft.ports.worker_link import LISTED_MAX, LOG_BYTES_MAX, LinkedStore, LinkTerms, LogPart
from weft.telemetry import metrics
from weft.wire.log_format import attempt_of

_REMEMBERED_MAX: Final = 10_000


class LinkedOutput:
    """The calls about files of output. Which attempts are live is remembered, because a running
    one writes every second.
    """

    def __init__(self, spool: Spool) -> None:
        self._spool = spool
        self._live: OrderedDict[int, set[AttemptKey]] = OrderedDict()

    def begin(self, incarnation_id: int, claimed: Iterable[Claimed]) -> None:
        """Note attempts of an incarnation."""
        known = self._live.pop(incarnation_id, set())
        known.update(AttemptKey(one.batch_id, one.job_id, one.attempt) for one in claimed)
        self._live[incarnation_id] = known
        while len(self._live) > _REMEMBERED_MAX:
            self._live.popitem(last=False)

    def end(self, incarnation_id: int, reports: Iterable[EndReport]) -> None:
        """Forget attempts whose ends are recorded."""
        if known := self._live.get(incarnation_id):
            known -= {AttemptKey(one.batch_id, one.job_id, one.attempt) for one in reports}

    async def write(
        self, store: LinkedStore, terms: LinkTerms, incarnation_id: int, given: Mapping[str, Any]
    ) -> int:
        """Keep a part of a file. Raise `LinkRefused`, `LinkFrameRefused`, `SpoolFull`."""
        path, data = given["path"], given["data"]
        if len(data) > LOG_BYTES_MAX:
            raise wrong_frame(f"it has more than {LOG_BYTES_MAX} bytes of output")
        if (key := attempt_of(path)) is not None:
            await self._check_live(store, incarnation_id, key)
        try:
            return await asyncio.to_thread(
                self._spool.write, _place(terms), path, given["offset"], data
            )
        except ValueError as error:
            raise wrong_frame(str(error)) from error
        except SpoolFull:
            metrics.SPOOL_REFUSALS.inc()
            raise

    async def write_many(
        self, store: LinkedStore, terms: LinkTerms, incarnation_id: int, parts: Sequence[LogPart]
    ) -> list[int]:
        """Keep parts of many files; see the port. Raise `LinkRefused`, `LinkFrameRefused`."""
        if len(parts) > LISTED_MAX or sum(len(one.data) for one in parts) > LOG_BYTES_MAX:
            raise wrong_frame(f"it has more than {LOG_BYTES_MAX} bytes or {LISTED_MAX} parts")
        root = _place(terms)
        keys = {one.path: key for one in parts if (key := attempt_of(one.path)) is not None}
        if not self._live.get(incarnation_id, set()).issuperset(keys.values()):
            self.begin(incarnation_id, await store.list_live(incarnation_id))
        live = self._live.get(incarnation_id, set())
        others = {path for path, key in keys.items() if key not in live}

        def write(one: LogPart) -> int:
            if one.path in others:
                return -1
            try:
                return self._spool.write(root, one.path, one.offset, one.data)
            except SpoolFull:
                metrics.SPOOL_REFUSALS.inc()
                return -1

        try:
            return await asyncio.to_thread(lambda: [write(one) for one in parts])
        except ValueError as error:
            raise wrong_frame(str(error)) from error

    async def remove(
        self, store: LinkedStore, terms: LinkTerms, incarnation_id: int, given: Mapping[str, Any]
    ) -> None:
        """Forget files of live attempts, and batches that were deleted."""
        paths = given["paths"]
        batches: dict[int, str] = {}
        for path in paths:
            if (key := attempt_of(path)) is not None:
                await self._check_live(store, incarnation_id, key)
            elif (number := path.removeprefix("attempts/b")).isdecimal():
                batches[int(number)] = path
        if batches:
            removed = set(await store.list_removed(sorted(batches)))
            paths = [path for path in paths if path not in batches.values()]
            paths += [path for one, path in batches.items() if one in removed]
        try:
            await asyncio.to_thread(self._spool.remove, _place(terms), paths)
        except ValueError as error:
            raise wrong_frame(str(error)) from error

    async def write_checkpoint(
        self, store: LinkedStore, terms: LinkTerms, incarnation_id: int, given: Mapping[str, Any]
    ) -> int:
        """Keep a part of a checkpoint. Raise `LinkRefused`, `LinkFrameRefused`, `SpoolFull`."""
        if len(given["data"]) > LOG_BYTES_MAX:
            raise wrong_frame(f"it has more than {LOG_BYTES_MAX} bytes of a checkpoint")
        key: AttemptKey = given["key"]
        await self._check_live(store, incarnation_id, key)
        found = given["found"]._replace(attempt=key.attempt)
        try:
            return await asyncio.to_thread(
                self._spool.write_checkpoint,
                _place(terms), key, given["offset"], given["data"], found,
            )  # fmt: skip
        except ValueError as error:
            raise wrong_frame(str(error)) from error
        except SpoolFull:
            metrics.SPOOL_REFUSALS.inc()
            raise

    async def find_checkpoint(
        self, store: LinkedStore, incarnation_id: int, key: AttemptKey
    ) -> CheckpointFound | None:
        """Find the checkpoint of the job of a live attempt. Raise `LinkRefused`."""
        await self._check_live(store, incarnation_id, key)
        return await asyncio.to_thread(self._spool.find_checkpoint, key.batch_id, key.job_id)

    async def read_checkpoint(
        self, store: LinkedStore, incarnation_id: int, key: AttemptKey, offset: int
    ) -> bytes:
        """Read a part of it. Raise `LinkRefused`."""
        await self._check_live(store, incarnation_id, key)
        return await asyncio.to_thread(
            self._spool.read_checkpoint, key.batch_id, key.job_id, offset, LOG_BYTES_MAX
        )

    async def _check_live(self, store: LinkedStore, incarnation_id: int, key: AttemptKey) -> None:
        if key not in self._live.get(incarnation_id, ()):
            self.begin(incarnation_id, await store.list_live(incarnation_id))
            if key not in self._live[incarnation_id]:
                raise refused("It is about the output of an attempt that this worker has not.")


def _place(terms: LinkTerms) -> str:
    if terms.log_place is None:
        raise refused("The worker did not say at its registration that it keeps output.")
    return terms.log_place
