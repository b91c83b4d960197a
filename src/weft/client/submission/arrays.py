"""Arrays in documents: how many jobs they are, and how they are cut into parts."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

VALUES_BYTES: Final = 1 << 20
"""About that much of the values of an array goes into one part."""


def size_of(job: Mapping[str, Any]) -> int | None:
    """Return the number of jobs of an array; None: it is no array."""
    values = job.get("values")
    count: int | None = job.get("count")
    return len(values) if isinstance(values, list | tuple) else count


def parts_of(array: Mapping[str, Any], jobs_max: int) -> Iterator[tuple[Mapping[str, Any], int]]:
    """Yield the parts of an array and their numbers of jobs. They continue its indices."""
    index = array.get("index_from") or 0
    if array.get("values") is None:
        count = array["count"]
        for start in range(0, max(1, count), jobs_max):
            n_jobs = min(jobs_max, count - start)
            yield {**array, "count": n_jobs, "index_from": index + start}, n_jobs
        return
    start, values = 0, array["values"]
    for stop in _stops(values, jobs_max):
        part = {**array, "values": values[start:stop], "index_from": index + start}
        yield part, stop - start
        start = stop


def _stops(values: Any, jobs_max: int) -> Iterator[int]:  # noqa: ANN401 (the server checks them)
    start = size = 0
    for index, value in enumerate(values):
        n_bytes = len(value) if isinstance(value, str) else 1
        if index > start and (size + n_bytes > VALUES_BYTES or index - start >= jobs_max):
            yield index
            start, size = index, 0
        size += n_bytes
    yield len(values)
