"""Jobs that came through a door: what is kept of the documents in which they came."""

from collections.abc import Sequence

import msgspec

from weft.wire.documents import JobDocument
from weft.wire.foreign_jobs import ForeignJob
from weft.wire.spec import JobSpec


def with_originals(specs: Sequence[JobSpec], jobs: Sequence[JobDocument]) -> list[JobSpec]:
    """Return the specs with the documents in which their jobs came, and with the variables that
    the other system sets. A door translates all jobs of a request or none.
    """
    return [
        msgspec.structs.replace(
            spec, original=job.original, identity=job.identity, own_paths=job.own_paths
        )
        if isinstance(job, ForeignJob)
        else spec
        for spec, job in zip(specs, jobs, strict=True)
    ]
