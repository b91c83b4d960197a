"""The part of a client for RO-Crates: what has run, as metadata that others read."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final

from weft.client.api import Api
from weft.client.http.calls import Document
from weft.core.errors import Conflict, Invalid, ParameterNotFound
from weft.core.files.crate import PARAMETER, Ran, crate_of
from weft.core.ids import format_batch_id, format_job_ref

JOBS_MAX: Final = 10_000
"""Of a crate."""
_AT_ONCE: Final = 6


class NotEnded(Conflict, code="CLIENT.NOT_ENDED"):
    """A crate was asked for of jobs that have not ended."""


class CrateTooLarge(Invalid, code="CLIENT.CRATE_TOO_LARGE"):
    """A crate would have too many jobs."""


class CrateCalls:
    """Crates are made here, of what the server says."""

    if TYPE_CHECKING:
        api: Api

    async def export_crate(
        self, batch_id: int, job_id: int | None = None, *, licence: str | None = None
    ) -> Mapping[str, str]:
        """Return a Workflow Run RO-Crate of a batch, or of one job of it: the texts of
        `ro-crate-metadata.json` and `workflow.json`, by these names. `licence`: of what the crate
        describes, an address or a text. Raise `NotEnded`, `CrateTooLarge`.
        """
        ran = await read_ran(self.api, batch_id, job_id)
        return crate_of(ran, made_at=datetime.now(UTC), licence=licence)


async def read_ran(api: Api, batch_id: int, job_id: int | None = None) -> Ran:
    """Return what is known of the jobs. Raise `NotEnded`, `CrateTooLarge`."""
    batch = await api.get_batch(batch_id)
    if job_id is not None:
        jobs = [await api.get_job(batch_id, job_id)]
        if jobs[0]["ended_at"] is None:
            raise _not_ended(format_job_ref(batch_id, job_id))
    else:
        if batch["n_jobs"] > JOBS_MAX:
            raise CrateTooLarge(
                f"{format_batch_id(batch_id)} has {batch['n_jobs']} jobs",
                detail=f"A crate has at most {JOBS_MAX}.",
                hint="Export single jobs, as b12.j7.",
            )
        if not batch["complete"]:
            raise _not_ended(format_batch_id(batch_id))
        numbers = [job["job_id"] async for job in api.list_jobs(batch_id)]
        jobs = await _each(numbers, lambda n: api.get_job(batch_id, n))
    files = await _each([job["job_id"] for job in jobs], lambda n: _files(api, batch_id, n))
    q = f"batch_id = {batch_id}" + ("" if job_id is None else f" and job_id = {job_id}")
    return Ran(
        batch=batch,
        jobs=[{**job, "parents": [*await all_parents(api, job)]} for job in jobs],
        files={one["job_id"]: found for one, found in zip(jobs, files, strict=True)},
        products=[product async for product in api.list_products(q)][::-1],
        parameters=await _parameters(api, jobs),
        url=api.url,
        version=version("weft"),
        whole=job_id is None,
    )


def _not_ended(what: str) -> NotEnded:
    return NotEnded(
        f"{what} has not ended",
        detail="A crate says what has run.",
        hint=f"Wait for it with `weft wait {what}`.",
    )


async def _files(api: Api, batch_id: int, job_id: int) -> Sequence[Document]:
    return [one async for one in api.list_files(batch_id, job_id)]


async def all_parents(api: Api, job: Document) -> Mapping[int, str]:
    """Return what is enough of each parent of a job, of which its document has the first 100."""
    shown: Sequence[int] = job["parents"]
    if job.get("n_parents", len(shown)) == len(shown):  # an older server shows all
        needs = {need: job.get(f"{need}_parents", ()) for need in ("end", "start")}
        needs |= job.get("share_parents", {})
        loose = {parent: need for need, parents in needs.items() for parent in parents}
        return {parent: loose.get(parent, "success") for parent in shown}
    parents = api.list_parents(job["batch_id"], job["job_id"])
    return {parent["job_id"]: parent.get("need", "success") async for parent in parents}


async def _parameters(api: Api, jobs: Sequence[Document]) -> Mapping[str, Sequence[Document]]:
    """Return the versions of the parameters that jobs name; those that are gone have none."""
    found: dict[str, Sequence[Document]] = {}
    for name in sorted({name for job in jobs for name in job["attributes"]}):
        if name.startswith(PARAMETER):
            parameter = name.removeprefix(PARAMETER)
            try:
                found[parameter] = [one async for one in api.list_versions(parameter)]
            except (Invalid, ParameterNotFound):
                continue  # an attribute that somebody wrote
    return found


async def _each(numbers: Sequence[int], ask: Any) -> list[Any]:  # noqa: ANN401 (any answer)
    """Ask for each, a few at the same time."""
    room = asyncio.Semaphore(_AT_ONCE)

    async def one(number: int) -> Any:  # noqa: ANN401 (any answer)
        async with room:
            return await ask(number)

    return await asyncio.gather(*map(one, numbers))
