"""Segment files: many short outputs in a row."""

import os

from weft.core.states import AttemptKey
from weft.wire.log_format import RECORD, RECORD_MAGIC
from weft.worker.private_files import write_all

SEGMENT_BYTES_MAX = 64 * 1024 * 1024


class Segments:
    """Append records, many in one write. A spawner writes only to files that it made itself."""

    def __init__(self, root: str) -> None:
        self._directory = os.path.join(root, "segments")
        self._number = 0
        self._fd = -1
        self._size = 0

    def append(self, outputs: list[tuple[AttemptKey, bytes]]) -> list[tuple[int, int]]:
        """Write the pieces of these attempts and return the segment and offset of each.

        Raises `OSError` if that fails; then none of them is in the file.
        """
        if self._fd < 0 or self._size >= SEGMENT_BYTES_MAX:
            self._open_next()
        positions = []
        chunks = []
        position = self._size
        for key, pieces in outputs:
            positions.append((self._number, position))
            header = RECORD.pack(RECORD_MAGIC, key.batch_id, key.job_id, key.attempt, len(pieces))
            chunks += [header, pieces]
            position += len(header) + len(pieces)
        try:
            write_all(self._fd, b"".join(chunks))
        except OSError:
            os.ftruncate(self._fd, self._size)
            raise
        self._size = position
        return positions

    def _open_next(self) -> None:
        """Make the next file that does not exist yet. Workers of one host share the directory."""
        os.makedirs(self._directory, mode=0o700, exist_ok=True)
        if self._fd < 0:
            names = [int(name) for name in os.listdir(self._directory) if name.isdigit()]
            number = max(names, default=0) + 1
        else:
            number = self._number + 1
        while True:
            path = os.path.join(self._directory, f"{number:08d}")
            try:
                fd = os.open(
                    path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o600
                )
            except FileExistsError:
                number += 1
                continue
            break
        if self._fd >= 0:
            os.close(self._fd)
        self._fd, self._number, self._size = fd, number, 0
