"""Pack a directory of a job, as it is at one moment: what changes meanwhile is not packed.

Whatever a job has made there is a stranger's: links are not followed, what is no file is refused.
"""

import hashlib
import os
import stat
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Final, NamedTuple

from weft.core.files.file_paths import WrongPath, parts_of
from weft.ports.file_store import FileDiffers, FileRefused
from weft.wire.walking import NotPlain, entered, open_file, opened_directory

_THROUGH_MAX: Final = 40
"""One that goes through more links is one in a circle, as for the kernel."""
_STEPS_MAX: Final = 1_000_000
"""Names in the texts of all links: each is a step of the walk."""
Place = tuple[str, ...]


def check_links(links: Mapping[Place, str]) -> None:
    """Take the links of a tree, by their places. Raise `FileRefused` if one leads out of it or in
    a circle. What is not there counts as a directory: it may be made later.
    """
    if sum(target.count("/") + 1 for target in links.values()) > _STEPS_MAX:
        raise FileRefused(f"its links hold more than {_STEPS_MAX} names")
    known: dict[Place, Place] = {}
    for link in links:
        _place_of(link, links, known, _THROUGH_MAX)


def _place_of(
    link: Place, links: Mapping[Place, str], known: dict[Place, Place], left: int
) -> Place:
    """Return where a link leads; each is walked once."""
    if link in known:
        return known[link]
    name, target = "/".join(link)[:80], links[link]
    if left < 0:
        raise FileRefused(f"it holds {name!r}, a link that leads in a circle")
    if not target or target.startswith("/") or "\0" in target:
        raise FileRefused(f"it holds {name!r}, a link that leads out of it")
    at = link[:-1]
    for part in target.split("/"):
        if part == "..":
            if not at:
                raise FileRefused(f"it holds {name!r}, a link that leads out of it")
            at = at[:-1]
        elif part not in {"", "."}:
            at = (*at, part)
            if at in links:
                at = _place_of(at, links, known, left - 1)
    known[link] = at
    return at


ENTRIES_MAX: Final = 100_000
_HEADER_BYTES: Final = 512
_PIECE_BYTES: Final = 1 << 20


class Entry(NamedTuple):
    """What stands below the directory."""

    parts: tuple[str, ...]
    mode: int
    n_bytes: int
    mtime_ns: int
    inode: int
    target: str
    """Of a link."""


def survey(directory: Path) -> list[Entry]:
    """Return what is there, directories before contents. Raise `FileRefused`, `FileDiffers`."""
    try:
        with opened_directory(directory) as top:
            entries = list(_entries(top, ()))
    except (FileNotFoundError, NotPlain) as error:
        raise FileDiffers("it changes") from error
    except OSError as error:
        raise FileRefused(f"it cannot be read: {error.strerror}") from error
    check_links({one.parts: one.target for one in entries if stat.S_ISLNK(one.mode)})
    return entries


def pack(directory: Path, entries: Sequence[Entry], out: IO[bytes], *, bytes_max: int) -> bytes:
    """Write what was seen into an open file, as a tar archive; return its digest. Raise
    `FileRefused`, and `FileDiffers` if it has changed since.
    """
    needed = sum(one.n_bytes + _HEADER_BYTES for one in entries)
    if needed > bytes_max:
        raise FileRefused(f"it has {needed} bytes, at most {bytes_max} (checkpoint_bytes_max)")
    owner = directory.lstat().st_uid
    try:
        with (
            opened_directory(directory) as top,
            tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as tar,
        ):
            for one in entries:
                _add(tar, top, one, owner)
    except OSError as error:  # the disk here is full, or it changes
        raise FileDiffers(f"it cannot be packed: {error.strerror or error}") from error
    if survey(directory) != entries:
        raise FileDiffers("it changes")
    out.flush()
    found, offset = hashlib.sha256(), 0
    while piece := os.pread(out.fileno(), _PIECE_BYTES, offset):
        found.update(piece)
        offset += len(piece)
    return found.digest()


def _entries(directory: int, at: tuple[str, ...], seen: int = 0) -> Iterator[Entry]:
    for name in sorted(os.listdir(directory)):
        parts = (*at, name)
        path, seen = "/".join(parts), seen + 1
        try:
            parts_of(path)
        except WrongPath as error:
            raise FileRefused(f"it holds {path[:80]!r}: {error}") from error
        if seen > ENTRIES_MAX:
            raise FileRefused(f"it holds more than {ENTRIES_MAX} files")
        found = os.stat(name, dir_fd=directory, follow_symlinks=False)
        kind, target, n_bytes = stat.S_IFMT(found.st_mode), "", 0
        if kind == stat.S_IFLNK:
            target = os.readlink(name, dir_fd=directory)
        elif kind == stat.S_IFREG:
            n_bytes = found.st_size
        elif kind != stat.S_IFDIR:
            raise FileRefused(f"it holds {path!r}, which is no plain file")
        yield Entry(parts, found.st_mode, n_bytes, found.st_mtime_ns, found.st_ino, target)
        if kind == stat.S_IFDIR:
            with entered(directory, [name]) as opened:
                for one in _entries(opened, parts, seen):
                    seen += 1
                    yield one


def _add(tar: tarfile.TarFile, top: int, one: Entry, owner: int) -> None:
    head = tarfile.TarInfo("/".join(one.parts))
    head.mode, head.mtime = stat.S_IMODE(one.mode), one.mtime_ns // 1_000_000_000
    if stat.S_ISDIR(one.mode):
        head.type = tarfile.DIRTYPE
        tar.addfile(head)
    elif stat.S_ISLNK(one.mode):
        head.type, head.linkname = tarfile.SYMTYPE, one.target
        tar.addfile(head)
    else:
        with entered(top, one.parts[:-1]) as directory:
            try:
                fd = open_file(one.parts[-1], directory, owner=owner)
            except NotPlain as error:
                raise FileRefused(f"it holds {head.name!r}: {error.strerror}") from error
        with os.fdopen(fd, "rb") as file:
            head.size = one.n_bytes
            tar.addfile(head, file)
