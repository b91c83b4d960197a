"""The files of the cache as they stand on the disk, and which of them goes first.

DIRECTORY/5/DIGEST        what tenant 5 has fetched; whole, and written by nobody again
DIGEST.from     by which addresses, and what their servers said; touched at each use
"""

import hashlib
import os
from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import msgspec

from weft.ports.file_store import HeldFile
from weft.telemetry import metrics
from weft.worker.stager.placing import SHARED_MODE

ENTRIES_MAX: Final = 10_000
_ADDRESSES_MAX: Final = 16
"""Of one content."""
_PIECE_BYTES: Final = 1 << 20
_FROM: Final = ".from"
_NEW: Final = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_OPEN: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC

Key = tuple[int, bytes]
"""A tenant, and the SHA-256 of an address or of a content."""


class Said(msgspec.Struct, frozen=True, array_like=True):
    """What a server said of an address."""

    version: str
    found_at: str


@dataclass
class _Entry:
    n_bytes: int
    said: dict[bytes, Said] = field(default_factory=dict)
    """By the SHA-256 of the address."""
    seen: tuple[int, ...] = ()
    """How it was when its bytes were right; empty: this agent has not read them yet."""


_DECODER: Final = msgspec.msgpack.Decoder(dict[bytes, Said])


class CachedFiles:
    """Call its methods on the loop, but for `opened`, `load` and static ones."""

    def __init__(self, directory: Path, *, for_accounts: bool) -> None:
        """`for_accounts`: no job can change them, and other names of theirs come and go."""
        self.directory = directory
        self._for_accounts = for_accounts
        self._entries: OrderedDict[Key, _Entry] = OrderedDict()
        """What was not used for longest comes first."""
        self._by_address: dict[Key, bytes] = {}
        self.n_bytes = 0

    def load(self) -> None:
        """Take over what an earlier agent has kept, and remove what it left unfinished."""
        found = []
        with suppress(FileNotFoundError):
            for tenant in self.directory.glob("[0-9]*"):
                for path in list(tenant.iterdir()):
                    if path.name.startswith("."):
                        path.unlink(missing_ok=True)
                    elif path.suffix == _FROM:
                        found += _read(int(tenant.name), path)
                    elif not path.with_name(path.name + _FROM).exists():
                        path.unlink(missing_ok=True)
        for _, key, entry in sorted(found, key=lambda one: one[0]):
            self._add(key, entry)

    def known(self, at: Key) -> tuple[Key, Said] | None:
        """Return which content an address had, and what its server said of it."""
        digest = self._by_address.get(at)
        if digest is None:
            return None
        key = at[0], digest
        return key, self._entries[key].said[at[1]]

    def opened(self, key: Key) -> HeldFile | None:
        """Return a content that is as it was fetched; None: somebody has damaged it."""
        entry = self._entries.get(key)
        if entry is None:
            return None
        path = self._path(key)
        try:
            fd = os.open(path, _OPEN)
        except OSError:
            return None
        held = HeldFile(fd, entry.n_bytes, key[1])
        try:
            if (seen := self._look(fd)) != entry.seen and not _is_right(held):
                os.close(fd)
                return None
            os.utime(_from(path))
        except OSError:
            os.close(fd)
            return None
        entry.seen = seen
        return held

    def use(self, key: Key) -> None:
        """Note that a content was used now."""
        if key in self._entries:
            self._entries.move_to_end(key)

    def make(self, tenant_id: int) -> tuple[Path, int]:
        """Return a file to be filled, and its descriptor."""
        directory = self.directory / str(tenant_id)
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = directory / f".new-{os.urandom(8).hex()}"
        fd = os.open(path, _NEW, SHARED_MODE)
        os.fchmod(fd, SHARED_MODE)
        return path, fd

    def place(self, fresh: Path, fd: int, key: Key, said: dict[bytes, Said]) -> tuple[int, ...]:
        """Give a file that is whole its name, and return how it looks."""
        path = self._path(key)
        record = fresh.with_name(fresh.name + _FROM)
        record.write_bytes(msgspec.msgpack.encode(said))
        record.replace(_from(path))
        fresh.replace(path)
        return self._look(fd)

    def said_of(self, key: Key, at: Key, said: Said) -> dict[bytes, Said]:
        """Return what is known of a content, with another address."""
        entry = self._entries.get(key)
        others = list(entry.said.items())[1 - _ADDRESSES_MAX :] if entry else []
        return {**dict(others), at[1]: said}

    def add(self, key: Key, n_bytes: int, said: dict[bytes, Said], seen: tuple[int, ...]) -> None:
        """Note a content that has its name now."""
        self._drop(key)
        self._add(key, _Entry(n_bytes, said, seen))

    def leave(self, at: Key) -> list[Path]:
        """Forget what an address had; return the files that are not wanted any more."""
        digest = self._by_address.pop(at, None)
        if digest is None:
            return []
        key = at[0], digest
        self._entries[key].said.pop(at[1], None)
        return [] if self._entries[key].said else self.forget(key)

    def forget(self, key: Key) -> list[Path]:
        """Forget a content; return its files, which are to be removed."""
        self._drop(key)
        return [self._path(key), _from(self._path(key))]

    def oldest(self) -> Key | None:
        """Return what was not used for longest."""
        return next(iter(self._entries), None)

    def is_above(self, bytes_max: int) -> bool:
        """Say whether there is too much."""
        return self.n_bytes > bytes_max or len(self._entries) > ENTRIES_MAX

    def _add(self, key: Key, entry: _Entry) -> None:
        self._entries[key] = entry
        self.n_bytes += entry.n_bytes
        metrics.INPUT_CACHE_BYTES.inc(entry.n_bytes)
        for at in entry.said:
            self._by_address[key[0], at] = key[1]

    def _drop(self, key: Key) -> None:
        entry = self._entries.pop(key, None)
        if entry is None:
            return
        self.n_bytes -= entry.n_bytes
        metrics.INPUT_CACHE_BYTES.dec(entry.n_bytes)
        for at in entry.said:
            if self._by_address.get((key[0], at)) == key[1]:
                del self._by_address[key[0], at]

    def _look(self, fd: int) -> tuple[int, ...]:
        """Return what changes with the bytes of a file: its `ctime` is set by the kernel alone."""
        facts = os.fstat(fd)
        changed = 0 if self._for_accounts else facts.st_ctime_ns
        return facts.st_ino, facts.st_size, facts.st_mtime_ns, changed

    def _path(self, key: Key) -> Path:
        return self.directory / str(key[0]) / key[1].hex()


def unlink(paths: list[Path]) -> None:
    """Remove files, in a thread: a large one takes its time."""
    for path in paths:
        with suppress(OSError):
            path.unlink(missing_ok=True)


def _from(path: Path) -> Path:
    return path.with_name(path.name + _FROM)


def _read(tenant_id: int, record: Path) -> list[tuple[int, Key, _Entry]]:
    path = record.with_suffix("")
    try:
        said = _DECODER.decode(record.read_bytes())
        facts, used_ns = path.stat(), record.stat().st_mtime_ns
        return [(used_ns, (tenant_id, bytes.fromhex(path.name)), _Entry(facts.st_size, said))]
    except (OSError, ValueError):
        unlink([path, record])
        return []


def _is_right(held: HeldFile) -> bool:
    found, offset = hashlib.sha256(), 0
    while piece := os.pread(held.fd, _PIECE_BYTES, offset):
        found.update(piece)
        offset += len(piece)
    return offset == held.n_bytes and found.digest() == held.digest
