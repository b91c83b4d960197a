from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from weft.client import _spool
from weft.client._spool import JobSpool

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
        assert [msgspec.msgpack.decode(bytes(job)) for job in spool.read(where)] == expected
    assert spool.n_jobs == len(jobs)


def test_a_job_that_is_larger_than_a_block_is_read_whole() -> None:
    spool = JobSpool()
    texts = ["x" * (3 * _spool.READ_BYTES), "", "y" * _spool.READ_BYTES]
    for text in texts:
        spool.append(0, {"stdin": text})

    assert [msgspec.msgpack.decode(bytes(job))["stdin"] for job in spool.read([{}])] == texts
