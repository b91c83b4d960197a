"""Bring what grows in a directory of output to a bucket: a pack every few seconds.

A pack holds output of one tenant; of several tenants, those that have waited longest are next. So
a worker makes as few objects as it makes packs, and packs that are small become one (`_merged`).
What could not be shipped waits in its files. No part of a worker waits for this.
"""

import asyncio
import os
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from weft.core.errors import WeftError
from weft.core.states import AttemptKey
from weft.faults import fault_point
from weft.plugins.log_stores.s3.bucket import (
    GONE,
    LogBucket,
    Part,
    Record,
    joined,
    pack_of,
    records_of,
)
from weft.plugins.log_stores.s3.changes import Changes, ToLookAt, written_since
from weft.telemetry import metrics
from weft.telemetry.log import log
from weft.wire.log_format import attempt_of, log_sizes
from weft.wire.plain_files import open_plain
from weft.wire.usage_format import usage_path

TenantsOf = Callable[[Collection[tuple[int, int]]], Awaitable[Mapping[int, int]]]
"""Of batches, asked by one job of each; those that the database does not know are left out."""
MERGED: Final = 60
_TURNS_MAX: Final = 2
"""What a job prints is in the bucket after this number of turns, however many tenants print."""
_AWAY_S_MAX: Final = 60.0
_LAST_S: Final = 8.0
_KEYS_MAX: Final = 10_000
_PARTS_MAX: Final = 100_000
_RECORD_BYTES: Final = 4 << 20
"""No record is longer."""
_MARGIN_NS: Final = 2_000_000_000
_NOT_SHIPPED: Final = (".checkpoint", ".arriving")
_USAGE: Final = usage_path("")
_after_pack = fault_point("agent.after_pack")


@dataclass(frozen=True, kw_only=True)
class ShipTerms:
    """How output is shipped."""

    every_s: float
    pack_bytes_max: int
    marker: str = "shipped"
    """The file that says since when something may not be shipped."""


class _Made(NamedTuple):
    """A pack that was shipped, and may become part of a larger one."""

    names: tuple[str, ...]
    parts: Sequence[Part]
    batches: frozenset[int]
    n_bytes: int


class BucketShipper:
    """Ships one directory. `below`: the beginning of the names of its packs."""

    def __init__(
        self,
        root: Path,
        below: str,
        bucket: LogBucket,
        tenants_of: TenantsOf,
        terms: ShipTerms,
        changes: Changes,
    ) -> None:
        self.changes = changes
        self._root = root
        self._below = below
        self._bucket = bucket
        self._tenants_of = tenants_of
        self._terms = terms
        self._taken: OrderedDict[AttemptKey, dict[str, int]] = OrderedDict()
        """How much of the files of these attempts is shipped, or waits."""
        self._segments: dict[int, int] = {}
        self._waiting: dict[int, list[tuple[int, Part]]] = {}
        """What is to be shipped of each tenant, in order, with its batch."""
        self._made: dict[tuple[int, int], list[_Made]] = {}
        """By tenant and by how often they were merged."""
        self._last_ms = 0

    async def run(self) -> None:
        """Ship what grows, until cancelled; then what is left."""
        away_s = 0.0
        try:
            await self._recover()
            while True:
                await self.changes.happened.wait()
                await asyncio.sleep(max(self._terms.every_s, away_s))
                try:
                    await self.ship()
                    away_s = 0.0
                except Exception as error:
                    is_known = isinstance(error, WeftError | OSError)
                    away_s = min(_AWAY_S_MAX, 2 * max(away_s, self._terms.every_s))
                    metrics.LOG_PACKS.labels("failed").inc()
                    log.warning("logs.not_in_bucket", error=f"{error}", exc_info=not is_known)
                if self._waiting:
                    self.changes.happened.set()
        except asyncio.CancelledError:
            with suppress(WeftError, OSError, TimeoutError):
                async with asyncio.timeout(_LAST_S):
                    await self.ship()
                    while self._waiting:
                        await self._ship_next()
            raise

    async def ship(self) -> None:
        """Ship a pack, or as many as half the tenants that wait, so that none of them waits for
        more than two turns; as long as packs are full, the next one, too. Raise `LogBucketAway`,
        `Unavailable`, `OSError`.
        """
        began_ns = time.time_ns()
        await self._collect()
        left = -(-len(self._waiting) // _TURNS_MAX)
        while self._waiting and left > 0:
            if await self._ship_next():
                await self._collect()
            else:
                left -= 1
        if not self._waiting and self.changes.is_complete:
            await asyncio.to_thread(self._mark, began_ns)

    async def _recover(self) -> None:
        """Look at what was written since all was shipped."""
        try:
            since_ns = int((self._root / self._terms.marker).read_text())
        except (FileNotFoundError, ValueError):
            await asyncio.to_thread(self._mark, time.time_ns())
            return
        found = await asyncio.to_thread(written_since, self._root, since_ns)
        if found.keys or found.segments:
            self.changes.give_back(found)

    def _mark(self, at_ns: int) -> None:
        with suppress(OSError):
            self._root.mkdir(mode=0o700, parents=True, exist_ok=True)
            fresh = self._root / f"{self._terms.marker}~"
            fresh.write_text(str(at_ns - _MARGIN_NS))
            fresh.replace(self._root / self._terms.marker)

    async def _collect(self) -> None:
        """Note what has grown, unless there is enough to ship."""
        waiting = sum(part.length for parts in self._waiting.values() for _, part in parts)
        if waiting >= self._terms.pack_bytes_max:
            return
        if not self.changes.is_complete:
            self.changes.is_complete = True
            await self._recover()
        taken = self.changes.take()
        try:
            await self._note(taken)
        except BaseException:
            self.changes.give_back(taken)
            raise

    async def _note(self, taken: ToLookAt) -> None:
        sizes = await asyncio.to_thread(
            log_sizes, self._root, list(taken.keys), sorted(taken.segments)
        )
        parts: list[tuple[AttemptKey, Part]] = []
        ends: dict[AttemptKey, dict[str, int]] = {key: {} for key in taken.keys}
        segments: dict[int, int] = {}
        for path, size in sizes.items():
            key = attempt_of(path)
            if key is None:
                number = int(path.rpartition("/")[2])
                begin = self._segments.get(number, 0)
                records, segments[number], is_more = await asyncio.to_thread(
                    _records, self._root / path, begin, self._terms.pack_bytes_max
                )
                parts += [(one.key, Part(path, one.offset, one.length)) for one in records]
                if is_more:
                    self.changes.give_back(ToLookAt(frozenset(), frozenset({number})))
            elif not path.endswith(_NOT_SHIPPED):
                ends[key][path] = size
        for key, files in ends.items():
            parts += [(key, part) for part in _grown(self._taken.get(key, {}), files)]
        jobs = {key.batch_id: (key.batch_id, key.job_id) for key, _ in parts}
        tenants = await self._tenants_of(jobs.values()) if jobs else {}
        for key, part in parts:
            if (tenant := tenants.get(key.batch_id)) is not None:
                self._waiting.setdefault(tenant, []).append((key.batch_id, part))
        self._segments.update(segments)
        for key, files in ends.items():
            if files or key in self._taken:
                self._taken[key] = files
                self._taken.move_to_end(key)
        while len(self._taken) > max(_KEYS_MAX, len(taken.keys)):
            self._taken.popitem(last=False)

    async def _ship_next(self) -> bool:
        """Ship a pack of the tenant who has waited longest; say whether it is full."""
        tenant, waiting = next(iter(self._waiting.items()))
        self._waiting[tenant] = self._waiting.pop(tenant)  # behind the others, also if this fails
        some, rest = _first_of(waiting, self._terms.pack_bytes_max)
        parts = joined(part for _, part in some)
        made = _Made(
            (),
            parts,
            frozenset(batch for batch, _ in some),
            sum(max(0, part.length) for part in parts),
        )
        merged, level = self._merged(tenant, made)
        found = await asyncio.to_thread(_read, self._root, merged.parts)
        if merged.names and len(found) < len(merged.parts):  # the bucket has more than is here
            merged, level = made, 0
            found = await asyncio.to_thread(_read, self._root, merged.parts)
        if found:
            self._last_ms = max(self._last_ms + 1, time.time_ns() // 1_000_000)
            name, data = pack_of(self._last_ms, tenant, merged.batches, found)
            await self._bucket.put(self._below + name, data)
            _after_pack()
            metrics.LOG_PACKS.labels("shipped").inc()
            metrics.LOG_PACK_BYTES.inc(len(data))
            for below in range(level):
                self._made[tenant, below] = []
            known = self._made.setdefault((tenant, level), [])
            if len(known) >= MERGED:  # they are too large to become one
                known.clear()
            known.append(merged._replace(names=(name,)))
        if rest:
            self._waiting[tenant] = rest
        else:
            del self._waiting[tenant]
        for old in merged.names if found else ():
            await self._bucket.remove(self._below + old)
        return bool(rest)

    def _merged(self, tenant: int, made: _Made) -> tuple[_Made, int]:
        """Return what the next pack holds: also that of earlier ones, if there are many."""
        level = 0
        while len(known := self._made.get((tenant, level), [])) >= MERGED - 1:
            n_bytes = sum(one.n_bytes for one in known) + made.n_bytes
            n_parts = sum(len(one.parts) for one in known) + len(made.parts)
            if n_bytes > self._terms.pack_bytes_max or n_parts > _PARTS_MAX:
                break
            parts = joined(part for one in (*known, made) for part in one.parts)
            made = _Made(
                (*(name for one in known for name in one.names), *made.names),
                parts,
                made.batches.union(*(one.batches for one in known)),
                n_bytes,
            )
            level += 1
        return made, level


def _grown(known: Mapping[str, int], files: Mapping[str, int]) -> Iterable[Part]:
    """Yield what the files of an attempt have more than what is known."""
    for path in known.keys() - files.keys():
        yield Part(path, 0, GONE)
    for path, size in sorted(files.items()):
        begin = known.get(path, 0)
        if path.endswith(_USAGE):
            if size != begin:  # it is written anew
                yield Part(path, 0, size)
        elif size != begin:
            begin = begin if begin < size else 0
            yield Part(path, begin, size - begin)


def _first_of(
    parts: list[tuple[int, Part]], bytes_max: int
) -> tuple[list[tuple[int, Part]], list[tuple[int, Part]]]:
    """Return what fits, and the rest. Files of attempts are cut anywhere."""
    room = bytes_max
    for index, (batch_id, part) in enumerate(parts):
        if part.length <= room:
            room -= max(0, part.length)
            continue
        if part.segment is None and not part.path.endswith(_USAGE) and room:
            first = (batch_id, part._replace(length=room))
            rest = (batch_id, Part(part.path, part.offset + room, part.length - room))
            return [*parts[:index], first], [rest, *parts[index + 1 :]]
        cut = max(index, 1)  # a record that is larger than a pack has one of its own
        return parts[:cut], parts[cut:]
    return parts, []


def _read(root: Path, parts: Sequence[Part]) -> list[tuple[Part, bytes]]:
    """Read parts; those of files that are gone, or shorter, are left out."""
    found = []
    for part in parts:
        data = b""
        if part.length != GONE:
            try:
                fd = open_plain(root / part.path, os.O_RDONLY)
            except FileNotFoundError:
                continue
            try:
                data = os.pread(fd, part.length, part.offset)
            finally:
                os.close(fd)
            if len(data) < part.length:
                continue
        found.append((part, data))
    return found


def _records(file: Path, offset: int, n_bytes: int) -> tuple[list[Record], int, bool]:
    """Return the records from an offset on, where they end, and whether there may be more."""
    n_bytes = max(n_bytes, _RECORD_BYTES)
    with suppress(FileNotFoundError), open(file, "rb", opener=open_plain) as opened:
        data = os.pread(opened.fileno(), n_bytes, offset)
        found, end = records_of(data, offset)
        return found, end, len(data) == n_bytes
    return [], offset, False
