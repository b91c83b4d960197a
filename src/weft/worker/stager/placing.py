"""Bring one input into the directory of a job that has not started."""

import asyncio
import errno
import hashlib
import os
import stat
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing, contextmanager, suppress
from pathlib import Path
from typing import IO, Final

from weft.ports.file_store import FileDiffers, FileRefused, HeldFile
from weft.wire.spawner import Account
from weft.wire.walking import entered, make_file, opened_directory
from weft.worker.stager.packing import ENTRIES_MAX
from weft.worker.stager.unpacking import Unpacking, parent_of

SHARED_MODE: Final = 0o444
"""Of files that belong to the worker and are in the directories of several jobs."""
_CANNOT_SHARE: Final = frozenset({errno.EXDEV, errno.EINVAL, errno.EOPNOTSUPP, errno.ENOSYS})


async def put_file(
    work: Path,
    parts: tuple[str, ...],
    pieces: AsyncIterator[bytes],
    *,
    digest: bytes | None,
    n_bytes: int | None,
    bytes_max: int,
) -> None:
    """Write a file, then give it its place. Raise `FileDiffers`, `FileRefused`, `OSError`."""
    with _new_file(work, parts) as fd:
        found, size = hashlib.sha256(), 0
        async with aclosing(pieces):  # type: ignore[type-var]  # it is a generator
            async for piece in pieces:
                size += len(piece)
                if size > bytes_max:
                    raise FileRefused(f"it has more than {bytes_max} bytes (input_bytes_max)")
                await append(fd, found, piece)
        if (n_bytes is not None and size != n_bytes) or (
            digest is not None and found.digest() != digest
        ):
            raise FileDiffers("its bytes are not those that were expected")


def put_copy(work: Path, parts: tuple[str, ...], file: HeldFile) -> None:
    """Copy an open file, or share its blocks where the file system can. Raise as `put_file`."""
    with _new_file(work, parts) as fd:
        done, copy = 0, _copy_range
        while done < file.n_bytes:
            try:
                n_bytes = copy(file.fd, fd, file.n_bytes - done, done)
            except OSError as error:
                if copy is _send or error.errno not in _CANNOT_SHARE:
                    raise
                copy, n_bytes = _send, 0
                continue
            if not n_bytes:
                raise FileDiffers("it became shorter while it was copied")
            done += n_bytes


def put_link(work: Path, parts: tuple[str, ...], file: HeldFile) -> bool:
    """Give an open file, which the job's account cannot change, another name in its directory;
    return whether that could be done. Raise `FileRefused`, `OSError`.
    """
    with _parent(work, parts) as directory:
        try:
            os.link(f"/proc/self/fd/{file.fd}", parts[-1], dst_dir_fd=directory)
        except FileExistsError:
            raise
        except OSError:  # another file system, or the file has no name any more
            return False
    return True


def link(work: Path, parts: tuple[str, ...], target: str) -> None:
    """Let a link lead to a file of the host. Raise `FileRefused`, `OSError`."""
    with _parent(work, parts) as directory:
        os.symlink(target, parts[-1], dir_fd=directory)


def unpack(
    work: Path, parts: tuple[str, ...], archive: Path, *, bytes_max: int, entries_max: int
) -> None:
    """Unpack an archive into a directory of the job. Raise as `Unpacking.unpack`."""
    with (
        opened_directory(work) as top,
        entered(top, parts, make=True) as directory,
        archive.open("rb") as file,
    ):
        Unpacking(directory, bytes_max=bytes_max, entries_max=entries_max).unpack(file)


def unpack_checkpoint(directory: Path, archive: IO[bytes], *, bytes_max: int) -> None:
    """Unpack what `pack` has made into a new directory. Raise as `Unpacking.unpack`."""
    directory.mkdir(mode=0o700, parents=True)
    with opened_directory(directory) as top:
        Unpacking(top, bytes_max=bytes_max, entries_max=ENTRIES_MAX, links=True).unpack(archive)


def give(work: Path, account: Account) -> None:
    """Make everything in the directory that of an account, before any of its processes runs; but
    for what it shares with others.
    """
    for _, directories, files, fd in os.fwalk(work, follow_symlinks=False):
        for name in (*directories, *files):
            if stat.S_IMODE(os.lstat(name, dir_fd=fd).st_mode) == SHARED_MODE:
                continue
            os.chown(name, account.uid, account.gid, dir_fd=fd, follow_symlinks=False)
    os.chown(work, account.uid, account.gid, follow_symlinks=False)


@contextmanager
def _new_file(work: Path, parts: tuple[str, ...]) -> Iterator[int]:
    """Open a file that gets its name when it is whole."""
    with _parent(work, parts) as directory:
        fresh = f".weft-{os.urandom(8).hex()}"
        fd = make_file(fresh, directory)
        try:
            try:
                yield fd
            finally:
                os.close(fd)
            os.link(fresh, parts[-1], src_dir_fd=directory, dst_dir_fd=directory)
        finally:
            with suppress(FileNotFoundError):
                os.unlink(fresh, dir_fd=directory)


@contextmanager
def _parent(work: Path, parts: tuple[str, ...]) -> Iterator[int]:
    with opened_directory(work) as top, parent_of(top, parts) as directory:
        yield directory


def _copy_range(source: int, target: int, n_bytes: int, offset: int) -> int:
    return os.copy_file_range(source, target, n_bytes, offset_src=offset)


def _send(source: int, target: int, n_bytes: int, offset: int) -> int:
    return os.sendfile(target, source, offset, n_bytes)


async def append(fd: int, found: "hashlib._Hash", piece: bytes) -> None:
    """Write a piece to the end of a file, in a thread, and add it to the digest. Whoever is
    cancelled waits for the thread: its descriptor, once closed, may be that of another file.
    """
    writing = asyncio.ensure_future(asyncio.to_thread(_append, fd, found, piece))
    try:
        await asyncio.shield(writing)
    finally:
        while not writing.done():
            with suppress(asyncio.CancelledError):
                await asyncio.wait([writing])


def _append(fd: int, found: "hashlib._Hash", piece: bytes) -> None:
    rest = memoryview(piece)
    while rest:
        rest = rest[os.write(fd, rest) :]
    found.update(piece)
