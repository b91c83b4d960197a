"""Which output of one directory may have grown: what the shipper has to look at."""

import asyncio
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final, NamedTuple

from weft.core.states import AttemptKey
from weft.ports.store import EndReport
from weft.wire.log_format import attempt_of, decode_location

_NOTED_MAX: Final = 100_000
_SEGMENTS: Final = "segments"


class ToLookAt(NamedTuple):
    """What may have grown."""

    keys: frozenset[AttemptKey]
    segments: frozenset[int]


class Changes:
    """Notes of writers, in one thread."""

    def __init__(self) -> None:
        self._live: set[AttemptKey] = set()
        self._written: set[AttemptKey] = set()
        self._segments: set[int] = set()
        self.is_complete = True
        """False: there were too many; look at all files."""
        self.happened = asyncio.Event()

    def follow(self, keys: Iterable[AttemptKey]) -> None:
        """Look at what these attempts write, again and again until they have ended."""
        self._live.update(keys)
        if self._live:
            self.happened.set()

    def ended(self, reports: Iterable[EndReport]) -> None:
        """Look once more at what these attempts have written."""
        for report in reports:
            key = AttemptKey(report.batch_id, report.job_id, report.attempt)
            self._live.discard(key)
            if report.location is not None:
                self._segments.add(decode_location(report.location)[0])
            if report.start_age_us is not None:  # a short output may have a long result
                self._written.add(key)
        self._bound()
        self.happened.set()

    def wrote(self, path: str) -> None:
        """Look at a file that was written."""
        if (key := attempt_of(path)) is not None:
            self._written.add(key)
        elif path.startswith(f"{_SEGMENTS}/"):
            self._segments.add(int(path.rpartition("/")[2]))
        self._bound()
        self.happened.set()

    def take(self) -> ToLookAt:
        """Return what is to be looked at, and forget it, but for what still runs."""
        found = ToLookAt(frozenset(self._live | self._written), frozenset(self._segments))
        self._written, self._segments = set(), set()
        if not self._live:
            self.happened.clear()
        return found

    def give_back(self, taken: ToLookAt) -> None:
        """Look at these again."""
        self._written |= taken.keys
        self._segments |= taken.segments
        self._bound()
        self.happened.set()

    def _bound(self) -> None:
        if len(self._written) > _NOTED_MAX:
            self._written.clear()
            self.is_complete = False


def written_since(root: Path, since_ns: int) -> ToLookAt:
    """Return whose files were written since a moment."""
    keys: set[AttemptKey] = set()
    segments: set[int] = set()
    for top, _, names in os.walk(root / "attempts"):
        for name in names:
            path = f"{top}/{name}"
            key = attempt_of(os.path.relpath(path, root))
            if key is not None and key not in keys and _written_ns(path) >= since_ns:
                keys.add(key)
    for top, _, names in os.walk(root / _SEGMENTS):
        segments.update(
            int(name)
            for name in names
            if name.isdigit() and _written_ns(f"{top}/{name}") >= since_ns
        )
    return ToLookAt(frozenset(keys), frozenset(segments))


def _written_ns(path: str) -> int:
    try:
        return os.lstat(path).st_mtime_ns
    except FileNotFoundError:
        return -1
