"""Go through directories that somebody else may change meanwhile, such as a job.

Each step opens one name in an open directory and follows no link, so what is opened is below the
first directory, whatever is moved or replaced.
"""

import errno
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Final

_DIRECTORY: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_NOT_PLAIN: Final = {errno.ELOOP, errno.ENXIO, errno.ENODEV, errno.EMLINK, errno.ENOTDIR}


class NotPlain(OSError):
    """What should be a plain file or directory is a link, a pipe, a device, or somebody else's."""


@contextmanager
def opened_directory(path: str | os.PathLike[str]) -> Iterator[int]:
    """Open a directory whose own path nobody else can change."""
    fd = os.open(path, _DIRECTORY)
    try:
        yield fd
    finally:
        os.close(fd)


@contextmanager
def entered(root: int, parts: Sequence[str], *, make: bool = False) -> Iterator[int]:
    """Open a directory below an open one; `make` those that are missing. Raise `NotPlain` where
    something else stands in the way.
    """
    fd = os.dup(root)
    try:
        for part in parts:
            if make:
                with suppress(FileExistsError):
                    os.mkdir(part, 0o700, dir_fd=fd)
            inner = _open(part, _DIRECTORY, fd)
            os.close(fd)
            fd = inner
        yield fd
    finally:
        os.close(fd)


def open_file(name: str, directory: int, *, owner: int | None = None) -> int:
    """Return a descriptor of a plain file of an open directory, to read. Raise `NotPlain`, and
    what `open` raises.

    `owner`: whose it must be: another account may have linked to what it could not read itself.
    """
    seen = os.stat(name, dir_fd=directory, follow_symlinks=False)
    _check(seen, name, owner)  # before it is opened: that of a device may do something
    fd = _open(name, _FILE, directory)
    try:
        _check(os.fstat(fd), name, owner)
    except BaseException:
        os.close(fd)
        raise
    return fd


def make_file(name: str, directory: int, mode: int = 0o600) -> int:
    """Return a descriptor of a new file, to write. Raise `FileExistsError`."""
    return os.open(name, _NEW, mode, dir_fd=directory)


def _open(name: str, flags: int, directory: int) -> int:
    if name in {"", ".", ".."} or "/" in name:
        raise NotPlain(errno.EINVAL, "a path leads nowhere else", name)
    try:
        return os.open(name, flags, dir_fd=directory)
    except OSError as error:
        if error.errno in _NOT_PLAIN:
            raise NotPlain(errno.EINVAL, "a link or something else stands there", name) from error
        raise


def _check(status: os.stat_result, name: str, owner: int | None) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise NotPlain(errno.EINVAL, "it is no plain file", name)
    if owner is not None and status.st_uid != owner:
        raise NotPlain(errno.EINVAL, "it belongs to somebody else", name)
