"""The source `directory`: each file that matches is an item. Its stem is the key, its JSON the
fields.

Files come in the order in which they were last changed, renamed or made (`st_ctime`, which nobody
can set). One that changed a moment ago (`settle`) may still be written, and waits; so may be one
that changes while it is read. Links are not followed, and nothing outside the directory is opened.
"""

import os
import stat
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path, PurePath
from typing import Any, Final

from weft.core.bounded import read_json
from weft.core.text.durations import duration_of
from weft.ports.line_kinds import Mistakes, Option, SourceKind, wrong_text, wrong_time
from weft.ports.source import (
    ITEM_BYTES_MAX,
    READING_BYTES_MAX,
    Item,
    Reading,
    SourceFailed,
    SourceSite,
)

SETTLE: Final = "2s"
_OVERLAP_NS: Final = 60_000_000_000
"""Files that are older than the newest known one by less than this are looked at again: a clock
may have been set back.
"""
_TICK_S: Final = 0.05
"""More than the steps in which kernels date changes: two files of one step come together."""
_Found = tuple[int, str, os.stat_result]


class _Changing(Exception):
    """The file changes while it is read."""


def _is_path(given: object) -> str:
    fine = not wrong_text(given) and str(given).startswith("/")
    return "" if fine else "it should be an absolute path"


def _is_pattern(given: object) -> str:
    fine = not wrong_text(given) and "/" not in str(given)
    return "" if fine else "it should be a pattern of file names such as *.json"


def _is_content(given: object) -> str:
    return "" if given in {"json", "none"} else 'it should be "json" or "none"'


def _reach(site: SourceSite, options: Mapping[str, Any]) -> Mistakes:
    """Say whether the directory may be read, as written or after the links of this host."""
    path, roots = str(options["path"]), site.paths
    real = {os.path.realpath(root) for root in roots}
    fine = any(PurePath(os.path.realpath(path)).is_relative_to(root) for root in real) or (
        ".." not in PurePath(path).parts
        and any(PurePath(path).is_relative_to(one) for one in roots)
    )
    return {"path": "" if fine else f"{path} is in no directory of the setting source_paths"}


KIND: Final = SourceKind(
    {
        "path": Option(_is_path, needed=True),
        "pattern": Option(_is_pattern),
        "settle": Option(wrong_time),
        "content": Option(_is_content),
    },
    reach=_reach,
)


class DirectorySource:
    """Lists a directory again and again; it knows what it yielded lately."""

    def __init__(self) -> None:
        self._seen: dict[str, int] = {}
        """By name: the date of what was kept."""
        self._told: tuple[Mapping[str, Any] | None, dict[str, int]] = (None, {})
        """The cursor of the last reading, and what it yielded: kept, if the cursor comes back."""
        self._watched: dict[str, tuple[int, int, float]] = {}
        """By name: date and size of a young file, and since when both are the same."""

    def read(
        self, options: Mapping[str, Any], cursor: Mapping[str, Any] | None, site: SourceSite
    ) -> Reading:
        """Read the next files."""
        told, yielded = self._told
        if cursor is None or cursor != told:
            self._seen = {}
        else:
            self._seen |= yielded
        since = int(cursor["ctime_ns"]) if cursor else 0
        floor = since - _OVERLAP_NS
        self._seen = {name: at for name, at in self._seen.items() if at > floor}
        with _opened(str(options["path"]), site) as (directory, where):
            files = self._files(directory, options, floor)
            ready = sorted(one for one in files if self._is_settled(one, options))
            items: list[Item] = []
            yielded, size, more = {}, 0, False
            for at, name, _ in ready:
                if len(items) >= site.items_max or size > READING_BYTES_MAX // 2:
                    more = True
                    break
                try:
                    item, n_bytes = _item(directory, where, name, options)
                except (_Changing, FileNotFoundError):
                    continue
                items.append(item)
                yielded[name] = at
                size += n_bytes
        newest = max([since, *yielded.values()])
        self._told = ({"ctime_ns": newest}, yielded) if yielded or cursor else (None, {})
        return Reading(items, self._told[0], more=more)

    def _files(self, directory: int, options: Mapping[str, Any], floor: int) -> list[_Found]:
        pattern = str(options.get("pattern", "*.json"))
        found = []
        with os.scandir(directory) as entries:
            for entry in entries:
                if not fnmatchcase(entry.name, pattern) or entry.name.startswith("."):
                    continue
                try:
                    if not entry.is_file(follow_symlinks=False):
                        continue
                    facts = os.stat(entry.name, dir_fd=directory, follow_symlinks=False)
                except FileNotFoundError:
                    continue
                at = facts.st_ctime_ns
                if at > floor and self._seen.get(entry.name) != at:
                    found.append((at, entry.name, facts))
        return found

    def _is_settled(self, one: _Found, options: Mapping[str, Any]) -> bool:
        at, name, facts = one
        settle = duration_of(options.get("settle", SETTLE))
        assert settle is not None
        settle_s = max(settle.total_seconds(), _TICK_S)
        now = time.monotonic()
        if (time.time_ns() - at) / 1e9 >= settle_s:
            self._watched.pop(name, None)
            return True
        # By its date it is young, or of the future: then this process knows since when.
        before = self._watched.get(name)
        if before is None or before[:2] != (at, facts.st_size):
            self._watched[name] = before = (at, facts.st_size, now)
        return now - before[2] >= settle_s


@contextmanager
def _opened(path: str, site: SourceSite) -> Iterator[tuple[int, Path]]:
    """Open the directory, after all links, if it may be read."""
    real = Path(os.path.realpath(path))
    roots = [Path(os.path.realpath(root)) for root in site.paths]
    if not any(real.is_relative_to(root) for root in roots):
        raise SourceFailed(f"{path} is in no directory of the setting source_paths")
    try:
        number = os.open(real, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        raise SourceFailed(f"{path}: {error.strerror}") from error
    try:
        yield number, real
    finally:
        os.close(number)


def _item(directory: int, where: Path, name: str, options: Mapping[str, Any]) -> tuple[Item, int]:
    """Read one file; return it with the number of bytes."""
    pattern = str(options.get("pattern", "*.json"))
    is_json = options.get("content", "json" if pattern.endswith(".json") else "none") == "json"
    key = Path(name).stem
    fields: Any = {}
    body = b""
    if is_json:
        try:
            body = _content(directory, name)
        except ValueError as error:
            return Item(key, None, str(error)), 0
        except (FileNotFoundError, _Changing):
            raise
        except OSError as error:
            return Item(key, None, f"it could not be read: {error.strerror}"), 0
        try:
            fields = read_json(body)
        except ValueError as error:
            return Item(key, None, f"it is not JSON: {error}"), len(body)
        if not isinstance(fields, dict):
            return Item(key, None, "it is not a JSON object"), len(body)
    return Item(key, {**fields, "file": str(where / name)}), len(body)


def _content(directory: int, name: str) -> bytes:
    """Return what a file holds. Raise `ValueError` if it is too large."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    number = os.open(name, flags, dir_fd=directory)
    with os.fdopen(number, "rb") as file:
        before = os.fstat(number)
        if not stat.S_ISREG(before.st_mode):
            raise _Changing
        body = file.read(ITEM_BYTES_MAX + 1)
        after = os.fstat(number)
    if (before.st_ctime_ns, before.st_size) != (after.st_ctime_ns, after.st_size):
        raise _Changing
    if len(body) > ITEM_BYTES_MAX:
        raise ValueError(f"it has more than {ITEM_BYTES_MAX >> 10} KiB")
    return body
