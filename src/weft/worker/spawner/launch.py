"""Start one process: find the program, make its streams, spawn it, and say what went wrong."""

import errno
import os
import signal
import stat
import time
from typing import NamedTuple

from weft.core.states import Reason
from weft.wire.function import CONTROL_FD
from weft.wire.spawner import AttemptKey
from weft.worker.private_files import write_all
from weft.worker.spawner.attempt import Attempt
from weft.worker.spawner.scratch import Scratch

_NO_ROOM = frozenset({errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.ENOMEM})
_DISK = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO})
_DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin"
_FOUND_MAX = 4096
_FOUND_NS = 1_000_000_000
_BUSY_TRIES = 50
# Python ignores these two, and what is ignored stays ignored in a child.
_SIGNALS = (signal.SIGPIPE, signal.SIGXFSZ)
MARK = "WEFT_ATTEMPT"


class Spawned(NamedTuple):
    """A process that lives, and our ends of its pipes."""

    pid: int
    pidfd: int
    stdout_fd: int
    stderr_fd: int


class NoRoom(Exception):
    """The system has no process, file or memory left for it now."""


class CannotStart(Exception):
    """This attempt cannot be started, now or later."""

    def __init__(self, reason: Reason, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message


class Launcher:
    """Start processes. The environment of each carries a mark by which it can be found again."""

    def __init__(self, scratch: Scratch, incarnation: str) -> None:
        self._scratch = scratch
        self._incarnation = incarnation
        self._null = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
        self._is_away = False
        self._found: dict[tuple[str, str], tuple[int, str]] = {}

    def start(self, attempt: Attempt) -> None:
        """Start it and fill in `pid`, `pidfd`, the streams and `started_ns`.

        Raises `NoRoom` or `CannotStart`; then nothing is left of the try.
        """
        try:
            self._enter_directory(attempt)
            argv = self._argv_of(attempt)
            self._spawn(attempt, argv)
        except OSError as error:
            self.clean(attempt)
            raise _sorted(error) from error
        except BaseException:
            self.clean(attempt)
            raise

    def rest(self) -> None:
        """Nothing is to be started now: stand where no file system is held busy."""
        if self._is_away:
            self._is_away = False
            os.chdir("/")

    def clean(self, attempt: Attempt) -> None:
        """Remove what was made for the attempt. None of its processes lives any more."""
        if attempt.script_path is not None:
            self._scratch.remove_script(attempt.script_path)
            attempt.script_path = None
        if attempt.cwd is not None:
            self._scratch.give_back(attempt.cwd)
            attempt.cwd = None

    def _enter_directory(self, attempt: Attempt) -> None:
        """Change to the job's directory: a child starts where its parent is."""
        cwd = attempt.spec.cwd
        if cwd is None:
            attempt.cwd = cwd = self._scratch.take_directory()
        self._is_away = True
        try:
            os.chdir(cwd)
        except (OSError, ValueError) as error:
            if isinstance(error, OSError) and error.errno in _NO_ROOM:
                raise
            why = error.strerror if isinstance(error, OSError) else str(error)
            message = f"cannot enter the directory {cwd}: {why}"
            raise CannotStart(Reason.BAD_SPEC, message) from error

    def _argv_of(self, attempt: Attempt) -> tuple[str, ...]:
        spec = attempt.spec
        if spec.script is None:
            return spec.argv
        key = attempt.key
        name = f"b{key.batch_id}.j{key.job_id}.{key.attempt}"
        attempt.script_path = self._scratch.write_script(name, spec.script)
        return (attempt.script_path, *spec.argv)

    def _spawn(self, attempt: Attempt, argv: tuple[str, ...]) -> None:
        key = attempt.key
        env = {**attempt.environment, **attempt.spec.env}
        env[MARK] = self.mark_of(key)
        path = argv[0] if "/" in argv[0] else self._find(argv[0], env.get("PATH", _DEFAULT_PATH))
        stdin = self._null
        if attempt.spec.stdin is not None:
            stdin = _memory_file(attempt.spec.stdin)
        attempt.started_ns = time.monotonic_ns()
        try:
            started = _spawn_with_pipes(path, argv, env, [(stdin, 0)])
        except BaseException:
            attempt.started_ns = 0
            raise
        finally:
            if stdin != self._null:
                os.close(stdin)
        attempt.pid, attempt.pidfd, attempt.stdout_fd, attempt.stderr_fd = started

    def start_warm(
        self, argv: tuple[str, ...], env: dict[str, str], batch_id: int, control: int
    ) -> Spawned:
        """Start a warm process with its socket. Raises as `start`."""
        try:
            os.chdir("/")
            self._is_away = False
            env = {**env, MARK: f"b{batch_id}.warm@{self._incarnation}"}
            fds = [(self._null, 0), (control, CONTROL_FD)]
            return _spawn_with_pipes(argv[0], argv, env, fds)
        except OSError as error:
            raise _sorted(error) from error

    def mark_of(self, key: AttemptKey) -> str:
        """Return the mark of an attempt's processes."""
        return f"b{key.batch_id}.j{key.job_id}.{key.attempt}@{self._incarnation}"

    def _find(self, name: str, path: str) -> str:
        """Return where a program without a slash in its name is, by the job's own PATH."""
        now = time.monotonic_ns()
        known = self._found.get((name, path))
        if known is not None and known[0] > now:
            return known[1]
        refused = ""
        for directory in path.split(":"):
            candidate = os.path.join(directory or ".", name)
            try:
                mode = os.stat(candidate).st_mode
            except (OSError, ValueError):
                continue
            if stat.S_ISREG(mode) and os.access(candidate, os.X_OK):
                if directory.startswith("/"):
                    if len(self._found) >= _FOUND_MAX:
                        self._found.clear()
                    self._found[name, path] = (now + _FOUND_NS, candidate)
                return candidate
            refused = refused or candidate
        if refused:
            raise CannotStart(Reason.NO_PROGRAM, f"{refused} is not executable")
        message = (
            f"there is no program {name!r} in PATH ({path})" if name else "the program has no name"
        )
        raise CannotStart(Reason.NO_PROGRAM, message)


def _spawn_with_pipes(
    path: str, argv: tuple[str, ...], env: dict[str, str], given: list[tuple[int, int]]
) -> Spawned:
    """Spawn with pipes for its output, and with those of our descriptors as its own."""
    fds: list[int] = []
    try:
        out, out_of_job = os.pipe2(os.O_CLOEXEC)
        fds += (out, out_of_job)
        err, err_of_job = os.pipe2(os.O_CLOEXEC)
        fds += (err, err_of_job)
        # From the lowest number on: none is overwritten before it was copied, for ours are higher.
        copies = sorted([*given, (out_of_job, 1), (err_of_job, 2)], key=lambda pair: pair[1])
        pid = _spawn_file(path, argv, env, copies)
        pidfd = _open_pidfd(pid)
    except BaseException:
        for fd in fds:
            os.close(fd)
        raise
    os.close(out_of_job)
    os.close(err_of_job)
    os.set_blocking(out, False)
    os.set_blocking(err, False)
    return Spawned(pid, pidfd, out, err)


def _spawn_file(
    path: str, argv: tuple[str, ...], env: dict[str, str], fds: list[tuple[int, int]]
) -> int:
    actions = [(os.POSIX_SPAWN_DUP2, ours, its) for ours, its in fds]
    for _ in range(_BUSY_TRIES):
        try:
            return os.posix_spawn(
                path, argv, env, file_actions=actions, setpgroup=0, setsigdef=_SIGNALS
            )
        except OSError as error:
            if error.errno == errno.ENOEXEC:
                # As a shell does with a script that does not say who runs it.
                path, argv = "/bin/sh", ("/bin/sh", path, *argv[1:])
            elif error.errno != errno.ETXTBSY:
                raise _explain(error, path) from error
        except ValueError as error:
            message = (
                f"the arguments or the environment hold what no program can be given: {error}"
            )
            raise CannotStart(Reason.BAD_SPEC, message) from error
    raise CannotStart(Reason.NO_PROGRAM, f"the program {path} is being written")


def _sorted(error: OSError) -> Exception:
    """Say whether it may work later, or never."""
    if error.errno in _NO_ROOM:
        return NoRoom(os.strerror(error.errno or 0))
    return CannotStart(Reason.DISK if error.errno in _DISK else Reason.SYSTEM, str(error))


def _memory_file(text: str) -> int:
    """Return an open file that holds the standard input."""
    fd = os.memfd_create("stdin", os.MFD_CLOEXEC)
    try:
        write_all(fd, text.encode("utf-8", "surrogateescape"))
        os.lseek(fd, 0, os.SEEK_SET)
    except BaseException:
        os.close(fd)
        raise
    return fd


def _open_pidfd(pid: int) -> int:
    try:
        return os.pidfd_open(pid)
    except OSError:
        # It runs, but nobody could watch it.
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        raise


def _explain(error: OSError, path: str) -> Exception:
    """Say why a program could not be started, with its name."""
    if error.errno in _NO_ROOM:
        return error
    if error.errno == errno.E2BIG:
        return CannotStart(
            Reason.BAD_SPEC, "the arguments and the environment are too long together"
        )
    if error.errno == errno.ENOENT and os.path.lexists(path):
        interpreter = _interpreter_of(path)
        if interpreter:
            message = f"the interpreter {interpreter} of {path} does not exist"
            return CannotStart(Reason.NO_PROGRAM, message)
    if error.errno == errno.EACCES and os.path.isdir(path):
        return CannotStart(Reason.NO_PROGRAM, f"{path} is a directory")
    words = {
        errno.ENOENT: "does not exist",
        errno.EACCES: "is not executable",
        errno.ENOTDIR: "does not exist: a part of its path is not a directory",
    }
    why = words.get(error.errno or 0, f"cannot be run: {error.strerror}")
    return CannotStart(Reason.NO_PROGRAM, f"the program {path} {why}")


def _interpreter_of(path: str) -> str:
    try:
        with open(path, "rb") as file:
            line = file.readline(256)
    except OSError:
        return ""
    words = line[2:].split() if line.startswith(b"#!") else []
    return words[0].decode(errors="replace") if words else ""
