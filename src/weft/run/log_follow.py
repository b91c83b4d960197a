"""Show on the terminal what the roles append to their log files, and keep them small.

Roles write to files, not to a pipe of ours: they go on when we are killed. The kernel says
(inotify) when a file has grown, so nothing is polled. Without a watch (the user has too
many) nothing is shown.
"""

import asyncio
import ctypes
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from weft.telemetry.log import log

_IN_MODIFY = 0x2
_IN_CREATE = 0x100
_READ_BYTES_MAX = 1 << 20


@contextmanager
def following(paths: Mapping[str, Path], output: BinaryIO) -> Iterator[None]:
    """Copy what is appended to the files from now on, each line with its name before it.

    All files must be in one directory. Needs a running event loop.
    """
    directory = next(iter(paths.values())).parent
    libc = ctypes.CDLL(None, use_errno=True)
    handle = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
    if (
        handle < 0
        or libc.inotify_add_watch(handle, os.fsencode(directory), _IN_MODIFY | _IN_CREATE) < 0
    ):
        yield  # no watches left on this machine: the files have it all the same
        return
    files = [_Followed(name, path, width=max(map(len, paths))) for name, path in paths.items()]
    loop = asyncio.get_running_loop()

    def copy() -> None:
        os.read(handle, 1 << 16)
        for file in files:
            file.copy(output)

    loop.add_reader(handle, copy)
    try:
        yield
    finally:
        loop.remove_reader(handle)
        os.close(handle)
        for file in files:
            file.copy(output)


class _Followed:
    def __init__(self, name: str, path: Path, *, width: int) -> None:
        self._path = path
        self._prefix = f"{name:<{width}} | ".encode()
        self._position = path.stat().st_size if path.exists() else 0
        self._rest = b""

    def copy(self, output: BinaryIO) -> None:
        """Write the lines that have become whole."""
        try:
            size = self._path.stat().st_size
            if size < self._position:  # begun anew
                self._position = 0
            if size == self._position:
                return
            with self._path.open("rb") as file:
                file.seek(max(self._position, size - _READ_BYTES_MAX))
                data = file.read()
                self._position = file.tell()
        except FileNotFoundError:
            return
        *lines, self._rest = (self._rest + data).split(b"\n")
        try:
            output.write(b"".join(self._prefix + line + b"\n" for line in lines))
            output.flush()
        except OSError:
            return  # the terminal has gone


LOG_BYTES_MAX = 16 << 20
LOOK_EVERY_S = 60.0


async def keep_small(paths: Sequence[Path]) -> None:
    """Look at the sizes now and then; until cancelled."""
    while True:
        for path in paths:
            try:
                await asyncio.to_thread(rotate, path)
            except OSError as error:
                log.warning("up.log_not_rotated", path=str(path), error=str(error))
        await asyncio.sleep(LOOK_EVERY_S)


def rotate(path: Path, *, bytes_max: int = LOG_BYTES_MAX) -> None:
    """Move the content of a log that is too large to `<name>.1` and empty it.

    Its writers append, so they need not be told. Lines that they write in between may be lost.
    """
    try:
        if path.stat().st_size <= bytes_max:
            return
    except FileNotFoundError:
        return
    kept = path.with_name(f"{path.name}.1")
    kept.touch(mode=0o600)
    shutil.copyfile(path, kept)
    os.truncate(path, 0)
