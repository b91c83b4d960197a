"""Arrays over values, cut into parts whose values fit one chunk."""

from collections.abc import Sequence

from msgspec.structs import replace

from weft.wire.documents import JobDocument
from weft.wire.spec import cut_values


def cut_arrays(jobs: Sequence[JobDocument]) -> tuple[Sequence[JobDocument], Sequence[int]]:
    """Cut the arrays over values, and return for each job of which entry it is, or is a part.

    A part continues the indices of the one before, so all jobs keep their numbers.
    """
    cut: list[JobDocument] = []
    entries: list[int] = []
    for entry, job in enumerate(jobs):
        if job.values is None:
            cut.append(job)
        else:
            cut += [
                replace(job, values=part, index_from=job.index_from + start)
                for start, part in cut_values(job.values)
            ]
        entries += [entry] * (len(cut) - len(entries))
    return cut, entries
