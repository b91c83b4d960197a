"""`weft files`: what jobs have left."""

import asyncio
import os
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, suppress
from pathlib import Path

from weft.cli.input.options import SHARED, App, Shared
from weft.cli.input.targets import Target, parse_target
from weft.cli.terminal.plain import one_line
from weft.cli.terminal.raw_output import STDOUT, write_all
from weft.client.api import Api, Document
from weft.core.errors import Conflict, Invalid
from weft.core.files.file_paths import in_store, parts_of, split_store
from weft.core.ids import format_job_ref, parse_job_ref
from weft.core.text.amounts import counted, size
from weft.wire.walking import NotPlain, entered, make_file, opened_directory

app = App(
    name="files",
    help="List, show and fetch the files that jobs have left.\n\n    weft files ls b12.j7",
)


class FileInTheWay(Conflict, code="CLI.FILE_IN_THE_WAY"):
    """A file with this name is there already, or something else stands in its way."""


@app.command(name="ls")
def list_all(target: str, /, *, attempt: int | None = None, shared: Shared = SHARED) -> int:
    """List the files that a job has left; while it runs, those that it has at the moment.

        weft files ls b12.j7
        weft files ls b12

    Args:
        target: `b12.j7`, or all jobs of `b12` or `b12/stage1`.
        attempt: Number of the attempt; default: the last one that left any.
    """
    which = parse_target(target)

    async def all_files(client: Api) -> AsyncGenerator[Document, None]:
        async for job in _jobs_of(client, which):
            async for one in client.list_files(*job, attempt=attempt):
                yield one if which.job_id is not None else {"job": format_job_ref(*job), **one}

    of_job = {} if which.job_id is not None else {"Job": "job"}
    return shared.table(
        shared.ask_all(all_files),
        {
            **of_job,
            "Path": lambda row: one_line(row["path"]),
            "Size": lambda row: size(row["bytes"]),
            "SHA-256": lambda row: (row["sha256"] or "")[:12],
        },
        right=("Size",),
        empty=_no_files(target),
    )


async def _jobs_of(client: Api, which: Target) -> AsyncGenerator[tuple[int, int], None]:
    if which.job_id is not None:
        yield which.batch_id, which.job_id
        return
    async for one in client.list_jobs(which.batch_id, group=which.group):
        yield which.batch_id, one["job_id"]


def _no_files(target: str) -> str:
    return f"{target} has left no files; a job keeps those that its `outputs` name, at its end"


def files_in(to: Path, count: int, *, otherwise: str) -> str:
    """Say how many files were written to a directory; `otherwise`: why there are none."""
    return (
        f"{counted(count, 'file')} {'is' if count == 1 else 'are'} in {to}" if count else otherwise
    )


@app.command
def cat(target: str, path: str, /, *, attempt: int | None = None, shared: Shared = SHARED) -> None:
    """Print a file that a job has left, or that it has at the moment while it runs.

        weft files cat b12.j7 out/counts.txt

    Args:
        target: `b12.j7`.
        path: Its path, as `weft files ls` shows it.
        attempt: Number of the attempt; default: the last one that left it.
    """
    batch_id, job_id = parse_job_ref(target)

    async def show(client: Api) -> None:
        async with aclosing(client.read_file(batch_id, job_id, path, attempt=attempt)) as pieces:
            async for piece in pieces:
                write_all(STDOUT, piece)

    shared.ask(show)


@app.command
def get(
    target: str,
    /,
    *paths: str,
    to: Path = Path(),
    attempt: int | None = None,
    shared: Shared = SHARED,
) -> int:
    """Fetch files that a job has left, by their paths, into a directory.

        weft files get b12.j7 out/counts.txt --to results
        weft files get b12 --to results

    A file that is there already is not replaced. Those of a batch or group are
    in a directory for each job, `j7`.

    Args:
        target: `b12.j7`, or all jobs of `b12` or `b12/stage1`.
        paths: Which files; default: all.
        to: The directory; default: the current one.
        attempt: Number of the attempt; default: the last one that left any.
    """
    which = parse_target(target)

    async def fetch(client: Api) -> Sequence[Document]:
        found: list[Document] = []
        is_one = which.job_id is not None
        async for job in _jobs_of(client, which):
            below = to if is_one else to / f"j{job[1]}"
            found += await _fetch_all(client, job, paths, below, attempt, must_have=is_one)
        return found

    make_directory(to)
    found = shared.ask(fetch)
    none = f"no job of {target} has left such a file" if paths else _no_files(target)
    return shared.tell(found, files_in(to, len(found), otherwise=none))


async def _fetch_all(
    client: Api,
    job: tuple[int, int],
    paths: tuple[str, ...],
    to: Path,
    attempt: int | None,
    *,
    must_have: bool,
) -> Sequence[Document]:
    """Fetch files of a job; return their documents. `must_have`: ask for all that are named."""
    files = [one async for one in client.list_files(*job, attempt=attempt)]
    known = {one["path"]: one for one in files}
    named = [known.get(path, {"path": path}) for path in paths if must_have or path in known]
    wanted = named if paths else files
    for one in wanted:
        await asyncio.to_thread(make_directory, to)
        path = split_store(one["path"])[1] if in_store(one["path"]) else one["path"]
        await fetch_file(client, job, {"attempt": attempt, **one}, to, path)
    return wanted


def make_directory(to: Path) -> None:
    """Make a directory in which files come, if it is not there."""
    try:
        to.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Invalid(
            "the directory cannot be made",
            detail=f"{one_line(str(to))}: {error.strerror}.",
            hint="Name another one with `--to DIR`.",
        ) from error


async def fetch_file(
    client: Api, job: tuple[int, int], left: Document, to: Path, path: str
) -> None:
    """Write a file, named when whole, to a path below `to`; no server leads out of that."""
    pieces = client.read_file(*job, left["path"], attempt=left["attempt"])
    await write_below(to, parts_of(path), pieces)


async def write_below(
    to: Path, parts: Sequence[str], pieces: AsyncGenerator[bytes, None], *, replaces: bool = False
) -> None:
    """Write a file that has its name when it is whole, below a directory; no part leads out."""
    fresh = f".{parts[-1][:100]}.{os.urandom(4).hex()}"
    try:
        with opened_directory(to) as top, entered(top, parts[:-1], make=True) as directory:
            fd = make_file(fresh, directory, 0o666)
            try:
                with os.fdopen(fd, "wb") as out:
                    async with aclosing(pieces):
                        async for piece in pieces:
                            await asyncio.to_thread(out.write, piece)
                give = os.replace if replaces else os.link
                give(fresh, parts[-1], src_dir_fd=directory, dst_dir_fd=directory)
            finally:
                with suppress(FileNotFoundError):
                    os.unlink(fresh, dir_fd=directory)
    except (FileExistsError, IsADirectoryError, NotPlain) as error:
        raise FileInTheWay(
            f"{one_line('/'.join(parts))} is there already",
            detail=f"It would be written below {to}.",
            hint="Fetch into another directory (`--to DIR`).",
        ) from error
