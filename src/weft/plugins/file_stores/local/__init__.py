"""Files of the worker's host, to read: `file:///data/x`, below the directories of `input_paths`.

No link is followed below them: whoever may write there could lead to any file of the host.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Final

from weft.ports.file_store import FileFacts, FileMissing, FileRefused, HeldFile
from weft.wire.walking import NotPlain, entered, open_file, opened_directory

_PIECE_BYTES: Final = 1 << 20
_READ_BY_ALL: Final = 0o004


class HostFiles:
    """Plain files below some directories; see the port for the methods.

    `readable_only`: those that all accounts of the host may read, for a worker that is root.
    """

    def __init__(self, roots: Sequence[str], *, readable_only: bool = False) -> None:
        # A root may be a link itself: who named it may change it anyway.
        self._roots = [(Path(root), Path(root).resolve()) for root in roots]
        self._readable_only = readable_only

    async def facts(self, path: str) -> FileFacts:
        fd = await asyncio.to_thread(self._open, path)
        try:
            return FileFacts(os.fstat(fd).st_size)
        finally:
            os.close(fd)

    async def read(self, path: str, offset: int = 0) -> AsyncIterator[bytes]:
        fd = await asyncio.to_thread(self._open, path)
        try:
            while piece := await asyncio.to_thread(os.pread, fd, _PIECE_BYTES, offset):
                yield piece
                offset += len(piece)
        finally:
            os.close(fd)

    async def write(self, path: str, file: HeldFile) -> None:  # noqa: ARG002 (of the port)
        """Refuse: nothing is kept there."""
        raise FileRefused("nothing is written to files of the host")

    async def remove(self, path: str) -> None:  # noqa: ARG002 (of the port)
        raise FileRefused("nothing is removed from the host")

    def _open(self, path: str) -> int:
        wanted = Path("/", path)
        for named, root in self._roots:
            for start in (named, root):
                if wanted != start and wanted.is_relative_to(start):
                    return self._open_below(root, wanted.relative_to(start).parts)
        raise FileRefused("it is not below `input_paths` of the worker")

    def _open_below(self, root: Path, parts: Sequence[str]) -> int:
        try:
            with opened_directory(root) as top, entered(top, parts[:-1]) as directory:
                fd = open_file(parts[-1], directory)
        except FileNotFoundError as error:
            raise FileMissing("the worker's host has no such file") from error
        except NotPlain as error:
            raise FileRefused("it is no plain file, or a link leads to it") from error
        except OSError as error:
            raise FileRefused(f"it cannot be read: {error.strerror}") from error
        if self._readable_only and not os.fstat(fd).st_mode & _READ_BY_ALL:
            os.close(fd)
            raise FileRefused("not everybody may read it, and the worker is root")
        return fd
