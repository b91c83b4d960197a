"""The bucket with output of jobs, by obstore.

The site names it, not a tenant: so obstore may connect to it by itself (as it may not to stores of
tenants, ADR 119). What it raises may quote an answer, so its text is told to nobody.

Its objects are packs: output of one tenant, as parts of the files of a worker. The name says what
a reader must know before it reads anything: when it was made (which only orders the packs), whose
it is, which batches it holds, and which records of segments. Then comes the head, which names the
parts, and then their bytes in the same order.
"""

import asyncio
import os
import re
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, NamedTuple, Self

import msgspec

from weft.core.errors import LogBucketAway
from weft.core.states import AttemptKey
from weft.plugins.file_stores.s3.signing import NotSigned
from weft.wire.log_format import RECORD, RECORD_MAGIC, attempt_of, names_job
from weft.wire.usage_format import usage_path


class PackGone(Exception):
    """There is no such object, or not any more."""


class LogBucket:
    """Objects below one prefix. All raise `LogBucketAway`."""

    def __init__(self, url: str, prefix: str, find: Callable[[], Any]) -> None:
        """`find` opens the bucket, as obstore knows it; it raises `NotSigned`."""
        self.url = url
        """As `log_bucket` says it."""
        self._prefix = prefix
        self._find = find
        self._opened: Any = None

    async def put(self, name: str, data: bytes) -> None:
        """Store an object in one request: it is there whole or not at all."""
        with self._asking() as (obstore, store):
            await obstore.put_async(store, self._prefix + name, data, use_multipart=False)

    async def get(self, name: str) -> bytes:
        """Return an object. Raise `PackGone`."""
        with self._asking(for_pack=True) as (obstore, store):
            result = await obstore.get_async(store, self._prefix + name)
            return bytes(await result.bytes_async())

    async def get_ranges(self, name: str, ranges: Sequence[tuple[int, int]]) -> Sequence[bytes]:
        """Return parts of an object, by start and end. Raise `PackGone`."""
        if not ranges:
            return ()
        with self._asking(for_pack=True) as (obstore, store):
            ranges_async = await obstore.get_ranges_async(
                store,
                self._prefix + name,
                starts=[start for start, _ in ranges],
                ends=[end for _, end in ranges],
            )
            return [bytes(one) for one in ranges_async]

    async def names(self, below: str, *, after: str = "") -> AsyncIterator[str]:
        """Yield the names of objects below a name, in order, those behind another one."""
        with self._asking() as (obstore, store):
            listed = obstore.list(
                store,
                self._prefix + below,
                offset=self._prefix + after if after else None,
                chunk_size=1000,
            )
            async for some in listed:
                for one in some:
                    yield one["path"].removeprefix(self._prefix)

    async def remove(self, name: str) -> None:
        """Remove an object; none is right, too."""
        try:
            with self._asking(for_pack=True) as (obstore, store):
                await obstore.delete_async(store, self._prefix + name)
        except PackGone:
            return

    @contextmanager
    def _asking(self, *, for_pack: bool = False) -> Iterator[tuple[Any, Any]]:
        """Give obstore and the bucket, which it has opened, and translate errors. `for_pack`: for
        an object that may be gone; else what is not found is the bucket.
        """
        try:
            if self._opened is None:
                self._opened = self._find()
            import obstore  # noqa: PLC0415 (an extra, which is there by now)

            yield obstore, self._opened
        except (asyncio.CancelledError, GeneratorExit):
            raise
        except Exception as error:  # whatever it is, nobody is told its text
            if for_pack and isinstance(error, FileNotFoundError):
                raise PackGone from error
            why = str(error) if isinstance(error, NotSigned) else type(error).__name__
            raise LogBucketAway(
                f"the bucket {self.url} with output of jobs cannot be used now",
                detail=f"It was asked in vain ({why}).",
                hint="Look at `log_bucket` and the settings beside it, and at `store_buckets`.",
            ) from error


GONE: Final = -1
"""The length of a file that the worker has removed: the middle of a long output."""
_BATCHES_MAX: Final = 40
_MANY: Final = "many"
_NAME: Final = re.compile(
    r"(?P<made>[0-9]{13})[0-9a-f]{8}\.t(?P<tenant>[0-9]+)\.h(?P<head>[0-9]+)"
    r"\.s(?P<records>[0-9]+-[0-9]+-[0-9]+-[0-9]+|0)\.b(?P<batches>[0-9-]+|many)"
)
_SEGMENT: Final = re.compile(r"segments/([0-9]{8})")
_USAGE: Final = usage_path("")


class Part(NamedTuple):
    """Bytes of one file of a worker."""

    path: str
    offset: int
    length: int
    """`GONE`: there is no such file any more."""

    @property
    def end(self) -> int:
        """Return the offset behind it."""
        return self.offset + max(0, self.length)

    @property
    def segment(self) -> int | None:
        """Return the number of the segment that it is of."""
        match = _SEGMENT.fullmatch(self.path)
        return int(match[1]) if match else None


class Head(msgspec.Struct, frozen=True, array_like=True):
    """What a pack holds."""

    batches: Sequence[int]
    parts: Sequence[Part]


class PackName(NamedTuple):
    """The name of a pack, and what it says."""

    text: str
    made_ms: int
    tenant_id: int
    head_bytes: int
    first: tuple[int, int] | None
    """Segment and offset of its first record, and of the end of its last one."""
    last: tuple[int, int] | None
    batches: frozenset[int] | None
    """None: the head names them."""

    @classmethod
    def read(cls, text: str) -> Self | None:
        """Read a name; None: it is none."""
        match = _NAME.fullmatch(text)
        if match is None:
            return None
        numbers = [int(one) for one in match["records"].split("-")]
        first = last = None
        if len(numbers) > 1:
            first, last = (numbers[0], numbers[1]), (numbers[2], numbers[3])
        names = match["batches"]
        return cls(
            text,
            int(match["made"]),
            int(match["tenant"]),
            int(match["head"]),
            first,
            last,
            None if names == _MANY else frozenset(map(int, names.split("-"))),
        )

    def may_hold(self, batch_id: int, record: tuple[int, int] | None) -> bool:
        """Say whether output of a batch, or a record of it, may be in this pack."""
        if self.batches is not None and batch_id not in self.batches:
            return False
        if record is None:
            return True
        return (
            self.first is not None and self.last is not None and (self.first <= record < self.last)
        )


def pack_of(
    made_ms: int, tenant_id: int, batches: Iterable[int], parts: Sequence[tuple[Part, bytes]]
) -> tuple[str, bytes]:
    """Return the name and the bytes of a pack."""
    batches = sorted(set(batches))
    head = msgspec.msgpack.encode(Head(batches, [part for part, _ in parts]))
    records = [(n, part) for part, _ in parts if (n := part.segment) is not None]
    where = "0"
    if records:
        first = min((n, part.offset) for n, part in records)
        last = max((n, part.end) for n, part in records)
        where = "-".join(map(str, (*first, *last)))
    names = _MANY if len(batches) > _BATCHES_MAX else "-".join(map(str, batches))
    name = f"{made_ms:013d}{os.urandom(4).hex()}.t{tenant_id}.h{len(head)}.s{where}.b{names}"
    return name, b"".join([head, *(data for _, data in parts)])


def joined(parts: Iterable[Part]) -> list[Part]:
    """Return parts, in the order in which they were made, as few as they can be."""
    found: dict[str, list[Part]] = {}
    for part in parts:
        known = found.setdefault(part.path, [])
        if part.length == GONE or part.path.endswith(_USAGE):
            known[:] = [part]
        elif known and part.offset == known[-1].end and known[-1].length != GONE:
            known[-1] = Part(part.path, known[-1].offset, part.end - known[-1].offset)
        else:
            known.append(part)
    return [part for some in found.values() for part in some]


class Record(NamedTuple):
    """One record of a segment."""

    key: AttemptKey
    offset: int
    length: int
    """With its header."""


def records_of(data: bytes, offset: int) -> tuple[list[Record], int]:
    """Return the whole records at the start of a segment's bytes at an offset, and their end."""
    found, at = [], 0
    while at + RECORD.size <= len(data):
        magic, batch_id, job_id, attempt, length = RECORD.unpack_from(data, at)
        end = at + RECORD.size + length
        if end > len(data):
            break
        if magic == RECORD_MAGIC and names_job(batch_id, job_id):
            key = AttemptKey(batch_id, job_id, attempt)
            found.append(Record(key, offset + at, RECORD.size + length))
        at = end
    return found, offset + at


def without(head: Head, data: bytes, batches: frozenset[int]) -> list[tuple[Part, bytes]]:
    """Return the parts of a pack that are not of these batches. `data`: behind the head."""
    left: list[tuple[Part, bytes]] = []
    at = 0
    for part in head.parts:
        length = max(0, part.length)
        body, at = data[at : at + length], at + length
        key = attempt_of(part.path)
        if key is not None:
            if key.batch_id not in batches:
                left.append((part, body))
            continue
        for record in records_of(body, part.offset)[0]:
            if record.key.batch_id not in batches:
                begin = record.offset - part.offset
                kept = Part(part.path, record.offset, record.length)
                left.append((kept, body[begin : begin + record.length]))
    return left
