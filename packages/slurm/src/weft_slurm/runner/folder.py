"""The shared directory: a folder for each attempt, and a file for each array.

    ROOT/weft-b1-j7-a1/  job, limit, script   what runs
                         work/                where a job runs that names no directory
                         run/                 who made it runs the attempt
                         run/started, ended   told by the node: its task, and the exit code
                         run/used             what the shell says of time that its children used
                         run/products, ask    what the job left, if it did
                         run/progress         how far it says that it is
                         out, err             output
    ROOT/arrays/ID       the names of an array's attempts, a line each
    ROOT/arrays/ID.sh    what Slurm starts
    ROOT/arrays/ID.job   its number in Slurm, once that is known

It must not ask Slurm.
"""

import asyncio
import errno
import os
import re
import shutil
import stat
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple, ParamSpec, TypeVar

from weft.core.progress_file import PROGRESS_BYTES_MAX
from weft.plugins.runners.remote.outputs import live_bytes, pieces_of, rest_of
from weft.ports.executor import ExecutorLimits
from weft.ports.log_store import Stored
from weft.wire.log_format import STDERR, STDOUT, Piece
from weft_slurm.runner.scripts import ASK, PRODUCTS, WORK, array_script

ARRAYS: Final = "arrays"
MARKS: Final = (
    "started",
    "ended",
    "used",
    "late",
    "stopped",
    "termed",
    "missing",
    "nowhere",
    "progress",
)
"""Files of the directory `run` that tell something by their age or text."""
_BEGAN: Final = re.compile(r"(\d+) (\d+) ?(\S*)\s*", re.ASCII)
_OVER: Final = re.compile(r"(\d{0,3})\s*", re.ASCII)
LEFT: Final = frozenset({PRODUCTS, ASK})
"""Files there that the job may write."""
STREAMS: Final[Mapping[str, int]] = {"out": STDOUT, "err": STDERR}
MARK_BYTES_MAX: Final = PROGRESS_BYTES_MAX
"""A mark that a node writes is shorter; jobs can write there, too."""
_TIME: Final = re.compile(r"(\d{1,9})m(\d{1,9}(?:\.\d+)?)s", re.ASCII)
_FLAGS: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
Given = ParamSpec("Given")
Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Marks:
    """What the files of an attempt tell."""

    began_s_ago: float | None
    """When a node took it, as the file system dates it."""
    task: tuple[int, int] | None
    """The array and index of the task that took it; None: no node did."""
    node: str
    ended_s_ago: float | None
    exit_code: int | None
    """None: it has not ended, or nobody could say so."""
    is_late: bool
    """It reached its time limit."""
    is_stopped: bool
    """The gateway asked it to end."""
    is_termed: bool
    """Somebody did: the gateway, Slurm or a person."""
    trouble: str
    """Why it was not started: `missing` (program) or `nowhere` (directory); empty: it was."""
    left: frozenset[str] = frozenset()
    """Which of `LEFT` are there."""
    cpu_ms: int = 0
    """Time of processors that it used."""
    progress: str = ""
    """The line that says how far it is."""


class Array(NamedTuple):
    """An array that was submitted, or was about to be."""

    id: str
    names: Sequence[str]
    present: frozenset[str]
    """Those of them that are not forgotten."""
    number: int | None
    """None: no answer of Slurm's was noted."""


def _in_a_thread(work: Callable[Given, Answer]) -> Callable[Given, Coroutine[Any, Any, Answer]]:
    """Make a call that may wait for the file system one that others need not wait for."""

    @wraps(work)
    async def call(*args: Given.args, **named: Given.kwargs) -> Answer:
        return await asyncio.to_thread(work, *args, **named)

    return call


class SharedFiles:
    """The files are in a directory of this host, which the nodes share. Those of another gateway
    have another root.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._arrays = root / ARRAYS

    @_in_a_thread
    def known(self) -> Sequence[Array]:
        """Make the directories, for this account alone."""
        self._arrays.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = []
        for path in self._arrays.iterdir():
            if path.suffix == "" and path.name[0] != ".":
                names = path.read_text().split()
                present = frozenset(name for name in names if (self._root / name).is_dir())
                number = path.with_suffix(".job")
                found.append(
                    Array(
                        path.name,
                        names,
                        present,
                        int(number.read_text()) if number.exists() else None,
                    )
                )
        return found

    @_in_a_thread
    def put(self, files: Mapping[str, Mapping[str, str]]) -> None:
        """Write them; those that are run are executable."""
        for name, own in files.items():
            folder = self._root / name
            folder.mkdir(mode=0o700, exist_ok=True)
            (folder / WORK).mkdir(exist_ok=True)
            for file, text in own.items():
                _write(folder / file, text, mode=0o700)

    @_in_a_thread
    def add_array(self, array: str, names: Sequence[str]) -> str:
        path = self._arrays / array
        _write(path, "".join(f"{name}\n" for name in names))
        script = path.with_suffix(".sh")
        _write(script, array_script(str(self._root), str(path)), mode=0o700)
        return str(script)

    @_in_a_thread
    def number_array(self, array: str, number: int) -> None:
        _write(self._arrays / f"{array}.job", str(number))

    @_in_a_thread
    def remove_array(self, array: str) -> None:
        for name in (array, f"{array}.sh", f"{array}.job"):
            (self._arrays / name).unlink(missing_ok=True)

    @_in_a_thread
    def take(self, names: Sequence[str]) -> set[str]:
        """Make the directories `run`."""
        return {name for name in names if self._take(name)}

    def _take(self, name: str) -> bool:
        try:
            (self._root / name / "run").mkdir()
        except FileExistsError:
            return False
        except FileNotFoundError:
            return True
        _write(self._root / name / "run" / "ended", "")
        return True

    @_in_a_thread
    def mark_stopped(self, names: Sequence[str]) -> None:
        for name in names:
            (self._root / name / "run" / "stopped").touch()

    @_in_a_thread
    def marks(self, names: Sequence[str]) -> Mapping[str, Marks]:
        return {name: self._marks(name) for name in names}

    def _marks(self, name: str) -> Marks:
        ages: dict[str, float] = {}
        texts: dict[str, str] = {}
        # Most attempts have one of them: a list costs a quarter of asking for each.
        with suppress(FileNotFoundError), os.scandir(self._root / name / "run") as files:
            for file in files:
                if file.name in LEFT and file.is_file(follow_symlinks=False):
                    ages[file.name] = 0.0
                elif file.name in MARKS and (mark := _opened(Path(file.path))) is not None:
                    with mark:
                        text = mark.read(MARK_BYTES_MAX).decode(errors="replace")
                        age_s = time.time() - os.fstat(mark.fileno()).st_mtime
                    ages[file.name], texts[file.name] = max(0.0, age_s), text
        return marks_of(ages, texts)

    @_in_a_thread
    def grown(
        self, stored: Mapping[str, Stored], limits: ExecutorLimits
    ) -> Mapping[str, Sequence[Piece]]:
        return {name: self._grown(name, has, limits) for name, has in stored.items()}

    def _grown(self, name: str, stored: Stored, limits: ExecutorLimits) -> list[Piece]:
        pieces = []
        for file, stream in STREAMS.items():
            has = stored.of(stream)
            with suppress(OSError):  # what cannot be read now comes later
                if (opened := _opened(self._root / name / file)) is not None:
                    with opened:
                        more = min(_size(opened) - has.written, live_bytes(has, limits))
                        if more > 0:
                            pieces += pieces_of(stream, _read(opened, has.written, more))
        return pieces

    @_in_a_thread
    def output(self, name: str, stored: Stored, limits: ExecutorLimits) -> list[Piece]:
        pieces = []
        for file, stream in STREAMS.items():
            if (opened := _opened(self._root / name / file)) is None:
                continue
            with opened:
                rest = rest_of(_size(opened), stored.of(stream), limits)
                (start, stop), cut, (tail, end) = rest
                head = _read(opened, start, stop - start)
                pieces += pieces_of(stream, head, cut, _read(opened, tail, end - tail))
        return pieces

    @_in_a_thread
    def left(self, name: str, file: str, *, bytes_max: int) -> bytes:
        opened = _opened(self._root / name / "run" / file)
        if opened is None:
            return b""
        with opened:
            return opened.read(bytes_max + 1)

    @_in_a_thread
    def forget(self, names: Sequence[str]) -> None:
        for name in names:
            shutil.rmtree(self._root / name, ignore_errors=True)


def _write(path: Path, text: str, *, mode: int = 0o600) -> None:
    temporary = path.with_name(f".{path.name}")
    temporary.write_text(text)
    temporary.chmod(mode)
    temporary.replace(path)


def _opened(path: Path) -> BinaryIO | None:
    """Open what a job may have written; None: it is no file. A link would show the job what this
    host alone can read, and whoever opens a pipe waits for ever.
    """
    try:
        descriptor = os.open(path, _FLAGS)
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno in {errno.ELOOP, errno.ENXIO}:
            return None
        raise
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        return None
    return os.fdopen(descriptor, "rb")


def _size(file: BinaryIO) -> int:
    return os.fstat(file.fileno()).st_size


def _read(file: BinaryIO, start: int, size: int) -> bytes:
    file.seek(start)
    return file.read(max(0, size))


def marks_of(ages: Mapping[str, float], texts: Mapping[str, str]) -> Marks:
    """Return what files tell by their ages in seconds, and what is in them, as far as it is what
    nodes write. Clocks of file servers may be ahead: then they are of now.
    """
    began, over = (
        _BEGAN.fullmatch(texts.get("started", "")),
        _OVER.fullmatch(texts.get("ended", "")),
    )
    return Marks(
        began_s_ago=ages.get("started"),
        task=None if began is None else (int(began[1]), int(began[2])),
        node="" if began is None else began[3],
        ended_s_ago=None if over is None else ages.get("ended"),
        exit_code=None if over is None or not over[1] else int(over[1]),
        is_late="late" in ages,
        is_stopped="stopped" in ages,
        is_termed="termed" in ages,
        trouble=next((one for one in ("missing", "nowhere") if one in ages), ""),
        left=LEFT.intersection(ages),
        cpu_ms=_cpu_ms(texts.get("used", "")),
        progress=texts.get("progress", "").partition("\n")[0],
    )


def _cpu_ms(times: str) -> int:
    """Return what the children of a shell used, by the second line of its `times`."""
    spent = _TIME.findall(times.partition("\n")[2])
    return int(sum(60_000 * int(minutes) + 1000 * float(seconds) for minutes, seconds in spent))
