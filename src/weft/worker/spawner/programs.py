"""Programs that cannot be run: why, and which the kernel would refuse."""

import errno
import os
import stat
import struct
from collections.abc import Mapping
from typing import BinaryIO, Final, NamedTuple

from weft.core.states import Reason

NO_ROOM: Final = frozenset({errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.ENOMEM})
"""Errors of a system that has no process, file or memory available now."""
DEFAULT_PATH: Final = "/usr/local/bin:/usr/bin:/bin"
_HEAD_BYTES = 256
"""So much of its first line the kernel reads."""
_FILES_MAX = 7
"""So many files the kernel reads at most: five scripts that interpret each other, the program that
interprets the last one, and its loader.
"""
_PATH_MAX = 4096
_TABLE_BYTES = 65536
"""The kernel runs no program with a larger one."""
_INTERPRETER = 3
"""The type of the program header that names the loader."""


class CannotStart(Exception):
    """This attempt cannot be started, now or later."""

    def __init__(self, reason: Reason, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message


class _Elf(NamedTuple):
    """Where the fields of an ELF file are that name the loader, and their forms."""

    table: tuple[str, int]
    sizes: tuple[str, int]
    offset: tuple[str, int]
    length: tuple[str, int]


_ELFS = {
    1: _Elf(("I", 28), ("HH", 42), ("I", 4), ("I", 16)),
    2: _Elf(("Q", 32), ("HH", 54), ("Q", 8), ("Q", 32)),
}
"""By the class of the file: of 32 and of 64 bits."""


def find_program(name: str, env: Mapping[str, str], cwd: str) -> str:
    """Return the path of a program without a slash, by the job's own PATH. Raise `CannotStart`."""
    refused = ""
    for directory in env.get("PATH", DEFAULT_PATH).split(":"):
        candidate = os.path.join(cwd, directory, name)
        try:
            mode = os.stat(candidate).st_mode
        except (OSError, ValueError):
            continue
        if stat.S_ISREG(mode) and os.access(candidate, os.X_OK):
            return candidate
        refused = refused or candidate
    if refused:
        raise CannotStart(Reason.NO_PROGRAM, f"{refused} {_not_executable(refused)}")
    message = (
        f"there is no program {name!r} in the job's PATH; a job with the command "
        "`printenv PATH` shows it"
        if name
        else "the program has no name"
    )
    raise CannotStart(Reason.NO_PROGRAM, message)


def check_program(path: str, cwd: str) -> None:
    """Raise `CannotStart` for a program that the kernel would not run, and for one whose
    interpreter it would not: a shell that is to become it can only end with 126 or 127, as
    programs do as well.
    """
    full = os.path.join(cwd, path)
    for _ in range(_FILES_MAX):
        try:
            is_file = stat.S_ISREG(os.stat(full).st_mode)
        except OSError as error:
            raise explain(error, path, cwd) from error
        if not is_file or not os.access(full, os.X_OK):
            raise explain(OSError(errno.EACCES, os.strerror(errno.EACCES)), path, cwd)
        interpreter = _interpreter_of(full)
        if not interpreter:
            return
        full = os.path.join(cwd, interpreter)
    raise explain(OSError(errno.ELOOP, os.strerror(errno.ELOOP)), path, cwd)


def cannot_enter(cwd: str, error: OSError | ValueError) -> CannotStart:
    """Say why the directory of a job could not be entered."""
    why = error.strerror if isinstance(error, OSError) else str(error)
    return CannotStart(Reason.BAD_SPEC, f"cannot enter the directory {cwd}: {why}")


def explain(error: OSError, path: str, cwd: str) -> CannotStart:
    """Say why a program could not be started, with its name."""
    if not os.path.isdir(cwd):
        return CannotStart(Reason.BAD_SPEC, f"the directory {cwd} has been removed")
    if error.errno == errno.E2BIG:
        return CannotStart(
            Reason.BAD_SPEC, "the arguments and the environment are too long together"
        )
    full = os.path.join(cwd, path)
    if error.errno == errno.ENOENT and os.path.lexists(full):
        interpreter = _interpreter_of(full)
        if interpreter:
            # It may be no UTF-8, which no message could carry.
            name = os.fsencode(interpreter).decode(errors="replace").replace("\r", "\\r")
            message = f"the interpreter {name} of {path} does not exist"
            return CannotStart(Reason.NO_PROGRAM, message)
    if error.errno == errno.EACCES and os.path.isdir(full):
        return CannotStart(Reason.NO_PROGRAM, f"{path} is a directory")
    words = {
        errno.ENOENT: "does not exist",
        errno.EACCES: _not_executable(full),
        errno.ENOTDIR: "does not exist: a part of its path is not a directory",
    }
    why = words.get(error.errno or 0, f"cannot be run: {error.strerror}")
    return CannotStart(Reason.NO_PROGRAM, f"the program {path} {why}")


def _not_executable(path: str) -> str:
    try:
        is_noexec = os.statvfs(path).f_flag & os.ST_NOEXEC
    except OSError:
        is_noexec = False
    return "is on a file system that is mounted noexec" if is_noexec else "is not executable"


def _interpreter_of(path: str) -> str:
    """Return what runs a script, or loads a program; empty: nothing does, or nobody knows."""
    try:
        with os.fdopen(_open_plain(path), "rb") as file:
            head = file.read(_HEAD_BYTES)
            if head.startswith(b"\x7fELF"):
                return _loader_of(file, head)
    except (OSError, struct.error, OverflowError, IndexError):
        return ""
    if not head.startswith(b"#!"):
        return ""
    # As the kernel does: only blanks and tabs end a name, and a NUL ends the line.
    line = head[2:].partition(b"\n")[0].partition(b"\0")[0].replace(b"\t", b" ")
    return os.fsdecode(line.strip(b" ").partition(b" ")[0])


def _open_plain(path: str) -> int:
    """Open a plain file, and nothing that would make anybody wait. Raise `OSError`."""
    found = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(found).st_mode):
            raise OSError(errno.EINVAL, "not a plain file")
        return os.open(f"/proc/self/fd/{found}", os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    finally:
        os.close(found)


def _loader_of(file: BinaryIO, head: bytes) -> str:
    """Raise `OSError`, `struct.error`, `OverflowError`, `IndexError` for a file that is none."""
    order = "<" if head[5] == 1 else ">"

    def read(field: tuple[str, int], where: bytes) -> tuple[int, ...]:
        return struct.unpack_from(order + field[0], where, field[1])

    form = _ELFS.get(head[4])
    if form is None:
        return ""
    (table,), (size, count) = read(form.table, head), read(form.sizes, head)
    if size * count > _TABLE_BYTES:
        return ""
    file.seek(table)
    entries = file.read(size * count)
    for first in range(0, len(entries), max(size, 1)):
        entry = entries[first : first + size]
        if read(("I", 0), entry) == (_INTERPRETER,):
            file.seek(*read(form.offset, entry))
            name = file.read(min(*read(form.length, entry), _PATH_MAX))
            return os.fsdecode(name.partition(b"\0")[0])
    return ""
