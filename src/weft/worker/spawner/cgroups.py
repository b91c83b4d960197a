"""Cgroups of attempts (version 2): made before the start, entered by the process itself, and
removed once nothing of the attempt lives.
"""

import contextlib
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence

from weft.worker.private_files import write_all
from weft.worker.spawner.attempt import SpawnerAttempt

_ENTER = 'echo 0 >&4 || exit 126; exec "$@" 4>&-'
"""It enters before the program begins, so that nothing of the program is ever outside."""
_MAY_BE_MISSING = frozenset({"memory.swap.max", "memory.oom.group"})
_KILLS = "oom_kill "
_REACHED = "oom "
_GONE_WITHIN_S = 5.0
_STEP_S = 0.01


def make(attempt: SpawnerAttempt) -> None:
    """Make an attempt's cgroup with its limits and open its entrance. Raise `OSError`."""
    terms = attempt.request.cgroup
    assert terms is not None
    key = attempt.key
    path = f"{terms.parent}/b{key.batch_id}.j{key.job_id}.{key.attempt}"
    is_new = attempt.cgroup is None
    if is_new:
        os.mkdir(path)
    attempt.cgroup = path
    for file, value in terms.limits if is_new else ():
        try:
            _write(f"{path}/{file}", value)
        except FileNotFoundError:
            if file not in _MAY_BE_MISSING:
                raise
    attempt.cgroup_fd = os.open(f"{path}/cgroup.procs", os.O_WRONLY | os.O_CLOEXEC)


def entering(argv: Sequence[str], env: Mapping[str, str]) -> tuple[str, ...]:
    """Return the command that enters the cgroup at `ENTER_FD`, then runs `argv`. A shell drops
    variables whose names it cannot have: they are given back.
    """
    odd = [f"{k}={v}" for k, v in env.items() if not (k.isascii() and k.isidentifier())]
    again = ("/usr/bin/env", *odd) if odd else ()
    return ("/bin/sh", "-c", _ENTER, "sh", *again, *argv)


def kill(path: str) -> None:
    """Kill all that is in a cgroup or below, at once, if the kernel can (5.14)."""
    with contextlib.suppress(OSError):
        _write(f"{path}/cgroup.kill", "1")


def holder_of(pid: int, paths: Iterable[str]) -> str | None:
    """Return in which of these cgroups, or below which, a process is."""
    lines = _lines_of(f"/proc/{pid}/cgroup")
    names = {name for line in lines if line.startswith("0::") for name in line.split("/")}
    return next((path for path in paths if os.path.basename(path) in names), None)


def why_killed(path: str) -> str | None:
    """Return why the kernel killed processes of a cgroup for lack of memory; empty: it did not;
    None: nobody knows.
    """
    lines = _lines_of(f"{path}/memory.events")
    if not lines:
        return None
    if not _count(lines, _KILLS):
        return ""
    if _count(lines, _REACHED):
        return "killed by the kernel because it used more memory than it had reserved"
    return "killed by the kernel because the memory of the host was used up"


def _lines_of(path: str) -> list[str]:
    try:
        with open(path) as file:
            return file.read().splitlines()
    except OSError:
        return []


def _count(lines: Sequence[str], name: str) -> int:
    return next((int(line[len(name) :]) for line in lines if line.startswith(name)), 0)


class Cgroups:
    """The cgroups of a spawner, below a directory of its worker; None: no directory is known."""

    def __init__(self, directory: str | None = None) -> None:
        """Kill and remove what an earlier spawner of this worker has left. Raise `TimeoutError` if
        some of it lives on.
        """
        self._directory = directory
        self._left: list[str] = []
        if directory is None:
            return
        deadline = time.monotonic() + _GONE_WITHIN_S
        while not self._is_empty(directory):
            if time.monotonic() > deadline:
                raise TimeoutError(f"processes of an earlier spawner live on in {directory}")
            time.sleep(_STEP_S)

    def remove(self, path: str) -> None:
        """Remove a cgroup of which no process is known to live. If something still dies there, it
        is tried again with the next one.
        """
        self._left = [one for one in (*self._left, path) if not _remove(one)]

    def close(self) -> None:
        """Remove all cgroups, once everything was killed."""
        if self._directory is not None:
            self._is_empty(self._directory)

    @staticmethod
    def _is_empty(directory: str) -> bool:
        """Remove what can be removed; say whether nothing is left."""
        try:
            found = [one.path for one in os.scandir(directory) if one.is_dir()]
        except FileNotFoundError:
            return True
        gone = [_remove(one) for one in found]
        return all(gone)


def _remove(path: str) -> bool:
    """Remove a cgroup and those below, killing what is in them. Say whether it is gone."""
    try:
        os.rmdir(path)
    except FileNotFoundError:
        return True
    except OSError:
        kill(path)
        for directory, _, _ in os.walk(path, topdown=False):
            with contextlib.suppress(OSError):
                os.rmdir(directory)
        return not os.path.exists(path)
    return True


def _write(path: str, text: str) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        write_all(fd, text.encode())
    finally:
        os.close(fd)


_SECOND_NS = 1_000_000_000


def count_oom_kills() -> int:
    """Return how many processes of this machine the kernel has killed for lack of memory."""
    return _count(_lines_of("/proc/vmstat"), _KILLS)


class OomKills:
    """Match the kernel's count of kills with the processes that were killed.

    The count covers the whole machine, so a process that something else kills at the same moment
    may be mistaken for one. A kill without a match is forgotten after a second: it was not ours.
    """

    def __init__(self, count: Callable[[], int] = count_oom_kills) -> None:
        self._count = count
        self._seen = count()
        self._unmatched = 0
        self._forget_at_ns = 0

    def take_one(self, now_ns: int) -> bool:
        """Say whether a process that was just killed was killed for lack of memory."""
        count = self._count()
        if now_ns >= self._forget_at_ns:
            self._unmatched = 0
        if count > self._seen:
            self._unmatched += count - self._seen
            self._forget_at_ns = now_ns + _SECOND_NS
        self._seen = count
        if not self._unmatched:
            return False
        self._unmatched -= 1
        return True
