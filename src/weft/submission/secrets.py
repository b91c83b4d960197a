"""The secrets that jobs ask for: their caller has them, and owns the batch that gets them."""

from collections.abc import Sequence

from weft.core.errors import InvalidValue
from weft.core.problems import Problems
from weft.ports.store import Caller
from weft.submission.owners import require_owner
from weft.submission.services import SubmissionServices
from weft.wire.documents.batches import JobDocument


async def check_secrets(
    services: SubmissionServices,
    caller: Caller,
    jobs: Sequence[JobDocument],
    batch_id: int | None,
    problems: Problems,
) -> None:
    """Note which jobs name secrets that the caller does not have. Raise `Forbidden` for jobs of
    a batch of somebody else, which would get the secrets of that user.
    """
    uses = [
        (f"/jobs/{index}/secrets/{n}", use)
        for index, job in enumerate(jobs)
        for n, use in enumerate(job.secrets or ())
    ]
    if not uses:
        return
    if batch_id is not None:
        await require_owner(
            services,
            caller,
            batch_id,
            "add jobs with secrets to it",
            because=", whose secrets its jobs get.",
            hint="Create a batch of your own for them.",
        )
    known = {secret["name"] for secret in await services.store.list_secrets(caller)}
    for at, use in uses:
        if use.name not in known:
            message = f"you have no secret {use.name!r}; `weft secret set {use.name}` makes it"
            problems.add(InvalidValue, f"{at}/name", message)
