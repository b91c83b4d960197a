"""Read the results of functions: thousands of records in segments, and separate files."""

import os
from collections.abc import Iterator
from typing import Self

from weft.plugins.log_stores.files.directory import Directories
from weft.ports.log_store import AttemptLog, LogDirectory
from weft.wire import log_format
from weft.wire.function import result_path
from weft.wire.plain_files import open_plain

_GUESS_BYTES = 4096
"""Most records are shorter, so one read is enough."""
BLOCK_BYTES = 1 << 18


class ResultReader:
    """Read one result after another. Neighbours are in the same segment, which stays open."""

    def __init__(self, directories: Directories) -> None:
        self._directories = directories
        self._segment: tuple[str | None, int] | None = None
        """The name of its directory and its number."""
        self._fd = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    def read(self, log: AttemptLog) -> Iterator[bytes]:
        """Yield the blocks of one result."""
        if log.location is not None:
            for piece in log_format.decode_pieces(self._record(log)):
                if piece.kind == log_format.RESULT:
                    yield piece.data
                    return
        root = self._directories.path_of(log.directory)
        path = result_path(root, log.batch_id, log.job_id, log.attempt)
        try:
            with open(path, "rb", opener=open_plain) as file:
                while block := file.read(BLOCK_BYTES):
                    yield block
        except FileNotFoundError:
            return

    def _record(self, log: AttemptLog) -> bytes:
        """Return a record's pieces; nothing if the segment is gone or names another attempt."""
        assert log.location is not None
        segment, offset = log_format.decode_location(log.location)
        if not self._open(log.directory, segment):
            return b""
        data = os.pread(self._fd, _GUESS_BYTES, offset)
        if len(data) < log_format.RECORD.size:
            return b""
        magic, *names, length = log_format.RECORD.unpack_from(data)
        if (magic, *names) != (log_format.RECORD_MAGIC, log.batch_id, log.job_id, log.attempt):
            return b""
        end = log_format.RECORD.size + length
        if end > len(data):
            data += os.pread(self._fd, end - len(data), offset + len(data))
        return data[log_format.RECORD.size : end]

    def _open(self, directory: LogDirectory | None, segment: int) -> bool:
        wanted = (None if directory is None else directory.name, segment)
        if wanted == self._segment:
            return True
        self._close()
        path = log_format.segment_path(self._directories.path_of(directory), segment)
        try:
            self._fd = open_plain(path, os.O_RDONLY)
        except FileNotFoundError:
            return False
        self._segment = wanted
        return True

    def _close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd, self._segment = -1, None
