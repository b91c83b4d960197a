"""The output of one attempt: in memory while short and recent, then in a file of its own."""

import os
from typing import NamedTuple

from weft.core.ends.failure_causes import TAIL_BYTES
from weft.wire.log_format import (
    FLUSH_BYTES,
    FLUSH_MS,
    STDERR,
    STDOUT,
    Piece,
    encode_cut,
    encode_piece,
)
from weft.worker.spawner.own_file import Cut, OwnFile, PartSizes

_MS = 1_000_000


class OutputSizes(NamedTuple):
    """How output is cut into pieces and parts."""

    flush_bytes: int = FLUSH_BYTES
    join_ms: int = 10
    """Reads of one stream within this time become one piece; otherwise the output of a program
    that writes byte by byte would be mostly headers."""
    parts: PartSizes = PartSizes()


_SIZES = OutputSizes()


class Output:
    """The pieces of one attempt. Raises `OSError` if they cannot be written."""

    __slots__ = (
        "_bytes_max",
        "_errors_in",
        "_head_bytes",
        "_own",
        "_path",
        "_pending",
        "_pending_bytes",
        "_sizes",
        "_started_ns",
        "_written_errors",
        "failed",
        "flush_due_ns",
        "totals",
    )

    def __init__(
        self,
        path: str,
        started_ns: int,
        *,
        bytes_max: int,
        head_bytes: int,
        sizes: OutputSizes = _SIZES,
        errors_in: int = STDERR,
    ) -> None:
        self._path = path
        self._sizes = sizes
        self._started_ns = started_ns
        self._bytes_max = bytes_max
        self._head_bytes = min(head_bytes, bytes_max)
        self._pending: list[Piece] = []
        self._pending_bytes = 0
        self._own: OwnFile | None = None
        self._errors_in = errors_in
        self._written_errors = b""
        """The end of what is in the file."""
        self.flush_due_ns: int | None = None
        self.totals = {STDOUT: 0, STDERR: 0}
        self.failed = False
        """True: a piece could not be kept, so no further ones are kept either."""

    @property
    def truncated(self) -> bool:
        """Say whether something was left out."""
        return max(self.totals.values()) > self._bytes_max

    @property
    def is_short(self) -> bool:
        """Say whether the whole output is still in memory."""
        return self._own is None

    def add(self, kind: int, data: bytes, now_ns: int) -> None:
        """Add bytes that were read from one stream."""
        self.totals[kind] += len(data)
        if self.failed:
            return
        at_ms = (now_ns - self._started_ns) // _MS
        last = self._pending[-1] if self._pending else None
        if last is not None and last.kind == kind and at_ms - last.at_ms <= self._sizes.join_ms:
            self._pending[-1] = Piece(kind, last.at_ms, last.data + data)
        else:
            self._pending.append(Piece(kind, at_ms, data))
        self._pending_bytes += len(data)
        if self.flush_due_ns is None:
            self.flush_due_ns = now_ns + FLUSH_MS * _MS
        if self._pending_bytes >= self._sizes.flush_bytes:
            self.flush()

    def flush(self) -> None:
        """Append the pieces in memory to the attempt's own file."""
        self.flush_due_ns = None
        if not self._pending or self.failed:
            return
        try:
            if self._own is None:
                self._own = OwnFile(
                    self._path,
                    bytes_max=self._bytes_max,
                    head_bytes=self._head_bytes,
                    part_sizes=self._sizes.parts,
                )
            self._own.append(self._pending)
        except OSError:
            self.fail()
            raise
        self._written_errors = self.error_tail()
        self._pending = []
        self._pending_bytes = 0

    def error_tail(self) -> bytes:
        """Return the end of what was written to where errors are."""
        recent = b"".join([piece.data for piece in self._pending if piece.kind == self._errors_in])
        return (self._written_errors + recent)[-TAIL_BYTES:]

    def finish(self) -> None:
        """Complete the attempt's own file, if there is one."""
        if self._own is None or self.failed:
            return
        self.flush()
        try:
            self._own.finish()
        except OSError:
            self.fail()
            raise

    def fail(self) -> None:
        """Stop keeping the output."""
        self.failed = True
        self._pending = []
        self._pending_bytes = 0
        self.flush_due_ns = None
        if self._own is not None:
            self._own.close()

    def short_pieces(self) -> bytes:
        """Return a short output as it is stored in a segment, cut to the limit."""
        pieces = self._pending
        for stream, total in self.totals.items():
            if total > self._bytes_max:
                cut = (self._head_bytes, total - (self._bytes_max - self._head_bytes))
                pieces = list(Cut(stream, cut).apply(pieces)) or [
                    encode_cut(stream, 0, total, len(pieces))
                ]
        return b"".join([encode_piece(*piece) for piece in pieces])


def output_path(root: str, batch_id: int, job_id: int, attempt: int) -> str:
    """Return `wire.log_format.own_path` as text; the spawner makes many of them."""
    return os.path.join(
        root, "attempts", f"b{batch_id}", str(job_id // 1000), f"{job_id}.{attempt}"
    )
