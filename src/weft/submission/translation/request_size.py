"""How many jobs and groups one request may have."""

from collections.abc import Sequence

from weft.core.errors import FieldError, TooManyJobs
from weft.core.problems import PROBLEMS_MAX
from weft.settings import Settings
from weft.wire.documents.batches import JobDocument


def refuse_too_many(
    what: str,
    count: int,
    settings: Settings,
    *,
    hint: str = "Create an update and send them in several bunches.",
) -> None:
    """Raise `TooManyJobs` for more jobs or groups than one request may have."""
    limit = settings.bunch_jobs_max
    if count > limit:
        message = f"{count} {what}, at most {limit} (bunch_jobs_max)"
        raise TooManyJobs(
            f"the request has too many {what}",
            detail=f"It has {message}.",
            hint=hint,
            errors=[FieldError(f"/{what}", message)],
        )


def refuse_too_large_arrays(jobs: Sequence[JobDocument], settings: Settings) -> None:
    """Raise `TooManyJobs` if the arrays have more jobs in all than one request may have."""
    if all(job.array_size is None for job in jobs):
        return
    sizes = [job.array_size or 1 for job in jobs]
    limit, count = settings.array_jobs_max, sum(sizes)
    if count > limit:
        raise TooManyJobs(
            "the arrays of the request have too many jobs",
            detail=f"Its arrays make it {count} jobs, at most {limit} (array_jobs_max).",
            hint="Create an update and send the arrays in parts with `index_from`, as "
            "`weft submit` and the Python client do.",
            errors=[
                FieldError(
                    f"/jobs/{index}/{'count' if job.values is None else 'values'}", f"{size} jobs"
                )
                for index, (job, size) in enumerate(zip(jobs, sizes, strict=True))
                if size > 1
            ][:PROBLEMS_MAX],
        )
