"""Files that jobs have left."""

import pytest

from store.site import Site
from weft.core.errors import BatchNotFound, JobNotFound
from weft.core.states import AttemptKey
from weft.ports.store import FileWanted, KeptFile

ONE, TWO = (bytes([n] * 32) for n in (1, 2))


async def test_files_of_a_job_are_listed_by_path(site: Site) -> None:
    """In pages; nobody else sees them, and a job of somebody else does not get them."""
    api, caller, stranger = site.api, site.caller, site.stranger
    await site.submit(2)
    one, other = await site.claim()
    store, worker = await site.worker()
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
    with pytest.raises(BatchNotFound):
        await api.find_file(stranger, batch_id, job_id, "b", attempt=None)
    with pytest.raises(BatchNotFound):
        await api.list_files(stranger, batch_id, job_id, attempt=None, after=None, limit=9)
    with pytest.raises(JobNotFound):
        await api.find_file(caller, batch_id, 99, "b", attempt=None)
    await site.end(one)
    reader = AttemptKey(other.batch_id, other.job_id, other.attempt)
    (seen,) = await store.find_files(worker, reader, [FileWanted(batch_id, job_id, None, "b")])
    assert seen is not None
    assert seen.digest == TWO
