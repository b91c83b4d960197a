"""The folder of an application as one file: a compressed tar with files and directories alone.

The same folder is the same bytes wherever it is packed, so that its digest says what it holds.
Whoever unpacks trusts nothing: neither names, nor kinds, nor sizes.
"""

import gzip
import io
import os
import stat
import sys
import tarfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Final, NamedTuple

FILES_MAX: Final = 10_000
"""Files and directories of one folder."""
CODE_BYTES_MAX: Final = 512 << 20
"""Of the files of code that travels with a job."""
_DEPTH_MAX: Final = 32
_NAME_BYTES_MAX: Final = 1024
_HEADER_MAX: Final = 1 << 16
_EXTENDED: Final = frozenset(
    {
        tarfile.XHDTYPE,
        tarfile.XGLTYPE,
        tarfile.SOLARIS_XHDTYPE,
        tarfile.GNUTYPE_LONGNAME,
        tarfile.GNUTYPE_LONGLINK,
    }
)
_PIECE: Final = 1 << 18
_PLAIN: Final = 0o644
_PROGRAM: Final = 0o755
_LEFT_OUT: Final = frozenset({".git", ".svn", ".hg", "__pycache__", ".DS_Store"})


class BadFolder(ValueError):
    """A folder that is refused, and why."""


class Entry(NamedTuple):
    """A file or a directory of a packed folder."""

    name: str
    size: int
    is_program: bool
    file: IO[bytes] | None
    """None: a directory."""


def pack(
    folder: Path, names: Iterable[str] | None = None, *, bytes_max: int = sys.maxsize
) -> bytes:
    """Return a folder as one file; `names`: only these files of it. Raise `BadFolder` for what
    none may hold, `OSError`.
    """
    out = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=out, mode="wb", compresslevel=6, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        for n, path in enumerate(_walk(folder) if names is None else map(folder.joinpath, names)):
            if n >= FILES_MAX:
                raise BadFolder(f"more than {FILES_MAX} files and directories")
            _add(tar, path, path.relative_to(folder).as_posix())
            if tar.offset > bytes_max:
                raise BadFolder(f"it has more than {bytes_max} bytes")
    return out.getvalue()


def _walk(folder: Path) -> Iterator[Path]:
    for path in sorted(
        folder.iterdir(), key=lambda one: one.name.encode(errors="surrogateescape")
    ):
        if path.name in _LEFT_OUT:
            continue
        yield path
        if path.is_dir() and not path.is_symlink():
            yield from _walk(path)


def _add(tar: tarfile.TarFile, path: Path, name: str) -> None:
    found = path.lstat()
    entry = tarfile.TarInfo(name)
    if stat.S_ISDIR(found.st_mode):
        entry.type, entry.mode = tarfile.DIRTYPE, _PROGRAM
        tar.addfile(entry)
        return
    if not stat.S_ISREG(found.st_mode):
        raise BadFolder(f"it holds {name!r}: links and devices do not travel")
    entry.mode = _PROGRAM if found.st_mode & stat.S_IXUSR else _PLAIN
    with path.open("rb") as file:
        entry.size = os.fstat(file.fileno()).st_size
        tar.addfile(entry, file)


def entries(file: IO[bytes], bytes_max: int) -> Iterator[Entry]:
    """Yield what a packed folder holds. Raise `BadFolder` for what leads out of it, is neither a
    file nor a directory, comes twice, or is larger than `bytes_max` in all.
    """
    seen: dict[str, bool] = {}
    total = 0
    try:
        with (
            gzip.GzipFile(fileobj=file, mode="rb") as packed,
            tarfile.open(
                fileobj=_Bounded(packed, 2 * bytes_max + (64 << 20)), mode="r|", tarinfo=Member
            ) as tar,
        ):
            for member in tar:
                name = _safe_name(member.name)
                if len(seen) >= FILES_MAX:
                    raise BadFolder(f"more than {FILES_MAX} files and directories")
                is_file = member.isreg() and not member.issparse()
                if not is_file and not member.isdir():
                    raise BadFolder(f"{name} is neither a file nor a directory")
                _check_spot(name, seen, is_file=is_file)
                total += member.size if is_file else 0
                if total > bytes_max:
                    raise BadFolder(f"it has more than {bytes_max} bytes (app_unpacked_bytes_max)")
                content = tar.extractfile(member) if is_file else None
                yield Entry(name, member.size, bool(member.mode & stat.S_IXUSR), content)
    except (tarfile.TarError, EOFError, OSError, ValueError, OverflowError) as error:
        if isinstance(error, BadFolder):
            raise
        raise BadFolder(f"it is no packed folder: {str(error)[:200]}") from error


def unpack(file: IO[bytes], target: Path, bytes_max: int) -> None:
    """Write a packed folder to a new directory. Raise `BadFolder`, `OSError`."""
    target.mkdir(mode=0o755)
    for entry in entries(file, bytes_max):
        path = target / entry.name
        if entry.file is None:
            _make_directory(target, path)
            continue
        _make_directory(target, path.parent)
        mode = _PROGRAM if entry.is_program else _PLAIN
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with os.fdopen(os.open(path, flags, mode), "wb") as out:
            os.fchmod(out.fileno(), mode)
            while piece := entry.file.read(_PIECE):
                out.write(piece)


def _make_directory(target: Path, path: Path) -> None:
    if path != target:
        _make_directory(target, path.parent)
        path.mkdir(mode=0o755, exist_ok=True)


def _safe_name(text: str) -> str:
    name = text.rstrip("/").removeprefix("./")
    parts = name.split("/")
    if not name or name.startswith("/") or {"", ".", ".."} & set(parts):
        raise BadFolder(f"{text[:80]!r} leads out of the folder")
    if not name.isprintable() or "\\" in name:
        raise BadFolder(f"{text[:80]!r} has signs that names of files may not have")
    if len(parts) > _DEPTH_MAX or len(name.encode(errors="replace")) > _NAME_BYTES_MAX:
        raise BadFolder(f"{text[:80]!r} is too long")
    return name


def _check_spot(name: str, seen: dict[str, bool], *, is_file: bool) -> None:
    if name in seen and (is_file or seen[name]):
        raise BadFolder(f"{name!r} is there twice")
    above = name.rpartition("/")[0]
    while above and above not in seen:
        seen[above] = False
        above = above.rpartition("/")[0]
    if above and seen[above]:
        raise BadFolder(f"{name!r} stands below a file")
    seen[name] = is_file


class Member(tarfile.TarInfo):
    """An entry of any tar. An extended header is small: it is read as a whole; and a header that
    is damaged does not end the archive.
    """

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> "Member":
        """Return the entry of a header block. Raise `TarError`."""
        try:
            member = super().frombuf(buf, encoding, errors)
        except tarfile.HeaderError as error:
            if any(buf):  # else it is the end
                raise tarfile.ReadError(str(error)) from error
            raise
        if member.type in _EXTENDED and not 0 <= member.size <= _HEADER_MAX:
            raise tarfile.ReadError("a name in it is too long")
        return member


class _Bounded(io.RawIOBase):
    """Reads bytes up to a limit: what is beyond is a bomb."""

    def __init__(self, file: gzip.GzipFile, most: int) -> None:
        self._file = file
        self._left = most

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        found = self._file.read(size if size >= 0 else _PIECE)
        self._left -= len(found)
        if self._left < 0:
            raise BadFolder("unpacked it is too large")
        return found
