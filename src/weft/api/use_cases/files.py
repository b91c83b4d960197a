"""List and read the files that jobs have left, and those that running ones have."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any, NamedTuple

from weft.api.services import Services
from weft.core.attempt_key import AttemptKey
from weft.core.errors import FileElsewhere, FileNotFound, OutputGone
from weft.core.files.file_paths import split_store
from weft.core.ids import format_job_ref
from weft.ports.file_store import FileProblem, FileReader
from weft.ports.running_files import RunningFile
from weft.ports.store import Caller, Row


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
                "are seen if its worker and this server have one home.",
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
        kept = f"b{batch_id}/{found.digest.hex()}"
        store: FileReader | None = services.files(found.folder) if services.files else None
        detail = "The worker that ran it keeps them in a home of its own."
        hint = "Give the workers and the server one home."
    else:
        kept, store = await _object(services, caller, found.address)
        detail = f"It is at {found.address}."
        hint = "Read it there, with rights of your own, or see `weft store test`."
    try:
        if store is not None:
            if (await store.facts(kept)).n_bytes == found.n_bytes:
                read = partial(_read_kept, store, kept)
                return OpenFile(found.n_bytes, found.attempt, found.digest, read)
            detail = f"{detail} It has another size than {job} has left."
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
    services: Services,
    caller: Caller,
    batch_id: int,
    job_id: int,
    path: str,
    attempt: int | None,
) -> OpenFile | None:
    if (running := services.running) is None:
        return None
    attempts = await services.store.list_attempts(caller, batch_id, job_id)
    key = live_key(attempts, batch_id, job_id)
    if key is None or attempt not in {None, key.attempt}:
        return None
    seen = await running.find(key, path)
    if seen is None:
        return None
    return OpenFile(seen.n_bytes, key.attempt, None, partial(running.read, key, path))


async def _read_kept(store: FileReader, path: str, start: int, stop: int) -> AsyncIterator[bytes]:
    left = stop - start
    if not left:
        return
    async for piece in store.read(path, start):
        yield piece[:left]
        left -= len(piece)
        if left <= 0:
            return


async def list_files(
    services: Services,
    caller: Caller,
    batch_id: int,
    job_id: int,
    *,
    attempt: int | None,
    after: str | None,
    limit: int,
) -> Sequence[Row]:
    """Return what an attempt has left, by path; while the job runs and nothing is kept, what its
    directory has at the moment. Raise `JobNotFound`.
    """
    store = services.store
    rows = await store.list_files(
        caller, batch_id, job_id, attempt=attempt, after=after, limit=limit
    )
    if rows or services.running is None:
        return rows
    key = live_key(await store.list_attempts(caller, batch_id, job_id), batch_id, job_id)
    if key is None or attempt not in {None, key.attempt}:
        return rows
    if after is not None and await store.list_files(
        caller, batch_id, job_id, attempt=attempt, after=None, limit=1
    ):
        return rows  # it was the end of what is kept
    seen = [one for one in await files_now(services, key) if after is None or one.path > after]
    return [
        {
            "path": one.path, "attempt": key.attempt, "bytes": one.n_bytes, "sha256": None,
            "address": None, "kept_at": None,
            "changed_at": datetime.fromtimestamp(one.changed_s, UTC),
        }
        for one in seen[:limit]
    ]  # fmt: skip


def live_key(
    attempts: Sequence[Mapping[str, Any]], batch_id: int, job_id: int
) -> AttemptKey | None:
    """Return which of a job's attempts runs; None: none does."""
    last = attempts[-1] if attempts else None
    if last is None or last.get("ended_at") is not None or last.get("started_at") is None:
        return None
    return AttemptKey(batch_id, job_id, last["attempt"])


async def files_now(services: Services, key: AttemptKey | None) -> Sequence[RunningFile]:
    """Return the files of an attempt that runs, as far as this host sees them."""
    if services.running is None or key is None:
        return ()
    return sorted(await services.running.listed(key))
