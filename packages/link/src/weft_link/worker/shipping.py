"""Bring the output of this worker's attempts to the api, while they run and when they end.

The spawner writes as ever, into files that only grow. Each is copied from where the api's copy
ends; of an attempt that ran before this process began, the api is asked where that is.
"""

import asyncio
import os
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from weft.core.errors import DiskFull, LinkFrameRefused, LinkRefused, SpoolFull, Unavailable
from weft.core.states import AttemptKey
from weft.ports.store import EndReport
from weft.ports.worker_link import LOG_BYTES_MAX, LogPart
from weft.telemetry.log import log
from weft.wire.log_format import decode_location, log_sizes, own_path, segment_path
from weft_link.worker.calls import LinkCaller

EVERY_S: Final = 0.5
FULL_S: Final = 5.0
"""Between looks while the api's disk is full."""
_PIECE_BYTES: Final = LOG_BYTES_MAX // 2
_AT_ONCE: Final = 250
_SMALL_BYTES: Final = 64 << 10
"""What a file that prints steadily grows by while the others are shipped."""


class Shipper:
    """Ships the files of attempts below one directory."""

    def __init__(self, caller: LinkCaller) -> None:
        self._caller = caller
        self.root: Path | None = None
        """Known before the first registration."""
        self._live: set[AttemptKey] = set()
        self._has_live = asyncio.Event()
        self._sent: dict[str, int] = {}
        """How much of each file the api has."""
        self._cut: set[str] = set()
        """Files of which the api keeps no more."""
        self._cut_for_now: set[str] = set()
        """Those of them for which its disk has no room: they are tried again at each look."""
        self._full: DiskFull | None = None
        """Said in this look, or the last: nothing more is sent in it, the next one is later."""
        self._shipping = asyncio.Lock()
        self.unshipped_bytes = 0
        """Of the attempts of the last look, until all of it has arrived."""

    def follow(self, keys: Iterable[AttemptKey]) -> None:
        """Ship what these attempts write from now on, until they are shipped as ended."""
        self._live.update(keys)
        if self._live:
            self._has_live.set()

    async def run(self) -> None:
        """Ship what grows, until cancelled."""
        while True:
            await self._has_live.wait()
            await asyncio.sleep(EVERY_S if self._full is None else FULL_S)
            try:
                await self._ship(self._live, ())
            except Exception as error:  # noqa: BLE001 (whatever it is, more output comes)
                if not isinstance(error, Unavailable):
                    log.warning("logs.not_shipped", error=f"{error}")
                await asyncio.sleep(EVERY_S)

    async def ship_ended(self, reports: Sequence[EndReport]) -> Sequence[EndReport]:
        """Ship all that these attempts have written; return the reports, which say so if the api
        has not all of it. Raise `Unavailable`; what fails otherwise is logged, since a job has
        ended whether or not its output can be kept.
        """
        keys = {AttemptKey(report.batch_id, report.job_id, report.attempt) for report in reports}
        locations = {report.location for report in reports if report.location is not None}
        segments = {decode_location(location)[0] for location in locations}
        try:
            await self._ship(keys, sorted(segments))
        except Unavailable:
            raise
        except Exception as error:  # noqa: BLE001 (as the sentence above says)
            log.warning("logs.not_shipped", error=f"{error}")
        told = [self._told(report) for report in reports]
        self._live -= keys
        for key in keys:
            for path in self._known_of(key):
                del self._sent[path]
                self._cut.discard(path)
                self._cut_for_now.discard(path)
        if not self._live:
            self._has_live.clear()
        return told

    def _told(self, report: EndReport) -> EndReport:
        if report.location is not None:
            assert self.root is not None, "output is shipped after the start only"
            segment, offset = decode_location(report.location)
            path = str(segment_path(self.root, segment).relative_to(self.root))
            is_whole = self._sent.get(path, 0) > offset
        else:
            key = AttemptKey(report.batch_id, report.job_id, report.attempt)
            is_whole = self._cut.isdisjoint(self._known_of(key))
        return report if is_whole else msgspec.structs.replace(report, truncated=True)

    async def _ship(self, keys: Iterable[AttemptKey], segments: Sequence[int]) -> None:
        assert self.root is not None, "output is shipped after the start only"
        keys = list(keys)  # more may come meanwhile
        async with self._shipping:
            self._cut -= self._cut_for_now
            found = await asyncio.to_thread(log_sizes, self.root, keys, segments)
            sizes = {path: size for path, size in found.items() if path not in self._cut}
            self.unshipped_bytes = sum(
                max(0, size - self._sent.get(path, 0)) for path, size in sizes.items()
            )
            if self._full is None:
                await self._ship_many(sizes)
            self._full = None  # the first file shows whether there is room again
            for path, size in sizes.items():
                if self._sent.get(path) == size:
                    continue
                if self._full is None:
                    self._full = await self._ship_or_cut(path, size)
                else:
                    self._cut_off(path, self._full)
            gone = [path for key in keys for path in self._known_of(key) if path not in found]
            if gone:  # the middle of a long output
                await self._caller.call("remove_logs", self._caller.incarnation_id, gone)
                for path in gone:
                    del self._sent[path]
            self.unshipped_bytes = 0

    async def _ship_many(self, sizes: Mapping[str, int]) -> None:
        """Ship what many files have grown by a little in few calls. What is left is shipped file
        by file: long pieces, files that were written anew, and what is refused.
        """
        with suppress(LinkFrameRefused):  # an api of the previous release takes one at a time
            await self._write_many([(path, 0, 0) for path in sizes if path not in self._sent])
            grown = [
                (path, at, size - at)
                for path, size in sizes.items()
                if (at := self._sent.get(path)) is not None and 0 < size - at <= _SMALL_BYTES
            ]
            await self._write_many(grown)

    async def _write_many(self, wanted: Sequence[tuple[str, int, int]]) -> None:
        """Write parts, by path, offset and length, if they are several."""
        left = deque(wanted if len(wanted) > 1 else ())
        while left:
            some, n_bytes = [left.popleft()], LOG_BYTES_MAX - _SMALL_BYTES
            while left and len(some) < _AT_ONCE and (n_bytes := n_bytes - left[0][2]) >= 0:
                some.append(left.popleft())
            assert self.root is not None
            parts = await asyncio.to_thread(_read_parts, self.root, some)
            ends = await self._caller.call("write_logs", self._caller.incarnation_id, parts)
            for part, end in zip(parts, ends, strict=True):
                if end >= 0:
                    self._sent[part.path] = end

    async def _ship_or_cut(self, path: str, size: int) -> DiskFull | None:
        """Ship a file, or note that it is cut; return the refusal of a full disk."""
        try:
            await self._ship_file(path, size)
            self._cut_for_now.discard(path)
        except DiskFull as error:
            self._cut_off(path, error)
            return error
        except (SpoolFull, LinkRefused) as error:
            self._cut_off(path, error)
        return None

    def _cut_off(self, path: str, error: DiskFull | SpoolFull | LinkRefused) -> None:
        # A segment is tried again with the next end: there may be room by then.
        was_full = path in self._cut_for_now
        if path.startswith("attempts/"):
            self._cut.add(path)
            self._sent.setdefault(path, 0)
            self._cut_for_now.discard(path)
            if isinstance(error, DiskFull):
                self._cut_for_now.add(path)
        if not was_full:
            log.warning("logs.cut", path=path, why=error.detail)

    async def _ship_file(self, path: str, size: int) -> None:
        assert self.root is not None
        at = self._sent.get(path)
        if at is None:
            at = await self._write(path, 0, b"")
        if at > size:  # it was written anew
            at = 0
        while at < size:
            piece = min(size - at, _PIECE_BYTES)
            data = await asyncio.to_thread(_read, self.root / path, at, piece)
            if not data:
                break
            # The api says what it has: less, if it lost some of it, or its disk took a part.
            at = self._sent[path] = await self._write(path, at, data)
        self._sent[path] = at

    async def _write(self, path: str, offset: int, data: bytes) -> int:
        size: int = await self._caller.call(
            "write_log", self._caller.incarnation_id, path, offset, data
        )
        return size

    def _known_of(self, key: AttemptKey) -> list[str]:
        own = str(own_path(Path(), key.batch_id, key.job_id, key.attempt))
        return [path for path in self._sent if path == own or path.startswith(f"{own}.")]


def _read_parts(root: Path, wanted: Sequence[tuple[str, int, int]]) -> list[LogPart]:
    return [
        LogPart(path, at, _read(root / path, at, length) if length else b"")
        for path, at, length in wanted
    ]


def _read(file: Path, offset: int, n_bytes: int) -> bytes:
    with file.open("rb") as opened:
        return os.pread(opened.fileno(), n_bytes, offset)
