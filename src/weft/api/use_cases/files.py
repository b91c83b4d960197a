"""List and read the files that jobs have left, those that running ones have, and notes."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final, NamedTuple

from weft.api.calls.call import Cursor, call
from weft.api.calls.path_ids import BatchId, JobId
from weft.api.services import Services
from weft.core.access.rights import Right
from weft.core.errors import FileElsewhere, FileNotFound, OutputGone
from weft.core.files.file_paths import split_store
from weft.core.ids import format_job_ref
from weft.core.states import AttemptKey
from weft.core.text.texts import harmless
from weft.ports.file_store import FileDiffers, FileProblem, FileReader
from weft.ports.running_files import RunningAttempt, RunningFile, RunningFiles
from weft.ports.store import Caller, Row, StoredFile
from weft.wire.answers.files import JobFile
from weft.wire.answers.notes import JobNote

FIRST_BYTES_MAX: Final = 16 << 20
"""A kept file up to this size is compared with its digest before anything is said of it; of a
larger one that somebody has changed the last piece does not come.
"""


class OpenFile(NamedTuple):
    """A file of a job, to read."""

    n_bytes: int
    attempt: int
    digest: bytes | None
    """None: its attempt runs, and may change it."""
    read: Callable[[int, int], AsyncIterator[bytes]]
    """Yields the bytes from a position to another."""


async def open_file(
    services: Services,
    caller: Caller,
    batch_id: int,
    job_id: int,
    path: str,
    *,
    attempt: int | None,
) -> OpenFile:
    """Find a file of a job: what an attempt has left, else what the directory of one that runs
    has at the moment. Raise `JobNotFound`, `FileNotFound`, `FileElsewhere`,
    `OutputGone`.
    """
    job = format_job_ref(batch_id, job_id)
    found = await services.store.find_file(caller, batch_id, job_id, path, attempt=attempt)
    if found is None:
        if (seen := await _open_now(services, caller, batch_id, job_id, path, attempt)) is None:
            raise FileNotFound(
                f"{job} has no file {path[:200]!r}",
                detail="Files are kept when the attempt that left them has ended; before, they "
                "are seen if its worker has this server's home, or is linked to this server.",
                hint=f"`weft files ls {job}` lists them.",
            )
        return seen
    if found.why_gone is not None:
        raise OutputGone(
            f"the files of {job} are not kept any more",
            detail=found.why_gone,
            hint="`weft tenant show` says how long files are kept.",
        )
    if found.address is None:
        kept = f"b{found.batch_id}/{found.digest.hex()}"
        store: FileReader | None = services.files(found.folder) if services.files else None
        detail = "The worker that ran it has a home of its own, or somebody has removed them:"
        hint = "Give the workers and the server one home, or submit the job again, `--no-cache`."
    else:
        kept, store = await _object(services, caller, found.address)
        detail = f"It is at {found.address}."
        hint = "Read it there, with rights of your own, or see `weft store test`."
    try:
        if store is not None:
            await _compare(store, kept, found)
            read = partial(_read_kept, store, kept, found)
            return OpenFile(found.n_bytes, found.attempt, found.digest, read)
    except FileDiffers as error:
        detail = f"Somebody has changed what {job} has left: {error}."
        hint = "Submit the job again, with `--no-cache`."
    except FileProblem as error:
        detail = f"{detail} {error}".strip()
    raise FileElsewhere(f"this server cannot read the files of {job}", detail=detail, hint=hint)


async def _object(
    services: Services, caller: Caller, address: str
) -> tuple[str, FileReader | None]:
    """Return the path of an object in its store, and what reads it; None: nothing does."""
    name, path = split_store(address)
    store = await services.store.find_store(caller, name)
    if store is None or services.objects is None:
        return path, None
    return path, services.objects.reader(store)


async def _open_now(
    services: Services, caller: Caller, batch_id: int, job_id: int, path: str, attempt: int | None
) -> OpenFile | None:
    seers = _seers(services)
    if not seers:
        return None
    attempts = await services.store.list_attempts(caller, batch_id, job_id)
    of = live_attempt(attempts, batch_id, job_id)
    if of is None or attempt not in {None, of.key.attempt}:
        return None
    for seer in seers:
        if (seen := await seer.find(of, path)) is not None:
            return OpenFile(seen.n_bytes, of.key.attempt, None, partial(seer.read, of, path))
    return None


async def _compare(store: FileReader, path: str, found: StoredFile) -> None:
    """Raise `FileDiffers` if it is seen at once that this is not what was left."""
    if (await store.facts(path)).n_bytes != found.n_bytes:
        raise FileDiffers("it has another size")
    if found.n_bytes <= FIRST_BYTES_MAX:
        async for _ in _read_kept(store, path, found, 0, found.n_bytes):
            pass


async def _read_kept(
    store: FileReader, path: str, found: StoredFile, start: int, stop: int
) -> AsyncIterator[bytes]:
    """Yield a part. Raise `FileDiffers` before the end of the whole if it is not what was left."""
    left, is_whole, digest = stop - start, stop - start == found.n_bytes, hashlib.sha256()
    if not left:
        return
    async for piece in store.read(path, start):
        given = piece[:left]
        left -= len(given)
        if is_whole:
            await asyncio.to_thread(digest.update, given)
            if not left and digest.digest() != found.digest:
                raise FileDiffers("its bytes are not those that were expected")
        yield given
        if not left:
            return


@call("GET /v1/batches/{b}/jobs/{j}/notes", Right.READ, page=JobNote, public=False)
async def list_notes(
    services: Services, caller: Caller, batch_id: BatchId, job_id: JobId
) -> Sequence[Row]:
    """List what a job says about itself, newest first: Markdown, texts, tables as CSV and links,
    and which pictures there are. Raise `JobNotFound`.
    """
    rows = await services.store.list_notes(caller, batch_id, job_id, title=None)
    return [
        {**row, "body": None if body is None else harmless(body.decode(errors="replace"))}
        for row in rows
        for body in (row["body"],)
    ]


async def read_note(
    services: Services, caller: Caller, batch_id: int, job_id: int, title: str
) -> Row:
    """Return a note of a job. Raise `JobNotFound`, `FileNotFound`."""
    for row in await services.store.list_notes(caller, batch_id, job_id, title=title):
        return row
    job = format_job_ref(batch_id, job_id)
    raise FileNotFound(
        f"{job} has no note {title[:200]!r}", hint=f"`weft notes {job}` shows those that it has."
    )


@call(
    "GET /v1/batches/{b}/jobs/{j}/files",
    Right.READ,
    page=JobFile,
    cursor=Cursor("f", "path", parse=str),
    public=False,
    marks={"refuses": (409,)},
)
async def list_files(
    services: Services,
    caller: Caller,
    batch_id: BatchId,
    job_id: JobId,
    *,
    attempt: int | None,
    after: str | None,
    limit: int,
) -> Sequence[Row]:
    """List the files that an attempt of a job has left, by path; without `attempt`, those of the
    last one that left any. While it runs and nothing is kept, what its directory has at the
    moment, where the server can see it. Raise `JobNotFound`, `FileElsewhere`.
    """
    store = services.store
    rows = await store.list_files(
        caller, batch_id, job_id, attempt=attempt, after=after, limit=limit
    )
    if rows or not _seers(services):
        return rows
    of = live_attempt(await store.list_attempts(caller, batch_id, job_id), batch_id, job_id)
    if of is None or attempt not in {None, of.key.attempt}:
        return rows
    if after is not None and await store.list_files(
        caller, batch_id, job_id, attempt=attempt, after=None, limit=1
    ):
        return rows  # it was the end of what is kept
    seen = [one for one in await files_now(services, of) if after is None or one.path > after]
    return [
        {
            "path": one.path,
            "attempt": of.key.attempt,
            "bytes": one.n_bytes,
            "sha256": None,
            "address": None,
            "kept_at": None,
            "changed_at": datetime.fromtimestamp(one.changed_s, UTC),
        }
        for one in seen[:limit]
    ]


def live_attempt(
    attempts: Sequence[Mapping[str, Any]], batch_id: int, job_id: int
) -> RunningAttempt | None:
    """Return which of a job's attempts runs; None: none does."""
    last = attempts[-1] if attempts else None
    if last is None or last.get("ended_at") is not None or last.get("started_at") is None:
        return None
    return RunningAttempt(AttemptKey(batch_id, job_id, last["attempt"]), last.get("worker") or "")


async def files_now(services: Services, of: RunningAttempt | None) -> Sequence[RunningFile]:
    """Return the files of a running attempt that can be seen from here. Raise `FileElsewhere`."""
    if of is None:
        return ()
    for seer in _seers(services):
        if seen := await seer.listed(of):
            return sorted(seen)
    return ()


def _seers(services: Services) -> Sequence[RunningFiles]:
    """Return what sees running attempts: on this host, and of the workers outside."""
    linked = None if services.link is None else services.link.running
    return [one for one in (services.running, linked) if one is not None]
