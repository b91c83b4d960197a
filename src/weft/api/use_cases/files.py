"""List and read the files that jobs have left."""

from collections.abc import AsyncIterator

from weft.api.services import Services
from weft.core.errors import FileElsewhere, FileNotFound
from weft.core.ids import format_job_ref
from weft.ports.file_store import FileProblem, FileStore
from weft.ports.store import Caller
from weft.ports.store.job_files import StoredFile


class JobFileReader:
    """A file of a job, to read."""

    def __init__(self, store: FileStore, path: str, stored: StoredFile) -> None:
        self.stored = stored
        self._store = store
        self._path = path

    async def read(self, start: int, stop: int) -> AsyncIterator[bytes]:
        """Yield the bytes from `start` to `stop`."""
        left = stop - start
        if not left:
            return
        async for piece in self._store.read(self._path, start):
            yield piece[:left]
            left -= len(piece)
            if left <= 0:
                return


async def open_file(
    services: Services,
    caller: Caller,
    batch_id: int,
    job_id: int,
    path: str,
    *,
    attempt: int | None,
) -> JobFileReader:
    """Find a file of a job. Raise `JobNotFound`, `FileNotFound`, `FileElsewhere`."""
    job = format_job_ref(batch_id, job_id)
    found = await services.store.find_file(caller, batch_id, job_id, path, attempt=attempt)
    if found is None:
        raise FileNotFound(
            f"{job} has left no file {path[:200]!r}",
            detail="Files are kept when the attempt that left them has ended.",
            hint=f"`weft files ls {job}` lists them.",
        )
    if found.address is not None:
        raise FileElsewhere(
            f"the file is at {found.address}", hint="Read it there, with rights of your own."
        )
    kept = f"b{batch_id}/{found.digest.hex()}"
    store = None if services.files is None else services.files(found.folder)
    try:
        if store is not None and (await store.facts(kept)).n_bytes == found.n_bytes:
            return JobFileReader(store, kept, found)
    except FileProblem:
        pass
    raise FileElsewhere(
        f"this server cannot read the files of {job}",
        detail="The worker that ran it keeps them in a home of its own.",
        hint="Give the workers and the server one home.",
    )
