"""A process that only has to be started: its streams, its start, and why it could not be; and the
threads that start some. Each start returns only when its program has begun.

While cores are free, that is quick, and a thread would only cost wake-ups. If a new process has to
wait for a core, so does the caller: then threads do the waiting, and the loop continues.
"""

import errno
import os
import signal
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from queue import SimpleQueue
from typing import Final, Generic, NamedTuple, TypeVar

from weft.core.states import Reason
from weft.faults import fault_point
from weft.wire.spawner import Account
from weft.worker.spawner.loop import EventLoop
from weft.worker.spawner.posix_spawn import AccountSpawn, Spawn, own_umask
from weft.worker.spawner.programs import NO_ROOM, CannotStart, explain

_BUSY_TRIES: Final = 50
_after_start = fault_point("spawner.after_start")


class StartedProcess(NamedTuple):
    """A process that a thread has started."""

    pid: int
    started_ns: int
    """The time just before the start."""


class Spawned(NamedTuple):
    """A live process and our ends of its pipes."""

    pid: int
    pidfd: int
    stdout_fd: int
    stderr_fd: int


class Prepared:
    """A process with its pipes that only has to be started. `run` may be called in any thread."""

    def __init__(
        self,
        path: str,
        argv: Sequence[str],
        env: Mapping[str, str],
        given: Sequence[tuple[int, int]],
        cwd: str,
        umask: int | None = None,
        account: Account | None = None,
        *,
        merged: bool = False,
    ) -> None:
        """Make the pipes, unless they are `given`: our descriptors and their numbers in the
        process; `merged`: it writes all of its output into the first one.
        """
        self.umask = umask
        self._path = path
        self._cwd = cwd
        self._ours: list[int] = []
        self._its: list[int] = []
        try:
            for _ in () if 1 in dict(given).values() else ("stdout", "stderr"):
                ours, its = os.pipe2(os.O_CLOEXEC)
                self._ours.append(ours)
                self._its.append(its)
            outputs = [(self._its[0 if merged else -1], 2), (self._its[0], 1)] if self._its else []
            copies = sorted([*given, *outputs], key=lambda one: one[1])
            self._spawn = (
                Spawn(path, argv, env, copies, cwd)
                if account is None
                else AccountSpawn(path, argv, env, copies, cwd, account)
            )
        except ValueError as error:
            self.close()
            raise not_passable(error) from error
        except BaseException:
            self.close()
            raise

    def take_terminal(self) -> None:
        """Let it lead a session, whose terminal is what its streams are."""
        self._spawn.has_terminal = True

    def run(self) -> StartedProcess:
        """Start it. Raises `OSError`, and `CannotStart` if the program stays busy."""
        if self.umask is None:
            return self._run()
        ours = os.umask(self.umask)
        try:
            return self._run()
        finally:
            os.umask(ours)

    def _run(self) -> StartedProcess:
        for _ in range(_BUSY_TRIES):
            started_ns = time.monotonic_ns()
            if isinstance(self._spawn, AccountSpawn):
                return StartedProcess(self._spawn.run(), started_ns)
            try:
                return StartedProcess(self._spawn.run(), started_ns)
            except OSError as error:
                if error.errno == errno.ENOEXEC:
                    self._spawn.by_shell()
                elif error.errno != errno.ETXTBSY:
                    raise
        raise CannotStart(Reason.NO_PROGRAM, f"the program {self._path} is being written")

    def finish(self, started: StartedProcess | Exception) -> Spawned:
        """Return the process, or raise why it was not started, as `Launcher.prepare` does."""
        if isinstance(started, Exception):
            self.close()
            if isinstance(started, OSError) and isinstance(self._spawn, Spawn):
                raise _why_not(started, self._path, self._cwd) from started
            raise started
        try:
            _after_start()
            pidfd = os.pidfd_open(started.pid)
        except BaseException:  # it runs, but it could not be watched
            os.killpg(started.pid, signal.SIGKILL)
            os.waitpid(started.pid, 0)
            self.close()
            raise
        self._close(self._its)
        for ours in self._ours:
            os.set_blocking(ours, False)
        return Spawned(started.pid, pidfd, *(self._ours or (-1, -1)))

    def close(self) -> None:
        """Close the pipes of a process that is not started."""
        self._close(self._ours, self._its)

    @staticmethod
    def _close(*lists: list[int]) -> None:
        for fds in lists:
            for fd in fds:
                os.close(fd)


def not_passable(error: ValueError) -> CannotStart:
    """Return the failure of words that the kernel passes to no program, such as one with a NUL."""
    message = f"the arguments or the environment cannot be passed to a program: {error}"
    return CannotStart(Reason.BAD_SPEC, message)


def _why_not(error: OSError, path: str, cwd: str) -> Exception:
    """Say why a program was not started, unless it may be later."""
    return error if error.errno in NO_ROOM else explain(error, path, cwd)


_QUICK_NS = 3_000_000
"""A time slice of the kernel. The change of threads costs more than shorter waits."""
_LONGEST_NS = 5_000_000
_LATELY = 16
Result = TypeVar("Result")
Work = Callable[[], Result]
OnEnd = Callable[[Result | Exception], None]


class Starter(Generic[Result]):
    """Start in the loop's thread as long as that is quick, else in other threads."""

    def __init__(self, loop: EventLoop, *, threads: int) -> None:
        self._work: SimpleQueue[tuple[Work[Result], OnEnd[Result]]] = SimpleQueue()
        self._done: SimpleQueue[tuple[OnEnd[Result], Result | Exception, int]] = SimpleQueue()
        self._wake = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        self._takes_ns = 0
        """The recent average duration of a start."""
        self.count = 0
        """The number of starts under way in threads."""
        self._shares_umask = not own_umask()
        loop.watch(self._wake, self._on_wake)
        for _ in range(threads):
            threading.Thread(target=self._serve, daemon=True).start()

    def begin(
        self, work: Work[Result], on_end: OnEnd[Result], *, sets_umask: bool = False
    ) -> None:
        """Do the work and call back on the loop's thread with its result or exception: at once, or
        after another thread has done it. `sets_umask`: the work changes the file mode mask, which
        no start beside it may see.
        """
        is_alone = sets_umask and self._shares_umask
        if is_alone:
            self.finish()
        if self._takes_ns > _QUICK_NS and not is_alone:
            self.count += 1
            self._work.put((work, on_end))
        else:
            result, took_ns = _timed(work)
            self._note(took_ns)
            on_end(result)

    def finish(self) -> None:
        """Wait until nothing is under way, and make all callbacks."""
        while self.count:
            self._take_done()

    def _serve(self) -> None:
        own_umask()
        while True:
            work, on_end = self._work.get()
            self._done.put((on_end, *_timed(work)))
            os.eventfd_write(self._wake, 1)

    def _on_wake(self) -> None:
        try:
            os.eventfd_read(self._wake)
        except BlockingIOError:
            return
        while not self._done.empty():
            self._take_done()

    def _take_done(self) -> None:
        on_end, result, took_ns = self._done.get()
        self.count -= 1
        self._note(took_ns)
        on_end(result)

    def _note(self, took_ns: int) -> None:
        self._takes_ns += (min(took_ns, _LONGEST_NS) - self._takes_ns) // _LATELY


def _timed(work: Work[Result]) -> tuple[Result | Exception, int]:
    """Return the result or exception of the work, and its duration."""
    begun_ns = time.monotonic_ns()
    result: Result | Exception
    try:
        result = work()
    except Exception as error:  # noqa: BLE001 (passed to the caller)
        result = error
    return result, time.monotonic_ns() - begun_ns
