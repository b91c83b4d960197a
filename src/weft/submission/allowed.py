"""What jobs choose of images and engines: their tenant may allow only some of it.

Workers and gateways have lists of their own, which hold for all tenants.
"""

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

from weft.core.errors import InvalidValue
from weft.core.problems import Problems
from weft.ports.store import Caller
from weft.submission.services import SubmissionServices
from weft.wire.documents.batches import JobDocument


async def check_allowed(
    services: SubmissionServices, caller: Caller, jobs: Sequence[JobDocument], problems: Problems
) -> None:
    """Note which jobs choose what their tenant does not allow."""
    choices = list(_choices(jobs))
    if not choices:
        return
    allowed = await services.store.tenant_allowed(caller)
    for at, kind, value in choices:
        patterns = allowed.get(kind)
        if patterns is None or any(fnmatchcase(value, one) for one in patterns):
            continue
        may = ", ".join(patterns) or "none"
        message = f"the tenant does not allow its jobs the {kind} {value}; allowed: {may}"
        problems.add(InvalidValue, at, message)


def _choices(jobs: Sequence[JobDocument]) -> Iterator[tuple[str, str, str]]:
    """Yield where a job chooses something, of which kind, and what."""
    for index, job in enumerate(jobs):
        if job.container is not None:
            yield f"/jobs/{index}/container/image", "image", job.container.image
        if job.engine is not None:
            for kind, value in job.engine.given.items():
                yield f"/jobs/{index}/engine/{kind}", kind, value
