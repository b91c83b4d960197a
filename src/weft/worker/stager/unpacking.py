"""Unpack archives that anybody may have made: nothing outside of the directory, no links, bounded.

The bytes that come out are counted, whatever the archive says that they are.
"""

import bz2
import gzip
import lzma
import math
import os
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import IO, Any, Final

from weft.core.files.file_paths import WrongPath, parts_of
from weft.ports.file_store import FileDiffers, FileRefused
from weft.wire.app_folder import Member
from weft.wire.walking import NotPlain, entered, make_file
from weft.worker.stager.packing import Place, check_links

_PIECE_BYTES: Final = 1 << 20
_X: Final = 0o100
MEMORY_BYTES_MAX: Final = 128 << 20
"""For one archive: an archive says itself how much it needs, and `xz -9` says 65 MiB."""


class _Streams:
    """Reads all streams of a file and the sums at their ends, in bounded memory."""

    def __init__(self, file: IO[bytes], begin: Callable[[], Any]) -> None:
        self._file, self._begin = file, begin
        self._stream = begin()

    def read(self, size: int) -> bytes:
        """Return some of what is left; nothing at the end. Raise for what is no stream."""
        found = packed = b""
        while not found:
            if self._stream.eof:
                packed = self._stream.unused_data
                while not (packed := packed.lstrip(b"\0")):
                    if not (packed := self._file.read(_PIECE_BYTES)):
                        return b""
                self._stream = self._begin()
            elif self._stream.needs_input and not (packed := self._file.read(_PIECE_BYTES)):
                raise EOFError
            found, packed = self._stream.decompress(packed, size), b""
        return found


class _Listed:
    """A zip; its list of entries is one piece, which `zipfile` reads and keeps whole."""

    def __init__(self, file: IO[bytes], entries_max: float) -> None:
        self._file, self.entries_max = file, entries_max
        self.seek, self.tell, self.seekable = file.seek, file.tell, file.seekable

    def read(self, size: int = -1) -> bytes:
        """Return this number of bytes, or the few at the end. Raise `FileRefused`."""
        found = self._file.read(min(size, MEMORY_BYTES_MAX))
        if size > MEMORY_BYTES_MAX or (size >= 0 and found.count(b"PK\1\2") > self.entries_max):
            raise FileRefused(f"it lists more than {self.entries_max} files (input_entries_max)")
        return found


def _read_xz(file: IO[bytes]) -> _Streams:
    return _Streams(file, lambda: lzma.LZMADecompressor(memlimit=MEMORY_BYTES_MAX))


_PACKED: Final[Mapping[bytes, Callable[[Any], Any]]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": lambda file: _Streams(file, bz2.BZ2Decompressor),
    b"\xfd7zXZ": _read_xz,
    b"\x5d\0\0": _read_xz,
}
"""By how a file begins, what reads it."""
_NOT_READ: Final = {
    b"\x28\xb5\x2f\xfd": "zstd",
    b"\x04\x22\x4d\x18": "lz4",
    b"\x1f\x9d": "compress",
    b"7z\xbc\xaf": "7-Zip",
    b"Rar!": "rar",
}
"""What others pack with, which no library here reads."""


class Unpacking:
    """What one archive may become."""

    def __init__(
        self, directory: int, *, bytes_max: int, entries_max: int, links: bool = False
    ) -> None:
        """`links`: also links, as long as they lead to what is in the directory."""
        self._directory = directory
        self._links = links
        self._left = bytes_max
        self._bytes_max = bytes_max
        self._entries_left = entries_max
        self._entries_max = entries_max

    def unpack(self, archive: IO[bytes]) -> None:
        """Unpack all. Raise `FileRefused`, `FileDiffers`, `OSError`."""
        archive.seek(0)
        begin = archive.read(tarfile.BLOCKSIZE)
        openers = [one for magic, one in _PACKED.items() if begin.startswith(magic)]
        for magic, packer in _NOT_READ.items():
            if begin.startswith(magic):
                known = "tar, alone or packed by gzip, bzip2 or xz, and zip are unpacked"
                raise FileRefused(f"it is packed by {packer}; {known}")
        try:
            if openers or _is_header(begin) or not zipfile.is_zipfile(archive):
                archive.seek(0)
                self._unpack_tar(openers[0](archive) if openers else archive)
            else:
                self._unpack_zip(archive)
        except (
            tarfile.TarError,
            zipfile.BadZipFile,
            EOFError,
            zlib.error,
            lzma.LZMAError,
            NotImplementedError,
            RuntimeError,
            OSError,
        ) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise
            raise FileDiffers(f"it cannot be unpacked: {str(error) or 'it ends'}") from error

    def _unpack_tar(self, archive: IO[bytes]) -> None:
        links: dict[Place, str] = {}
        with tarfile.open(fileobj=archive, mode="r|", tarinfo=Member) as tar:
            for one in tar:
                parts = self._parts(one.name)
                if one.isdir():
                    self._make(parts)
                elif one.isreg():
                    body = tar.extractfile(one)
                    assert body is not None
                    self._write(parts, body, is_program=bool(one.mode & _X))
                elif one.issym() and self._links and parts and parts not in links:
                    links[parts] = one.linkname
                else:
                    raise FileRefused(f"it holds {one.name[:80]!r}, which is no plain file")
            self._check_end(tar)
        check_links(links)
        for parts, target in links.items():  # last, so that nothing is written through one
            self._link(parts, target)

    def _check_end(self, tar: tarfile.TarFile) -> None:
        """Raise for an archive with more after its end, or whose sums are wrong."""
        assert tar.fileobj is not None
        left = self._bytes_max
        while piece := tar.fileobj.read(_PIECE_BYTES):
            left -= len(piece)
            if left < 0 or piece.strip(b"\0"):
                raise FileRefused("it holds more after its end, which no tar unpacks")

    def _unpack_zip(self, archive: IO[bytes]) -> None:
        listed = _Listed(archive, self._entries_max)
        with zipfile.ZipFile(listed) as found:
            listed.entries_max = math.inf  # any of its files may be a zip
            for one in found.infolist():
                mode = one.external_attr >> 16
                parts = self._parts(one.filename)
                if one.compress_type == zipfile.ZIP_LZMA:  # in memory of any size
                    raise FileRefused(f"it holds {one.filename[:80]!r} in LZMA; deflate is read")
                if one.is_dir():
                    self._make(parts)
                elif mode and (mode & 0o170000) not in {0, 0o100000}:
                    raise FileRefused(f"it holds {one.filename[:80]!r}, which is no plain file")
                else:
                    with found.open(one) as body:
                        self._write(parts, body, is_program=bool(mode & _X))

    def _parts(self, name: str) -> tuple[str, ...]:
        self._entries_left -= 1
        if self._entries_left < 0:
            raise FileRefused(f"it holds more than {self._entries_max} files (input_entries_max)")
        name = name.removesuffix("/")
        while name.startswith("./"):
            name = name[2:]
        if name in {"", "."}:
            return ()
        try:
            return parts_of(name)
        except WrongPath as error:
            raise FileRefused(f"it holds {name[:80]!r}: {error}") from error

    def _make(self, parts: Sequence[str]) -> None:
        try:
            with entered(self._directory, parts, make=True):
                pass
        except NotPlain as error:
            raise FileRefused(f"it holds {'/'.join(parts)!r} twice, in two kinds") from error

    def _link(self, parts: Sequence[str], target: str) -> None:
        with parent_of(self._directory, parts) as directory:
            os.symlink(target, parts[-1], dir_fd=directory)

    def _write(self, parts: Sequence[str], body: IO[bytes], *, is_program: bool) -> None:
        if not parts:
            raise FileRefused("it holds a file without a name")
        with parent_of(self._directory, parts) as directory:
            fd = make_file(parts[-1], directory, 0o700 if is_program else 0o600)
        with os.fdopen(fd, "wb") as out:
            while piece := body.read(_PIECE_BYTES):
                self._left -= len(piece)
                if self._left < 0:
                    raise FileRefused(
                        f"it unpacks to more than {self._bytes_max} bytes (input_bytes_max)"
                    )
                out.write(piece)


@contextmanager
def parent_of(top: int, parts: Sequence[str]) -> Iterator[int]:
    """Open the directory in which something gets its place, made if it is missing. Raise
    `FileRefused`, also for what is there already.
    """
    try:
        with entered(top, parts[:-1], make=True) as directory:
            yield directory
    except NotPlain as error:
        raise FileRefused(f"a file stands in the way of {'/'.join(parts)!r}") from error
    except FileExistsError as error:
        raise FileRefused(f"{'/'.join(parts)!r} is there already") from error


def _is_header(block: bytes) -> bool:
    try:
        Member.frombuf(block, "utf-8", "surrogateescape")
    except tarfile.TarError:
        return False
    return True
