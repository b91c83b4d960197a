"""`posix_spawn` without Python's global lock.

`os.posix_spawn` keeps the lock until the child has begun its program, so the whole spawner waits
some 400 µs for each process. ctypes releases it for the call: threads start processes in parallel
while the loop continues. Needs Linux with glibc 2.29 or musl 1.1.24, or later.
"""

import ctypes
import functools
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

_SETPGROUP, _SETSIGDEF, _SETSID = 0x02, 0x04, 0x80
# Larger than these structures are in any libc of these systems.
_ATTRIBUTES_BYTES, _ACTIONS_BYTES, _SIGNAL_SET_BYTES = 1024, 512, 256
_ROUNDED_TO = 16

_CLONE_FS = 0x200
_STDOUT = b"/proc/self/fd/1"

_libc = ctypes.CDLL(None)


def own_umask() -> bool:
    """Give the calling thread a file mode mask and directory of its own, if the system lets it."""
    return bool(_libc.unshare(_CLONE_FS) == 0)


class Spawn:
    """One prepared start. Raises `ValueError` for arguments that no program can be given.

    `fds`: pairs of our descriptor and its number in the child, sorted by the latter. None is
    overwritten before it is copied, because our descriptors have higher numbers.
    """

    def __init__(
        self,
        path: str,
        argv: Sequence[str],
        env: Mapping[str, str],
        fds: Sequence[tuple[int, int]],
        cwd: str,
    ) -> None:
        self.path = path
        self._path = _text(path)
        self._argv = _texts(argv)
        self._env = _texts(pair(name, value) for name, value in env.items())
        self._arguments = argv
        self._fds = fds
        self._cwd = _text(cwd)
        self.has_terminal = False

    def run(self) -> int:
        """Return the process id. Raises `OSError`. The process leads a group of its own."""
        pid = ctypes.c_int()
        actions = ctypes.create_string_buffer(_ACTIONS_BYTES)
        _check(_libc.posix_spawn_file_actions_init(actions))
        try:
            _check(_libc.posix_spawn_file_actions_addchdir_np(actions, self._cwd))
            for ours, its in self._fds:
                _check(_libc.posix_spawn_file_actions_adddup2(actions, ours, its))
            if self.has_terminal:  # who leads a session without one gets what it opens
                again = (actions, 0, _STDOUT, os.O_RDWR, 0)
                _check(_libc.posix_spawn_file_actions_addopen(*again))
            attributes = _attributes(_SETSID if self.has_terminal else _SETPGROUP)
            _check(
                _libc.posix_spawn(
                    ctypes.byref(pid), self._path, actions, attributes, self._argv, self._env
                )
            )
        finally:
            _libc.posix_spawn_file_actions_destroy(actions)
        return pid.value

    def by_shell(self) -> None:
        """Run a script without a `#!` line with sh, as a shell does."""
        self._argv = _texts(("/bin/sh", self.path, *self._arguments[1:]))
        self._path = b"/bin/sh"


@functools.cache
def _attributes(alone: int) -> ctypes.Array[ctypes.c_char]:
    """Return the attributes of starts: a process group or session of its own, default signals."""
    attributes = ctypes.create_string_buffer(_ATTRIBUTES_BYTES)
    signals = ctypes.create_string_buffer(_SIGNAL_SET_BYTES)
    _check(_libc.posix_spawnattr_init(attributes))
    # All signals: Python ignores some, and an ignored signal stays ignored in a child.
    _libc.sigfillset(signals)
    _check(_libc.posix_spawnattr_setsigdefault(attributes, signals))
    _check(_libc.posix_spawnattr_setpgroup(attributes, 0))
    _check(_libc.posix_spawnattr_setflags(attributes, ctypes.c_short(alone | _SETSIGDEF)))
    return attributes


@functools.cache
def _array_of(length: int) -> type[ctypes.Array[ctypes.c_char_p]]:
    return ctypes.c_char_p * length


def _texts(values: Iterable[str]) -> ctypes.Array[ctypes.c_char_p]:
    """Return a null-terminated array; its length is rounded up, so that there are few types."""
    texts = [_text(value) for value in values]
    return _array_of(len(texts) // _ROUNDED_TO * _ROUNDED_TO + _ROUNDED_TO)(*texts)


def _text(value: str) -> bytes:
    text = os.fsencode(value)
    if b"\0" in text:
        raise ValueError("embedded null byte")
    return text


def pair(name: str, value: str) -> str:
    """Return a variable as programs get it. Raise `ValueError` if none can."""
    if not name or "=" in name:
        raise ValueError("illegal environment variable name")
    return f"{name}={value}"


def _check(code: int) -> None:
    if code:
        raise OSError(code, os.strerror(code))


# Two may be the same where no process has both. A warm process finds its socket at `CONTROL_FD`.

WORDS_FD: Final = 3
"""Where bwrap finds the words of `sandboxed.variables_of`."""
WHY_FD: Final = 3
"""Where a process of an account says why its program could not be run."""
ENTER_FD: Final = 4
"""Where a process finds the file by which it enters its cgroup."""
