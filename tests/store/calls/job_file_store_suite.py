"""What every adapter of the port `JobFileStore` must do: a part of the api's suite."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from store.calls.store_site import StoreTests, refused
from weft.core.attempt_key import AttemptKey
from weft.core.errors import BatchNotFound, JobNotFound
from weft.ports.store import (
    Caller,
    FileWanted,
    KeptFile,
)
from weft.store import ApiStore

ONE, TWO = (bytes([n] * 32) for n in (1, 2))


class JobFileStoreSuite(StoreTests):
    """Tests of the port `JobFileStore`, and of what other jobs get of these files."""

    async def test_files_of_a_job_are_listed_by_path(self) -> None:
        """In pages; nobody else sees them, and a job of somebody else does not get them."""
        api, caller, stranger = self.site.api, self.site.caller, self.site.stranger
        await self.site.submit(2)
        one, other = await self.site.claim()
        store, worker = await self.site.worker()
        files = [KeptFile("b", 2, TWO), KeptFile("a", 1, ONE, "s3://x/a")]
        key = AttemptKey(one.batch_id, one.job_id, one.attempt)
        assert await store.record_files(worker, key, files, staging_ms=0, storing_ms=0)
        batch_id, job_id = one.batch_id, one.job_id
        listed = await api.list_files(caller, batch_id, job_id, attempt=None, after=None, limit=10)
        assert [(row["path"], row["bytes"], row["address"]) for row in listed] == [
            ("a", 1, "s3://x/a"), ("b", 2, None)
        ]  # fmt: skip
        assert listed[1]["sha256"] == TWO.hex()
        rest = await api.list_files(caller, batch_id, job_id, attempt=1, after="a", limit=10)
        assert [row["path"] for row in rest] == ["b"]
        found = await api.find_file(caller, batch_id, job_id, "b", attempt=None)
        assert found is not None
        assert (found.attempt, found.n_bytes, found.digest, found.address) == (1, 2, TWO, None)
        assert await api.find_file(caller, batch_id, job_id, "b", attempt=2) is None
        assert await api.find_file(caller, batch_id, job_id, "c", attempt=None) is None
        with refused(BatchNotFound):
            await api.find_file(stranger, batch_id, job_id, "b", attempt=None)
        with refused(BatchNotFound):
            await api.list_files(stranger, batch_id, job_id, attempt=None, after=None, limit=9)
        with refused(JobNotFound):
            await api.find_file(caller, batch_id, 99, "b", attempt=None)
        await self.site.end(one)
        reader = AttemptKey(other.batch_id, other.job_id, other.attempt)
        (seen,) = await store.find_files(worker, reader, [FileWanted(batch_id, job_id, None, "b")])
        assert seen is not None
        assert seen.digest == TWO


def file_calls(api: ApiStore, caller: Caller, batch: int) -> Sequence[partial[Any]]:
    """Return the calls about files that jobs have left."""
    return (
        partial(api.list_files, caller, batch, 1, attempt=None, after=None, limit=9),
        partial(api.find_file, caller, batch, 1, "a", attempt=None),
    )
