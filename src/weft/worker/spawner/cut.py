"""Leave out the middle of a stream."""

from collections.abc import Iterable, Iterator

from weft.wire.log_format import CUT, CUT_BODY, Piece, encode_cut

Range = tuple[int, int]
"""Bytes of a stream from the first number up to, not including, the second."""


class Cut:
    """One pass over pieces that leaves out a range of one stream."""

    def __init__(self, stream: int, cut: Range, *, begin: int = 0, left_out: int = 0) -> None:
        self._stream = stream
        self._start, self._stop = cut
        self._position = begin
        """The offset in the stream at which its first piece begins."""
        self.left_out = left_out
        """Bytes that are missing and not marked by a CUT yet."""
        self._n_pieces = 0
        self._at_ms = 0

    def apply(self, pieces: Iterable[Piece]) -> Iterator[Piece]:
        """Yield the remaining pieces, with a CUT where something is missing.

        If nothing remains, nothing is yielded and `left_out` says what is missing.
        """
        is_empty = True
        for piece in pieces:
            for kept in self._split(piece):
                if self.left_out:
                    yield self._say()
                yield kept
                is_empty = False
        if self.left_out and not is_empty:
            yield self._say()

    def _split(self, piece: Piece) -> Iterator[Piece]:
        """Yield the parts of a piece that are kept, in order, and count the rest."""
        kind, at_ms, data = piece
        if kind == CUT:
            stream, n_bytes, n_pieces = CUT_BODY.unpack(data)
            if stream != self._stream:
                yield piece
                return
            self._position += n_bytes
            self._leave_out(n_bytes, n_pieces, at_ms)
        elif kind != self._stream:
            yield piece
        else:
            size = len(data)
            first = min(max(self._start - self._position, 0), size)
            last = min(max(self._stop - self._position, first), size)
            self._position += size
            if first == last:
                yield piece
                return
            if first:
                yield Piece(kind, at_ms, data[:first])
            self._leave_out(last - first, 1 - (first > 0) - (last < size), at_ms)
            if last < size:
                yield Piece(kind, at_ms, data[last:])

    def _leave_out(self, n_bytes: int, n_pieces: int, at_ms: int) -> None:
        self.left_out += n_bytes
        self._n_pieces += n_pieces
        self._at_ms = at_ms

    def _say(self) -> Piece:
        said = encode_cut(self._stream, self._at_ms, self.left_out, self._n_pieces)
        self.left_out = self._n_pieces = 0
        return said
