import tracemalloc
from collections.abc import Mapping
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.client.submission import spool as _spool
from weft.client.submission.spool import JobSpool
from weft.client.submission.upload import cut_bunches


def decoded(job: msgspec.Raw | Mapping[str, Any]) -> Any:  # noqa: ANN401 (a document)
    return msgspec.msgpack.decode(bytes(job)) if isinstance(job, msgspec.Raw) else job


values = st.one_of(st.text(max_size=200), st.integers(0, 2**63), st.lists(st.text()))
documents = st.dictionaries(st.text(max_size=8), values, max_size=20)


@given(st.lists(st.tuples(st.integers(0, 2), documents), max_size=30))
def test_jobs_come_out_as_they_went_in_as_often_as_asked(
    jobs: list[tuple[int, dict[str, Any]]],
) -> None:
    where: list[dict[str, Any]] = [{}, {"group": 1}, {"group": 2, "groups": [3]}]
    spool = JobSpool()
    for place, job in jobs:
        spool.append(place, job)

    expected = [{**job, **where[place]} for place, job in jobs]
    for _ in range(2):
        assert [decoded(job) for job in spool.read(where)] == expected
    assert spool.n_jobs == len(jobs)


def test_a_job_that_is_larger_than_a_block_is_read_whole() -> None:
    spool = JobSpool()
    texts = ["x" * (3 * _spool.READ_BYTES), "", "y" * _spool.READ_BYTES]
    for text in texts:
        spool.append(0, {"stdin": text})

    assert [decoded(job)["stdin"] for job in spool.read([{}])] == texts


def test_arrays_count_as_their_jobs_and_may_be_cut() -> None:
    spool = JobSpool()
    spool.append(0, {})
    spool.append(1, {"count": 250_000, "index_from": 7})
    spool.append(0, {})

    assert (spool.n_documents, spool.n_jobs) == (3, 250_002)
    bunches = list(cut_bunches(spool.read([{}, {"group": 3}])))
    assert [(bunch.first, bunch.n_jobs) for bunch in bunches] == [
        (1, 1), (2, 100_000), (100_002, 100_000), (200_002, 50_001),
    ]  # fmt: skip
    assert decoded(bunches[2].jobs[0]) == {"count": 100_000, "index_from": 100_007, "group": 3}


@pytest.mark.slow
@pytest.mark.heavy
def test_many_jobs_take_little_memory() -> None:
    """Here 40 MiB of jobs: what is beyond the spool's own memory is on disk."""
    tracemalloc.start()
    try:
        spool = JobSpool()
        for number in range(200_000):
            spool.append(number % 2, {"name": f"job {number}", "stdin": "x" * 180})
        n_jobs = sum(bunch.n_jobs for bunch in cut_bunches(spool.read([{}, {"group": 1}])))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert n_jobs == 200_000
    assert spool.n_bytes > 40_000_000
    assert peak < 2 * _spool.MEMORY_BYTES
