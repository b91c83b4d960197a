"""Jobs that wait for their submission: encoded, and on disk when they are many; and how many jobs
an array is, and how it is cut into parts.
"""

import weakref
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any, Final

import msgspec

VALUES_BYTES: Final = 1 << 20
"""About that much of the values of an array goes into one part."""
MEMORY_BYTES: Final = 16 << 20
READ_BYTES: Final = 256 << 10
_SIZE: Final = 4


class JobSpool:
    """Documents of jobs in order, each with the index of its membership.

    More than `MEMORY_BYTES` go to a temporary file, so a program that creates millions of jobs
    from a generator stays small.
    """

    def __init__(self) -> None:
        import tempfile  # noqa: PLC0415 (most submissions are one request)

        # Lives as long as this object, which is closed by `_end`.
        self._file = tempfile.SpooledTemporaryFile(MEMORY_BYTES)  # noqa: SIM115
        self._end = weakref.finalize(self, self._file.close)
        self._encoder = msgspec.msgpack.Encoder(enc_hook=_path_as_text)
        self.n_documents = 0
        self.n_jobs = 0
        """Those of arrays counted one by one."""
        self.n_bytes = 0

    def append(self, membership: int, job: Mapping[str, Any]) -> None:
        """Add one job, or one array."""
        count = size_of(job)
        record = self._encoder.encode((membership, count is not None, job))
        self._file.write(len(record).to_bytes(_SIZE, "big"))
        self._file.write(record)
        self.n_documents += 1
        self.n_jobs += 1 if count is None else count
        self.n_bytes += len(record)

    def read(
        self, where: Sequence[Mapping[str, Any]]
    ) -> Iterator[msgspec.Raw | Mapping[str, Any]]:
        """Yield the jobs, encoded unless they are arrays, which may have to be cut; `where`: what
        the documents of each membership add.

        May be called again, when nothing was added meanwhile, and yields the same.
        """
        decode = msgspec.msgpack.Decoder(tuple[int, bool, msgspec.Raw]).decode
        for record in self._records():
            membership, is_array, job = decode(record)
            if not is_array and not where[membership]:
                yield job
                continue
            document: dict[str, Any] = {**msgspec.msgpack.decode(job), **where[membership]}
            yield document if is_array else msgspec.Raw(self._encoder.encode(document))

    def close(self) -> None:
        """Forget the jobs."""
        self._end()

    def _records(self) -> Iterator[memoryview]:
        rest = b""
        self._file.seek(0)
        while block := self._file.read(READ_BYTES):
            data = memoryview(rest + block)
            start = 0
            while start + _SIZE <= len(data):
                end = start + _SIZE + int.from_bytes(data[start : start + _SIZE], "big")
                if end > len(data):
                    break
                yield data[start + _SIZE : end]
                start = end
            rest = bytes(data[start:])


def _path_as_text(value: object) -> str:
    """Let programs pass paths where a document has text."""
    if isinstance(value, PurePath):
        return str(value)
    raise TypeError(f"a job cannot hold {value!r}")


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
