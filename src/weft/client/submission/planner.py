"""How jobs travel: in one request if they are few, else in bunches of one update."""

from collections.abc import Awaitable, Callable
from typing import Final, NamedTuple

from weft.client.http.blocking import asyncio
from weft.client.http.calls import Document
from weft.client.routes import Routes
from weft.client.submission.upload import PART_JOBS, Upload
from weft.core.errors import QuotaExceeded, Unavailable, WeftError

ONE_REQUEST_JOBS: Final = 2_000
"""Documents of jobs, and of groups, in one request."""
ONE_REQUEST_BYTES: Final = 4 << 20


class Filled(NamedTuple):
    """A batch whose update was sent in bunches and committed."""

    batch_id: int
    batch: Document
    """What the server answered when the batch was created; empty if it existed."""
    update: Document


def fits_one_request(
    *, n_documents: int, n_jobs: int, n_groups: int, n_bytes: Callable[[], int]
) -> bool:
    """Say whether one request is enough. `n_jobs` counts the jobs of arrays one by one."""
    return (
        n_documents <= ONE_REQUEST_JOBS
        and n_jobs <= PART_JOBS
        and n_groups <= ONE_REQUEST_JOBS
        and n_bytes() <= ONE_REQUEST_BYTES
    )


async def fill_in_bunches(
    api: Routes,
    plan: Callable[[int], Awaitable[Upload]],
    *,
    batch: Document,
    batch_id: int | None = None,
    key: str | None = None,
    may_resume: bool = False,
    on_sent: Callable[[int], None] | None = None,
) -> Filled:
    """Send the upload that `plan` returns for the batch, and commit it.

    `batch_id` None: the batch is created first, idempotently if `key` is given. If the server
    refuses a bunch, a new batch is cancelled; if the server is away, only where the caller cannot
    resume. It is deleted if a quota refuses it, because what was sent would count as stored, and
    if the caller is interrupted and cannot resume.
    """
    created: Document = {}
    number = batch_id
    if number is None:
        created = await api.create_batch(batch, key=key)
        number = int(created["id"])
        if created.get("skipped"):
            return Filled(number, created, created)
    try:
        upload = await plan(number)
        update = await upload.run(api, number, on_sent=on_sent)
    except WeftError as error:
        is_resumable = may_resume and isinstance(error, Unavailable)
        if batch_id is None and isinstance(error, QuotaExceeded):
            await api.delete_batch(number)
        elif batch_id is None and not is_resumable:
            await api.cancel_batch(number, force=True)
        raise
    except asyncio.CancelledError:  # somebody pressed Ctrl-C
        if batch_id is None and not may_resume:
            await api.delete_batch(number)
        raise
    return Filled(number, created, update)
