"""Remove output of deleted batches from the bucket, and from the copies of an api.

Any api that reads the bucket does it, since the worker's machine may be gone. Two at once do no
harm: both write the same, or remove what is removed.
"""

import asyncio
from collections import OrderedDict, defaultdict
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Final

import msgspec

from weft.core.errors import WeftError
from weft.plugins.log_stores.files.plugin import FileLogKeeper
from weft.plugins.log_stores.s3.bucket import Head, LogBucket, PackGone, PackName, pack_of, without
from weft.telemetry import metrics
from weft.telemetry.log import log

_ASKED_MAX: Final = 1_000
_HEADS_MAX: Final = 100_000


class BucketKeeping:
    """Looks at the packs of one database from time to time."""

    def __init__(
        self,
        bucket: LogBucket,
        copies: Path,
        list_removed: Callable[[Sequence[int]], Awaitable[Sequence[int]]],
    ) -> None:
        self._bucket = bucket
        self._copies = copies
        self._list_removed = list_removed
        self._batches: OrderedDict[str, frozenset[int]] = OrderedDict()
        """Of packs whose names do not tell them."""

    async def run(self, below: str, every_s: float) -> None:
        """Look again and again, until cancelled."""
        while True:
            try:
                await self.look(below)
            except (WeftError, OSError) as error:
                log.warning("bucket.not_looked_at", error=f"{error}")
            await asyncio.sleep(every_s)

    async def look(self, below: str) -> None:
        """Remove what is to go. `below`: the beginning of the names of the database's packs."""
        packs: defaultdict[int, set[str]] = defaultdict(set)
        async for name in self._bucket.names(below):
            try:
                for batch_id in await self._batches_of(name):
                    packs[batch_id].add(name)
            except PackGone:
                continue
        copies = [path for path in self._copies.glob("*/") if path.is_dir()]
        keepers = [FileLogKeeper(copy) for copy in copies]
        known = set(packs)
        for keeper in keepers:
            known.update(await keeper.batches())
        removed = frozenset(await self._removed(sorted(known)))
        for keeper in keepers:
            await keeper.remove(sorted(removed))
        for name in sorted({name for batch in removed for name in packs[batch]}):
            n_bytes = await self._remove(name, removed)
            metrics.LOG_BUCKET_BYTES_REMOVED.inc(n_bytes)
            log.info("bucket.removed", bytes=n_bytes)

    async def _removed(self, batch_ids: Sequence[int]) -> list[int]:
        found: list[int] = []
        for first in range(0, len(batch_ids), _ASKED_MAX):
            found += await self._list_removed(batch_ids[first : first + _ASKED_MAX])
        return found

    async def _batches_of(self, name: str) -> frozenset[int]:
        one = PackName.read(name.rpartition("/")[2])
        if one is None:
            return frozenset()
        if one.batches is not None:
            return one.batches
        if name not in self._batches:
            (data,) = await self._bucket.get_ranges(name, [(0, one.head_bytes)])
            head = msgspec.msgpack.decode(data, type=Head)
            self._batches[name] = frozenset(head.batches)
            while len(self._batches) > _HEADS_MAX:
                self._batches.popitem(last=False)
        return self._batches[name]

    async def _remove(self, name: str, removed: frozenset[int]) -> int:
        """Write a pack again without these batches; return by how much it is less."""
        folder, _, text = name.rpartition("/")
        one = PackName.read(text)
        assert one is not None, "it was read above"
        try:
            data = await self._bucket.get(name)
        except PackGone:
            return 0
        head = msgspec.msgpack.decode(data[: one.head_bytes], type=Head)
        left = await asyncio.to_thread(without, head, data[one.head_bytes :], removed)
        n_bytes = len(data)
        if left:
            batches = frozenset(head.batches) - removed
            fresh, body = pack_of(one.made_ms, one.tenant_id, batches, left)
            await self._bucket.put(f"{folder}/{fresh}", body)
            n_bytes -= len(body)
        await self._bucket.remove(name)
        return n_bytes
