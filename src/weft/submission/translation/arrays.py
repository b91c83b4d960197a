"""Arrays over values, cut into parts whose values fit one chunk."""

from collections.abc import Sequence

from msgspec.structs import replace

from weft.wire.documents.batches import JobDocument
from weft.wire.spec import cut_values


def cut_arrays(
    jobs: Sequence[JobDocument], order: Sequence[int]
) -> tuple[Sequence[JobDocument], Sequence[int]]:
    """Put jobs into an order and cut their arrays over values; return for each job which entry of
    the document it is, or is a part of.

    A part continues the indices of the one before, so all jobs keep their numbers.
    """
    cut: list[JobDocument] = []
    entries: list[int] = []
    for entry in order:
        job = jobs[entry]
        if job.values is None:
            cut.append(job)
        else:
            cut += [
                replace(job, values=part, index_from=job.index_from + start)
                for start, part in cut_values(job.values)
            ]
        entries += [entry] * (len(cut) - len(entries))
    return cut, entries
