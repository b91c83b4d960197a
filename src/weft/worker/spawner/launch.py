"""Start one process: find the program, make its streams, spawn it, explain failures."""

import errno
import os
import sys
import time
from collections.abc import Mapping, Sequence
from copy import copy
from pathlib import Path

from weft.core.states import AttemptKey, Reason
from weft.wire.exec import MARK as EXEC_MARK
from weft.wire.exec import Begin
from weft.wire.function import CONTROL_FD
from weft.wire.spawner import CONTAINER_WORK
from weft.worker.private_files import write_all
from weft.worker.spawner import cgroups, entry, sandboxed
from weft.worker.spawner.attempt import SpawnerAttempt
from weft.worker.spawner.own_file import remove
from weft.worker.spawner.posix_spawn import ENTER_FD, WHY_FD, WORDS_FD, give
from weft.worker.spawner.prepared import Prepared, Spawned, StartedProcess, not_passable
from weft.worker.spawner.programs import (
    DEFAULT_PATH,
    NO_ROOM,
    CannotStart,
    cannot_enter,
    check_program,
    find_program,
)
from weft.worker.spawner.scratch import Checkpoints, MemoryFiles, NoMemoryFileSystem, Scratch

_DISK = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO})
_FOUND_MAX = 4096
_FOUND_NS = 1_000_000_000
MARK = "WEFT_ATTEMPT"
CHECKPOINT = "WEFT_CHECKPOINT_DIR"
MEMORY_FILES = "WEFT_SECRETS_DIR"
_ENTRY = Path(entry.__file__).read_text()


class NoRoom(Exception):
    """The system has no process, file or memory available now."""


class Launcher:
    """Start processes. The environment of each carries a mark by which it can be found again."""

    def __init__(
        self,
        scratch: Scratch,
        checkpoints: Checkpoints,
        memory_files: MemoryFiles,
        own_cgroups: cgroups.Cgroups,
        incarnation: str,
    ) -> None:
        self._scratch = scratch
        self._cgroups = own_cgroups
        self._memory_files = memory_files
        self._checkpoints = checkpoints
        self._incarnation = incarnation
        self._null = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
        self._found: dict[tuple[str, str], tuple[int, str]] = {}

    def prepare(self, attempt: SpawnerAttempt) -> Prepared:
        """Do everything for the start except the start itself.

        Raises `NoRoom` or `CannotStart`, and then cleans up.
        """
        try:
            cwd = self._directory_of(attempt)
            return self._prepare(attempt, self._argv_of(attempt), cwd)
        except BaseException as error:
            self._close_files(attempt)
            self.clean(attempt)
            raise _sorted(error) from error

    def discard(self, attempt: SpawnerAttempt, prepared: Prepared) -> None:
        """Undo `prepare`."""
        self._close_files(attempt)
        prepared.close()
        self.clean(attempt)

    def finish(
        self, attempt: SpawnerAttempt, prepared: Prepared, started: StartedProcess | Exception
    ) -> None:
        """Fill in `pid`, `pidfd`, the streams and `started_ns`. Raises the same as `prepare`."""
        self._close_files(attempt)
        try:
            spawned = prepared.finish(started)
        except BaseException as error:
            self.clean(attempt)
            raise _sorted(error) from error
        assert isinstance(started, StartedProcess)
        attempt.started_ns = started.started_ns
        attempt.pid, attempt.pidfd, attempt.stdout_fd, attempt.stderr_fd = spawned

    def clean(self, attempt: SpawnerAttempt) -> None:
        """Remove the attempt's files, once none of its processes is alive."""
        if attempt.why_fd >= 0:
            os.close(attempt.why_fd)
            attempt.why_fd = -1
        if attempt.script_path is not None:
            remove(attempt.script_path)
            attempt.script_path = None
        if attempt.cwd is not None:
            if attempt.request.directory is None:
                self._scratch.give_back(attempt.cwd)
            attempt.cwd = None
        if attempt.memory_files is not None:
            self._memory_files.remove(attempt.memory_files)
            attempt.memory_files = None
        if attempt.checkpoint is not None:
            self._checkpoints.give_back(attempt.key, attempt.checkpoint)
            attempt.checkpoint = None
        if attempt.cgroup is not None:
            self._cgroups.remove(attempt.cgroup)
            attempt.cgroup = None

    def variables_of(self, attempt: SpawnerAttempt) -> dict[str, str]:
        """Return the variables that only the spawner knows; they win over all others."""
        if attempt.checkpoint is None:
            attempt.checkpoint = self._checkpoints.take(attempt.key)
            self._give(attempt.checkpoint, attempt)
        mark = self.mark_of(attempt.key)
        variables = {**attempt.gpu_variables, CHECKPOINT: attempt.checkpoint, MARK: mark}
        if attempt.request.memory_files is not None:
            if attempt.memory_files is None:
                attempt.memory_files = self._memory_files.make(
                    attempt.key.name, attempt.request.memory_files, attempt.request.account
                )
            variables[MEMORY_FILES] = attempt.memory_files
        return variables

    def note_checkpoint(self, attempt: SpawnerAttempt) -> None:
        """Note to whom the directory belongs, of an attempt that runs longer than most."""
        if attempt.checkpoint is not None:
            self._checkpoints.note(attempt.key, attempt.checkpoint)

    def keep_checkpoint(self, attempt: SpawnerAttempt) -> None:
        """Keep what an attempt that has ended leaves to the next one."""
        path = attempt.checkpoint
        if path is not None and self._checkpoints.keep(attempt.key, path):
            attempt.checkpoint = None

    @staticmethod
    def _close_files(attempt: SpawnerAttempt) -> None:
        for fd in (attempt.stdin_fd, attempt.words_fd, attempt.cgroup_fd):
            if fd >= 0:
                os.close(fd)
        attempt.stdin_fd = attempt.words_fd = attempt.cgroup_fd = -1

    def _directory_of(self, attempt: SpawnerAttempt) -> str:
        """Return the job's directory: a scratch directory, or the one that it asks for."""
        cwd = attempt.request.cwd
        if attempt.request.directory is not None:
            attempt.cwd = attempt.request.directory
            return attempt.cwd
        if cwd is None:
            attempt.cwd = self._scratch.take_directory()
            self._give(attempt.cwd, attempt)
            return attempt.cwd
        if attempt.request.account is not None or attempt.request.sandbox is not None:
            return cwd  # it is entered under that account, or as the sandbox has it
        try:
            # Tried here because the error of a start does not say what failed. Left at once, so
            # that no file system is kept busy.
            os.chdir(cwd)
            os.chdir("/")
        except (OSError, ValueError) as error:
            if isinstance(error, OSError) and error.errno in NO_ROOM:
                raise
            raise cannot_enter(cwd, error) from error
        return cwd

    def _argv_of(self, attempt: SpawnerAttempt) -> tuple[str, ...]:
        request = attempt.request
        if request.script is None:
            return request.argv
        key = attempt.key
        name = f"b{key.batch_id}.j{key.job_id}.{key.attempt}"
        attempt.script_path = self._scratch.write_script(name, request.script)
        self._give(attempt.script_path, attempt)
        return (attempt.script_path, *request.argv)

    def _prepare(
        self, attempt: SpawnerAttempt, argv: tuple[str, ...], cwd: str, streams: Sequence[int] = ()
    ) -> Prepared:
        env = {**attempt.environment, **attempt.request.env, **self.variables_of(attempt)}
        path, account = argv[0], attempt.request.account
        if "/" not in path and account is None and attempt.request.sandbox is None:
            path = self._find(path, env, cwd)
        given = [(fd, number) for number, fd in enumerate(streams or (self._null,))]
        if attempt.request.stdin is not None and not streams:
            attempt.stdin_fd = _memory_file(attempt.request.stdin)
            given = [(attempt.stdin_fd, 0)]
        if attempt.request.sandbox is not None:
            env = sandboxed.seen_there(env, attempt) if attempt.request.is_contained else env
            if streams:
                given.append((attempt.stdin_fd, entry.JOB_FD))
            elif attempt.request.is_contained:
                argv = sandboxed.contained_command_of(attempt, (path, *argv[1:]))
            else:
                argv = sandboxed.command_of(attempt, (path, *argv[1:]), cwd)
            path, cwd = argv[0], "/"
            try:
                attempt.words_fd = _memory_file(sandboxed.variables_of(env))
            except ValueError as error:
                raise not_passable(error) from error
            given.append((attempt.words_fd, WORDS_FD))
            env = {name: env[name] for name in (MARK, EXEC_MARK) if name in env}
        if account is not None:
            attempt.why_fd = _memory_file("")
            os.fchmod(attempt.why_fd, 0o600)
            given.append((attempt.why_fd, WHY_FD))
        if (attempt.cgroup if streams else attempt.request.cgroup) is not None:
            if attempt.request.sandbox is None and account is None:
                check_program(path, cwd)
            cgroups.make(attempt)
            given.append((attempt.cgroup_fd, ENTER_FD))
            if account is None:
                argv = cgroups.entering((path, *argv[1:]), env)
                path = argv[0]
        request = attempt.request
        return Prepared(path, argv, env, given, cwd, request.umask, account, merged=request.merged)

    @staticmethod
    def _give(path: str, attempt: SpawnerAttempt) -> None:
        if attempt.request.account is not None:
            give(path, attempt.request.account)

    def start_beside(
        self, attempt: SpawnerAttempt, begin: Begin, streams: Sequence[int], mark: str
    ) -> SpawnerAttempt:
        """Start a command in the place of an attempt; return it with `pid`, `pidfd` and `why_fd`.
        Raises the same as `prepare`.
        """
        beside, request = copy(attempt), attempt.request
        beside.why_fd = -1
        beside.gpu_variables = {**attempt.gpu_variables, EXEC_MARK: mark}
        if begin.term:
            beside.gpu_variables["TERM"] = begin.term
        try:
            cwd, argv = attempt.cwd or request.cwd or "/", begin.argv
            python = os.path.realpath(sys.executable)
            if begin.with_python:
                argv = (python, *argv)
            if request.sandbox is not None:
                beside.stdin_fd = os.pidfd_open(sandboxed.first_of(attempt))
                cwd = (request.cwd or CONTAINER_WORK) if request.is_contained else cwd
                how = "python" if begin.with_python else "terminal" if begin.term else ""
                argv = (python, "-I", "-S", "-c", _ENTRY, how, cwd, *argv)
            prepared = self._prepare(beside, argv, cwd, streams)
            if begin.term and request.sandbox is None:
                prepared.take_terminal()
            beside.pid, beside.pidfd, *_ = _run(prepared)
        except BaseException as error:
            if beside.why_fd >= 0:
                os.close(beside.why_fd)
            raise _sorted(error) from error
        finally:
            self._close_files(beside)
        return beside

    def start_warm(
        self, argv: tuple[str, ...], env: dict[str, str], batch_id: int, control: int
    ) -> Spawned:
        """Start a warm process with its socket. Raises the same as `prepare`."""
        env = {**env, MARK: f"b{batch_id}.warm@{self._incarnation}"}
        fds = [(self._null, 0), (control, CONTROL_FD)]
        try:
            return _run(Prepared(argv[0], argv, env, fds, "/"))
        except BaseException as error:
            raise _sorted(error) from error

    def mark_of(self, key: AttemptKey) -> str:
        """Return the mark of an attempt's processes."""
        return f"b{key.batch_id}.j{key.job_id}.{key.attempt}@{self._incarnation}"

    def _find(self, name: str, env: Mapping[str, str], cwd: str) -> str:
        """Return what `find_program` does: of the last second, if no place depends on `cwd`."""
        now, path = time.monotonic_ns(), env.get("PATH", DEFAULT_PATH)
        known = self._found.get((name, path))
        if known is not None and known[0] > now:
            return known[1]
        program = find_program(name, env, cwd)
        if all(one.startswith("/") for one in path.split(":")):
            if len(self._found) >= _FOUND_MAX:
                self._found.clear()
            self._found[name, path] = (now + _FOUND_NS, program)
        return program


def _run(prepared: Prepared) -> Spawned:
    """Start it in this thread. Raises the same as `Prepared.finish`."""
    started: StartedProcess | Exception
    try:
        started = prepared.run()
    except Exception as error:  # noqa: BLE001 (`finish` raises it)
        started = error
    return prepared.finish(started)


def _sorted(error: BaseException) -> BaseException:
    """Sort a system error: the start may work later, or never."""
    if isinstance(error, NoMemoryFileSystem):
        return CannotStart(Reason.SYSTEM, str(error))
    if not isinstance(error, OSError):
        return error
    if error.errno in NO_ROOM:
        return NoRoom(os.strerror(error.errno or 0))
    return CannotStart(Reason.DISK if error.errno in _DISK else Reason.SYSTEM, str(error))


def _memory_file(text: str) -> int:
    """Return an open file with this text, which only those have to whom it is given."""
    fd = os.memfd_create("weft", os.MFD_CLOEXEC)
    try:
        write_all(fd, text.encode("utf-8", "surrogateescape"))
        os.lseek(fd, 0, os.SEEK_SET)
    except BaseException:
        os.close(fd)
        raise
    return fd
