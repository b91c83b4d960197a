"""Files that may be compressed by gzip."""

import gzip
import sys
import zlib
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, BinaryIO, cast

from weft.cli.input.documents import UnreadableDocument
from weft.core.errors import Invalid

GZIP_MAGIC = b"\x1f\x8b"
PIECE_BYTES = 1 << 16
UNPACKED_BYTES_MAX = 4 << 30
"""About the size of a workflow of ten million jobs."""


def unpacked(file: str, *, refused: type[Invalid], what: str) -> Iterator[bytes]:
    """Yield a file in pieces, unpacked whatever its name says; `-` is standard input.

    Raise `UnreadableDocument` if it cannot be opened, `refused` if it cannot be unpacked.
    """
    try:
        with ExitStack() as stack:
            source: BinaryIO = sys.stdin.buffer
            if file != "-":
                source = stack.enter_context(Path(file).open("rb"))
            yield from _pieces(source, refused, what)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise refused(
            f"cannot unpack {what}", detail=f"{error}.", hint="Copy the file again."
        ) from error
    except OSError as error:
        raise UnreadableDocument(
            f"cannot read {file!r}",
            detail=f"{error.strerror or error}.",
            hint="Name a readable file, or - for standard input.",
        ) from error


def unpacked_lines(file: str, *, refused: type[Invalid], what: str) -> Iterator[str]:
    """Yield a file line by line; bytes that are not text become replacement characters."""
    rest = b""
    for piece in unpacked(file, refused=refused, what=what):
        *lines, rest = (rest + piece).split(b"\n")
        yield from (line.decode(errors="replace") for line in lines)
        rest = rest[:PIECE_BYTES]
    yield rest.decode(errors="replace")


def _pieces(source: BinaryIO, refused: type[Invalid], what: str) -> Iterator[bytes]:
    first = source.read(PIECE_BYTES)
    joined = _Joined(first, source)
    is_packed = first.startswith(GZIP_MAGIC)
    whole = gzip.GzipFile(fileobj=cast("Any", joined), mode="rb") if is_packed else joined
    size = 0
    while piece := whole.read(PIECE_BYTES):
        size += len(piece)
        if size > UNPACKED_BYTES_MAX:
            raise refused(
                f"{what} is too large", detail=f"It is larger than {UNPACKED_BYTES_MAX} bytes."
            )
        yield piece


class _Joined:
    """A stream whose beginning was already read: standard input cannot seek."""

    def __init__(self, first: bytes, rest: BinaryIO) -> None:
        self._first = first
        self._rest = rest

    def read(self, size: int) -> bytes:
        """Return at most this number of bytes; none at the end."""
        if not self._first:
            return self._rest.read(size)
        piece, self._first = self._first[:size], self._first[size:]
        return piece
