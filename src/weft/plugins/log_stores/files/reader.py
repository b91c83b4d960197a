"""Read segments and attempt files, in the caller's thread."""

import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from pathlib import Path

from weft.plugins.log_stores.files.directory import Directories
from weft.plugins.log_stores.files.output_index import OutputIndex
from weft.plugins.log_stores.files.parts import PartReader, own_parts
from weft.plugins.log_stores.files.results import ResultReader
from weft.plugins.log_stores.files.spooled_files import PREFIX, why_gone
from weft.ports.log_store import AttemptLog, Extent
from weft.wire import log_format
from weft.wire.plain_files import open_plain
from weft.wire.usage_format import UsageSample, decode_samples, usage_path

_KEPT_INDEXES = 32


class FileReader:
    """Read the segments and attempt files of a home."""

    def __init__(self, root: Path) -> None:
        self.directories = Directories(root)
        self._indexes: OrderedDict[Path, OutputIndex] = OrderedDict()
        self._lock = threading.Lock()

    def pieces(self, log: AttemptLog, after: int) -> Iterator[log_format.Piece]:
        """Yield the stored pieces; see the port."""
        if log.location is not None:
            pieces = log_format.decode_pieces(self._record(log))
            yield from _skip((piece for piece in pieces if piece.kind != log_format.RESULT), after)
        else:
            reader = PartReader(self.own(log), after)
            try:
                yield from reader.read()
            finally:
                reader.close()

    def size(self, log: AttemptLog, stream: int) -> int:
        """Return how many bytes of one stream are stored now."""
        written = log.stdout_bytes if stream == log_format.STDOUT else log.stderr_bytes
        if log.ended and not log.truncated and (written or log.location is not None):
            return written
        return self.extent(log).count(stream)

    def extent(self, log: AttemptLog) -> Extent:
        """Return how much is stored now."""
        if log.location is None:
            return self._index_of(log).look(is_final=log.ended)
        pieces = list(self.pieces(log, 0))
        stdout, stderr = (
            sum(len(piece.data) for piece in pieces if piece.kind == kind)
            for kind in (log_format.STDOUT, log_format.STDERR)
        )
        return Extent(stdout, stderr, sum(map(log_format.count_pieces, pieces)))

    def window(
        self, log: AttemptLog, stream: int | None, start: int, stop: int
    ) -> Iterator[log_format.Piece]:
        """Yield bytes as pieces; see the port."""
        if log.location is not None:
            return log_format.cut_out(self.pieces(log, 0), 0, stream, start, stop)
        index = self._index_of(log)
        index.look(is_final=log.ended)
        return index.pieces(stream, start, stop)

    def read(self, log: AttemptLog, stream: int, start: int, stop: int) -> bytes:
        """Return bytes of one stream."""
        pieces = self.window(log, stream, start, stop)
        return b"".join(piece.data for piece in pieces if piece.kind == stream)

    def why_gone(self, log: AttemptLog) -> str | None:
        """Return why an output is not there; see the port. Only a spool removes single ones."""
        if log.directory is None:
            return None
        directory = self.directories.path_of(log.directory)
        if not directory.name.startswith(PREFIX):
            return None
        return None if self.has(log) else why_gone(directory, log.batch_id)

    def has(self, log: AttemptLog) -> bool:
        """Say whether anything is stored of an output."""
        return bool(own_parts(self.own(log)) if log.location is None else self._record(log))

    def samples(self, log: AttemptLog) -> list[UsageSample]:
        """Return the samples of what an attempt used; see the port."""
        try:
            with open(usage_path(self.own(log)), "rb", opener=open_plain) as file:
                return decode_samples(file.read())
        except FileNotFoundError:
            return []

    def results(self, logs: Iterable[AttemptLog]) -> Iterator[tuple[AttemptLog, Iterator[bytes]]]:
        """Yield results: from the record if it is short, else from its file; see the port."""
        with ResultReader(self.directories) as reader:
            for log in logs:
                yield log, reader.read(log)

    def _index_of(self, log: AttemptLog) -> OutputIndex:
        own = self.own(log)
        with self._lock:
            index = self._indexes[own] = self._indexes.pop(own, OutputIndex(own))
            while len(self._indexes) > _KEPT_INDEXES:
                self._indexes.popitem(last=False)
        return index

    def own(self, log: AttemptLog) -> Path:
        """Return the file of an attempt whose output is not in a segment."""
        return log_format.own_path(
            self.directories.path_of(log.directory), log.batch_id, log.job_id, log.attempt
        )

    def _record(self, log: AttemptLog) -> bytes:
        """Return a record's pieces; nothing if the segment is gone or names another attempt."""
        assert log.location is not None
        segment, offset = log_format.decode_location(log.location)
        try:
            path = log_format.segment_path(self.directories.path_of(log.directory), segment)
            with open(path, "rb", opener=open_plain) as file:
                file.seek(offset)
                header = file.read(log_format.RECORD.size)
                if len(header) < log_format.RECORD.size:
                    return b""
                magic, *names, length = log_format.RECORD.unpack(header)
                if (magic, *names) != (
                    log_format.RECORD_MAGIC,
                    log.batch_id,
                    log.job_id,
                    log.attempt,
                ):
                    return b""
                return file.read(length)
        except FileNotFoundError:
            return b""


def _skip(pieces: Iterator[log_format.Piece], after: int) -> Iterator[log_format.Piece]:
    """Skip the first `after` pieces; a cut at the beginning does not count, but is kept."""
    number = 0
    for piece in pieces:
        end = number + log_format.count_pieces(piece)
        if end > after or (piece.kind == log_format.CUT and not after):
            yield piece
            after = 0
        number = end
