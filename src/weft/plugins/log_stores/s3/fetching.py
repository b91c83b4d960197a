"""Lay the output of attempts out again, from packs of a bucket, as files below one directory.

These files are copies: the oldest go when there are too many bytes of them.
"""

import asyncio
import os
import shutil
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import msgspec

from weft.core.states import AttemptKey
from weft.plugins.log_stores.s3.bucket import GONE, Head, LogBucket, PackGone, PackName, Part
from weft.ports.log_store import AttemptLog
from weft.wire import log_format
from weft.wire.plain_files import open_plain
from weft.wire.usage_format import usage_path

_HEADS_MAX: Final = 2_000
_FETCHED_MAX: Final = 10_000
_AT_ONCE: Final = 16
_GUESS_BYTES: Final = 16 << 10
_MARGIN_MS: Final = 600_000
"""How much later than a pack of a later name one may appear: two apis may have two clocks."""
LATE_S: Final = 15.0
_AGAIN_S: Final = 0.5
_UNUSED_S: Final = 300.0
_USAGE: Final = usage_path("")


@dataclass
class _Listed:
    """The packs of one folder."""

    names: dict[str, PackName] = field(default_factory=dict)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    n_looks: int = 0


@dataclass
class Fetched:
    """What is laid out of one attempt."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    packs: set[str] = field(default_factory=set)
    has_record: bool = False
    is_whole: bool = False
    n_bytes: int = 0
    used_at: float = 0.0
    first_at: float | None = None
    """When it was missed first."""


class Fetching:
    """Fetches what is asked for. Raises `LogBucketAway`."""

    def __init__(self, bucket: LogBucket, root: Path, bytes_max: int) -> None:
        self._bucket = bucket
        self.root = root
        self._bytes_max = bytes_max
        self._listed: OrderedDict[str, _Listed] = OrderedDict()
        self._heads: OrderedDict[str, Head] = OrderedDict()
        self._fetched: OrderedDict[tuple[str, AttemptKey], Fetched] = OrderedDict()
        self._n_bytes = 0
        """Of all of them."""
        self._free = asyncio.Semaphore(_AT_ONCE)
        shutil.rmtree(root, ignore_errors=True)  # nobody knows how much of it is whole

    def directory(self, folder: str) -> Path:
        """Return where output of a folder is laid out."""
        return self.root / folder

    async def fetch(
        self, log: AttemptLog, has_all: Callable[[], Awaitable[bool]], *, beside: bool = False
    ) -> None:
        """Lay out what there is of an attempt. Of one that has ended and whose last output is on
        its way, wait for it for some seconds. `beside`: also what is beside a short output.
        """
        assert log.directory is not None
        key = AttemptKey(log.batch_id, log.job_id, log.attempt)
        at = (log.directory.name, key)
        fetched = self._fetched[at] = self._fetched.pop(at, Fetched())
        fetched.used_at = time.monotonic()
        async with fetched.lock:
            while beside or not fetched.is_whole:
                await self._fetch(log, key, fetched, beside=beside or log.location is None)
                fetched.is_whole = log.ended and await has_all()
                if not log.ended or fetched.is_whole or log.reason == "lost":  # no more will come
                    break
                fetched.first_at = fetched.first_at or time.monotonic()
                if time.monotonic() - fetched.first_at > LATE_S:
                    break
                await asyncio.sleep(_AGAIN_S)
        if unused := self._take_unused():
            await asyncio.to_thread(_remove, unused)

    async def _fetch(
        self, log: AttemptLog, key: AttemptKey, fetched: Fetched, *, beside: bool
    ) -> None:
        assert log.directory is not None
        below = f"{log.directory.path.removeprefix(self._bucket.url).strip('/')}/"
        below = f"{below}{log.directory.name}/"
        record = None if log.location is None else log_format.decode_location(log.location)
        for _ in range(2):
            listed = await self._look(below)
            try:
                names = [
                    name
                    for name in listed.names.values()
                    if name.text not in fetched.packs and name.may_hold(key.batch_id, None)
                ]
                if record is not None and not fetched.has_record:
                    holding = [name for name in names if name.may_hold(key.batch_id, record)]
                    await self._lay_out_record(log, below, holding, key, record, fetched)
                if beside:
                    await self._lay_out(log, below, names, key, fetched)
            except PackGone:  # it became part of another one, or its batch was deleted
                listed.names.clear()
            else:
                return

    async def _look(self, below: str) -> _Listed:
        """List the packs that have come."""
        listed = self._listed.setdefault(below, _Listed())
        n_looks = listed.n_looks
        async with listed.lock:
            if listed.n_looks > n_looks:  # somebody else has looked since
                return listed
            last = max((one.made_ms for one in listed.names.values()), default=0)
            after = f"{below}{last - _MARGIN_MS:013d}" if last > _MARGIN_MS else ""
            async for name in self._bucket.names(below, after=after):
                text = name.removeprefix(below)
                if text not in listed.names and (one := PackName.read(text)) is not None:
                    listed.names[text] = one
            listed.n_looks += 1
        return listed

    async def head_of(self, below: str, name: PackName) -> Head:
        """Return the head of a pack. Raise `PackGone`."""
        at = below + name.text
        if at not in self._heads:
            async with self._free:
                (data,) = await self._bucket.get_ranges(at, [(0, name.head_bytes)])
            self._heads[at] = msgspec.msgpack.decode(data, type=Head)
            while len(self._heads) > _HEADS_MAX:
                self._heads.popitem(last=False)
        return self._heads[at]

    async def _lay_out(
        self,
        log: AttemptLog,
        below: str,
        names: Sequence[PackName],
        key: AttemptKey,
        found: Fetched,
    ) -> None:
        """Lay out the files of an attempt."""

        async def fetch(name: PackName) -> list[tuple[Part, bytes]]:
            head = await self.head_of(below, name)
            at, parts, ranges = name.head_bytes, [], []
            for part in head.parts:
                end = at + max(0, part.length)
                if log_format.attempt_of(part.path) == key:
                    parts.append(part)
                    ranges.append((at, end))
                at = end
            async with self._free:
                filled = [one for one in ranges if one[1] > one[0]]
                data = iter(await self._bucket.get_ranges(below + name.text, filled))
            return [
                (part, next(data) if end > start else b"")
                for part, (start, end) in zip(parts, ranges, strict=True)
            ]

        names = sorted(names, key=lambda one: one.text)
        fetched = await asyncio.gather(*[fetch(name) for name in names])
        for name, parts in zip(names, fetched, strict=True):
            assert log.directory is not None
            root = self.directory(log.directory.name)
            for part, data in parts:
                await asyncio.to_thread(_write, root, part, data)
                self._count(found, data)
            found.packs.add(name.text)

    async def _lay_out_record(
        self,
        log: AttemptLog,
        below: str,
        names: Sequence[PackName],
        key: AttemptKey,
        record: tuple[int, int],
        fetched: Fetched,
    ) -> None:
        """Lay out a record as the attempt's own file."""
        segment, offset = record
        for name in names:
            at = name.head_bytes
            for part in (await self.head_of(below, name)).parts:
                if part.segment == segment and part.offset <= offset < part.end:
                    start, stop = at + offset - part.offset, at + part.length
                    data = await self._record(below + name.text, start, stop, key)
                    if data is not None:
                        await asyncio.to_thread(_write_record, self._own(log), data)
                        self._count(fetched, data)
                        fetched.has_record = True
                        return
                at += max(0, part.length)

    async def _record(self, name: str, start: int, stop: int, key: AttemptKey) -> bytes | None:
        """Return the pieces of a record; None: it is another attempt's."""
        async with self._free:
            (data,) = await self._bucket.get_ranges(
                name, [(start, min(stop, start + _GUESS_BYTES))]
            )
            length = log_format.record_length(data, key.batch_id, key.job_id, key.attempt)
            if length is None:
                return None
            end = start + log_format.RECORD.size + length
            if len(data) < end - start:
                (rest,) = await self._bucket.get_ranges(name, [(start + len(data), end)])
                data += rest
        return data[log_format.RECORD.size : end - start]

    def _own(self, log: AttemptLog) -> Path:
        assert log.directory is not None
        return log_format.own_path(
            self.directory(log.directory.name), log.batch_id, log.job_id, log.attempt
        )

    def _count(self, fetched: Fetched, data: bytes) -> None:
        fetched.n_bytes += len(data)
        self._n_bytes += len(data)

    def _take_unused(self) -> list[Path]:
        """Forget what was not read for some minutes, the oldest first, if there is too much or
        there are too many; return their files.
        """
        files, before = [], time.monotonic() - _UNUSED_S
        while self._n_bytes > self._bytes_max or len(self._fetched) > _FETCHED_MAX:
            (folder, key), fetched = next(iter(self._fetched.items()))
            if fetched.used_at > before or fetched.lock.locked():
                break
            del self._fetched[folder, key]
            self._n_bytes -= fetched.n_bytes
            root = self.directory(folder)
            files.append(log_format.own_path(root, key.batch_id, key.job_id, key.attempt))
        return files


def _remove(files: Sequence[Path]) -> None:
    for own in files:
        for path in [own, *own.parent.glob(f"{own.name}.*")]:
            path.unlink(missing_ok=True)


def _write(root: Path, part: Part, data: bytes) -> None:
    path = root / part.path
    if part.length == GONE:
        path.unlink(missing_ok=True)
        return
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with os.fdopen(open_plain(path, os.O_WRONLY | os.O_CREAT), "wb") as file:
        if path.name.endswith(_USAGE):
            file.truncate(0)
        file.seek(part.offset)
        file.write(data)


def _write_record(own: Path, data: bytes) -> None:
    own.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    result, output = b"", b""
    for piece in log_format.decode_pieces(data):
        if piece.kind == log_format.RESULT:
            result = piece.data
        else:
            output += log_format.encode_piece(*piece)
    for path, content in ((own, output), (own.with_name(f"{own.name}.result"), result)):
        if content or path == own:
            with open(path, "wb", opener=open_plain) as file:
                file.write(content)
