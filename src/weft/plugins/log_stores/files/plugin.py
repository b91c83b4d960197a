"""The parts of the log store `files`, as roles get them (entry point `weft.log_stores`)."""

import asyncio
import os
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from weft.core.states import AttemptKey
from weft.plugins.log_stores.files.directory import directory_name
from weft.plugins.log_stores.files.store import FileLogStore
from weft.ports.log_store import LogStoreSite, Stored
from weft.wire.log_format import (
    LogLocation,
    Piece,
    count_pieces,
    encode_piece,
    own_path,
    read_pieces,
)
from weft.wire.plain_files import open_plain
from weft.wire.usage_format import UsageSample, encode_sample, usage_path

_ENDS_MAX: Final = 4096
_ANEW: Final = 0, 0
"""Pieces and size of a file of which nothing stays."""


class FileLogWriter:
    """Append to attempt files; see the port for the methods. An attempt has one writer."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._ends: dict[AttemptKey, tuple[int, int]] = {}
        """Pieces and size of the files that grew last: they need not be read again."""

    async def append(
        self, key: AttemptKey, pieces: Sequence[Piece], *, after: int, anew: bool = False
    ) -> None:
        """Append the pieces that are not stored yet."""
        end = self._ends.pop(key, None)
        if anew:
            end = _ANEW
        self._ends[key] = await asyncio.to_thread(self._append, key, pieces, after, end)
        if len(self._ends) > _ENDS_MAX:
            del self._ends[next(iter(self._ends))]

    async def stored(self, key: AttemptKey) -> Stored:
        return await asyncio.to_thread(self._stored, key)

    async def keep_samples(self, key: AttemptKey, samples: Sequence[UsageSample]) -> None:
        """Write the file of the samples anew."""
        await asyncio.to_thread(self._keep_samples, key, samples)

    async def finish(self, key: AttemptKey) -> LogLocation | None:
        """Return nothing: the attempt alone identifies the file."""
        self._ends.pop(key, None)
        return None

    def _append(
        self, key: AttemptKey, pieces: Sequence[Piece], after: int, end: tuple[int, int] | None
    ) -> tuple[int, int]:
        path = own_path(self._root, key.batch_id, key.job_id, key.attempt)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with open(path, "a+b", opener=open_plain) as file:
            if end == _ANEW:
                file.truncate(0)
            if end is None or end[1] != os.fstat(file.fileno()).st_size:
                file.seek(0)
                stored = sum(map(count_pieces, read_pieces(file)))
                end = stored, file.tell()
                file.truncate(end[1])  # a piece that an earlier writer could not finish
            stored, size = end
            new = pieces[max(0, stored - after) :]
            size += file.write(b"".join(encode_piece(*piece) for piece in new))
        return stored + sum(map(count_pieces, new)), size

    def _stored(self, key: AttemptKey) -> Stored:
        path = own_path(self._root, key.batch_id, key.job_id, key.attempt)
        try:
            with open(path, "rb", opener=open_plain) as file:
                return Stored().plus(read_pieces(file))
        except FileNotFoundError:
            return Stored()

    def _keep_samples(self, key: AttemptKey, samples: Sequence[UsageSample]) -> None:
        path = Path(usage_path(own_path(self._root, key.batch_id, key.job_id, key.attempt)))
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        fresh = path.with_name(f"{path.name}~")
        with open(fresh, "wb", opener=open_plain) as file:
            file.write(b"".join(map(encode_sample, samples)))
        fresh.replace(path)


_NAME = re.compile(r"b([1-9][0-9]*)")


class FileLogKeeper:
    """The files of attempts below one directory, by batch; see the port for the methods.

    Links are neither followed nor removed: what they name is not ours.
    """

    def __init__(self, root: Path) -> None:
        self._attempts = root / "attempts"

    async def batches(self) -> Sequence[int]:
        return await asyncio.to_thread(self._batches)

    async def remove(self, batch_ids: Sequence[int]) -> None:
        await asyncio.to_thread(self._remove, batch_ids)

    def _batches(self) -> list[int]:
        try:
            names = [entry.name for entry in self._attempts.iterdir()]
        except FileNotFoundError:
            return []
        return sorted(int(match[1]) for name in names if (match := _NAME.fullmatch(name)))

    def _remove(self, batch_ids: Sequence[int]) -> None:
        for batch_id in batch_ids:
            path = self._attempts / f"b{batch_id}"
            if path.is_dir() and not path.is_symlink():
                _remove_tree(path)


def _remove_tree(path: Path) -> None:
    """Remove a tree of any depth, by a program: a job of this account makes more levels than
    Python has calls. Raise `OSError` if something is left.
    """
    done = subprocess.run(
        ["/bin/rm", "-rf", "--", path], check=False, stdin=subprocess.DEVNULL, capture_output=True
    )
    if done.returncode and path.exists():  # else another worker of this home was faster
        said = done.stderr.decode(errors="replace").strip()
        raise OSError(said.rpartition("\n")[2] or f"{path} could not be removed")


class FileLogs:
    """Files below one directory; see the port for the methods."""

    def __init__(self, site: LogStoreSite) -> None:
        self._root = site.root

    @property
    def place(self) -> str:
        """Return the name of the directory; the first caller makes it."""
        return directory_name(self._root)

    def reader(self) -> FileLogStore:
        """Return what reads this directory and those below it."""
        return FileLogStore(self._root)

    def keeper(self) -> FileLogKeeper:
        return FileLogKeeper(self._root)

    def writer(self) -> FileLogWriter:
        """Return what writes output that was collected elsewhere."""
        return FileLogWriter(self._root)
