"""The durable state of a remote runner: its incarnation, and a handle for each attempt.

A handle is on the disk before its attempt is submitted, and is removed when the end is
acknowledged. The format of a handle is an interface: other releases adopt it. Beside it stands the
script by which a node runs the attempt, where an engine gives it a folder of its own.
"""

import fcntl
import os
import secrets
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from weft.core.ends.conditions import BLOCK_FILE_VARIABLE
from weft.core.errors import Conflict, Invalid
from weft.core.files.products import PRODUCTS_VARIABLE
from weft.core.states import AttemptKey, parse_attempt_name
from weft.plugins.executors import job_environment
from weft.ports.executor import ExecutorLimits
from weft.ports.runner import Assignment
from weft.wire.spec import JobSpec


class RunnerHeld(Conflict, code="WORKER.RUNNER_HELD"):
    """Another agent uses the state directory of this runner."""


class Handle(msgspec.Struct, frozen=True):
    """An attempt that was, or is about to be, submitted."""

    assignment: Assignment
    stop_reason: int | None = None
    """`core.states.Reason`: why it must end; None: it need not."""


_ENCODE = msgspec.msgpack.Encoder().encode
_DECODE = msgspec.msgpack.Decoder(Handle).decode


class Handles:
    """The state directory of one remote runner, held by one agent at a time."""

    def __init__(self, state: Path) -> None:
        self._state = state
        self._directory = state / "handles"
        self._given = state / "given"
        """A file for each attempt that the engine has said it has."""
        self._ending = state / "ending"
        self._lock = -1

    def hold(self) -> None:
        """Take the directory. Raise `RunnerHeld` if another agent has it."""
        self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._given.mkdir(mode=0o700, exist_ok=True)
        if self._lock >= 0:
            return
        lock = os.open(self._state / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            os.close(lock)
            raise RunnerHeld(
                "another agent runs this worker",
                detail=f"It holds {self._state}.",
                hint="Give each worker of a host a name of its own (`worker_name`).",
            ) from error
        self._lock = lock

    def let_go(self) -> None:
        """Release the directory for the next agent."""
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    def incarnation(self) -> str:
        """Return the runner's name. A new directory gets one."""
        path = self._state / "incarnation"
        if not path.exists():
            self._write(path, secrets.token_hex(16).encode())
        return path.read_text()

    def begin_incarnation(self) -> None:
        """Take a new name: all attempts of the old one are proved to be gone."""
        name = secrets.token_hex(16).encode()
        self._write(self._state / "proved", name)
        self._write(self._state / "incarnation", name)
        self._ending.unlink(missing_ok=True)

    def note_ending(self) -> None:
        """Note that all attempts of this incarnation are to be stopped."""
        self._write(self._ending, b"")

    @property
    def is_ending(self) -> bool:
        """Return whether they are, and are not proved to be gone yet."""
        return self._ending.exists()

    def older_are_gone(self) -> bool:
        """Return whether this incarnation began with a proof that the one before it was over.

        A new directory has no such proof. It may stand for a lost one, whose attempts the engine
        still runs.
        """
        path = self._state / "proved"
        return path.exists() and path.read_text() == self.incarnation()

    def put(self, handles: Sequence[Handle]) -> None:
        """Write handles; they are on the disk when this returns. Values of secrets stay in memory:
        no disk has them.
        """
        for handle in handles:
            bare = msgspec.structs.replace(handle.assignment, secrets=())
            kept = msgspec.structs.replace(handle, assignment=bare)
            self._replace(self._directory / kept.assignment.key.name, _ENCODE(kept))
        if handles:
            _sync(self._directory)

    def note_given(self, keys: Iterable[AttemptKey]) -> None:
        """Note that the engine has taken attempts. Should this host die before it is on the disk,
        they are given to the engine again, which knows their names for a while.
        """
        for key in keys:
            (self._given / key.name).touch(0o600)

    def drop_given(self, keys: Iterable[AttemptKey]) -> None:
        """Drop such notes."""
        for key in keys:
            (self._given / key.name).unlink(missing_ok=True)

    def given(self) -> set[AttemptKey]:
        """Return the attempts with such notes."""
        found = (parse_attempt_name(path.name) for path in self._given.iterdir())
        return {key for key in found if key is not None}

    def remove(self, key: AttemptKey) -> None:
        """Drop a handle."""
        (self._directory / key.name).unlink(missing_ok=True)
        self.drop_given([key])

    def all(self) -> Iterator[Handle]:
        """Yield the handles, the oldest attempt first."""
        found = [(parse_attempt_name(path.name), path) for path in self._directory.iterdir()]
        for _, path in sorted((key, path) for key, path in found if key is not None):
            yield _DECODE(path.read_bytes())

    def _write(self, path: Path, data: bytes) -> None:
        self._replace(path, data)
        _sync(path.parent)

    def _replace(self, path: Path, data: bytes) -> None:
        """Write a file, whose name is on the disk once its directory is synced."""
        temporary = path.with_name(f".{path.name}")
        with temporary.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)


def _sync(path: Path) -> None:
    directory = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


def tag_of(state: Path) -> str:
    """Return what this gateway's names have, and no other's: clusters are shared, and batches of
    another database have the same numbers.
    """
    state.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = state / "tag"
    if not path.exists():
        temporary = path.with_name(".tag")
        temporary.write_text(secrets.token_hex(6))
        temporary.replace(path)
    return path.read_text()


FOLDER: Final = "weft_folder"
"""The variable of the script that names the folder."""
PRODUCTS: Final = "products"
ASK: Final = "ask"
"""Files in it in which a job says something; the gateway brings them back."""


class Dialect(NamedTuple):
    """What an engine is called, and which executors' specs it runs."""

    engine: str
    runs: tuple[str, ...]
    """`process` is a spec that names none."""
    chooses: bool = False
    """Whether jobs choose of the engine, as `engine` of their documents says."""


def check_program(spec: JobSpec, dialect: Dialect) -> None:
    """Raise `Invalid` if the engine cannot run such a job."""
    if spec.executor not in dialect.runs:
        raise Invalid(
            f"{dialect.engine} cannot run a job of the executor {spec.executor!r}",
            hint="Let it run on a worker of this executor.",
        )
    if spec.function is not None:
        raise Invalid(
            f"{dialect.engine} runs programs, not functions", hint="Give it a command or a script."
        )
    if not dialect.chooses:
        job_environment.check_engine(spec, dialect.engine)


def script_of(
    one: Assignment, limits: ExecutorLimits, dialect: Dialect, environment: Mapping[str, str]
) -> str:
    """Return the script of an attempt, after what sets the folder. Raise `Invalid` if the engine
    cannot run such a job. `environment`: of a job that inherits none.
    """
    key, spec = one.key, one.spec
    check_program(spec, dialect)
    own = job_environment.environment_elsewhere(key, spec, limits, environment)
    lines = [f"export {name}={shlex.quote(text)}" for name, text in own.items()]
    if limits.block_files:
        lines.append(f'export {BLOCK_FILE_VARIABLE}="${FOLDER}/{ASK}"')
    if limits.product_files:
        lines.append(f'export {PRODUCTS_VARIABLE}="${FOLDER}/{PRODUCTS}"')
    if spec.umask is not None:
        lines.append(f"umask {int(spec.umask, 8):o}")
    if spec.stdin is not None:
        lines.append(f'printf %s {shlex.quote(spec.stdin)} >"${FOLDER}/stdin"')
        lines.append(f'exec <"${FOLDER}/stdin"')
    else:
        lines.append("exec </dev/null")
    where = f'"${FOLDER}/work"' if spec.cwd is None else shlex.quote(spec.cwd)
    make = f'mkdir -p "${FOLDER}/work" && ' if spec.cwd is None else ""
    lines.append(f"{make}cd {where} || exit 126")
    argv, script = job_environment.program_of(spec)
    if script is not None:
        lines.append(f'printf %s {shlex.quote(script)} >"${FOLDER}/program"')
        lines.append(f'chmod 700 "${FOLDER}/program"')
    words = shlex.join(argv)
    program = f'"${FOLDER}/program" {words}' if script is not None else words
    if not program:
        return "exit 0\n"
    limit_ms = job_environment.timeout_ms_of(spec)
    clock = ""
    if limit_ms is not None:
        clock = f"timeout -k {limits.grace_ms / 1000:g} {limit_ms / 1000:g} "
    return "\n".join([*lines, f"exec {clock}{program}", ""])
