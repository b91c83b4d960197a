"""What the translation of a document knows besides it, and how much a request may have."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from weft.core.apps.description import FoundApp
from weft.core.errors import FieldError, TooManyJobs
from weft.core.problems import PROBLEMS_MAX
from weft.core.queues import Router
from weft.settings import Settings
from weft.wire.documents.jobs import JobDocument


@dataclass(frozen=True, kw_only=True)
class DocumentContext:
    """What is the same for all jobs of a document."""

    settings: Settings
    trace_id: str
    ordinary: bool = False
    """What `are_ordinary` says of its jobs; False: not looked at."""
    inherit_env: dict[str, str] | None = None
    batch_id: int | None = None
    """None: the batch is being created."""
    has_lifecycle: bool = False
    """Of its batch, or that is not known."""
    first: int = 1
    """Position of the first job in its update."""
    whole: bool = False
    """The document holds all jobs of the update: parents may be named, groups are paths."""
    group_by_path: Mapping[str, int] = field(default_factory=dict)
    set_by_name: Mapping[str, int] = field(default_factory=dict)
    router: Router | None = None
    """None: the tenant has one queue."""
    licences: Mapping[str, int] = field(default_factory=dict)
    """How many there are of each licence."""
    apps: Mapping[str, FoundApp] = field(default_factory=dict)
    """Those that its jobs run, by name."""

    def rare(self, jobs: Sequence[JobDocument]) -> Sequence[JobDocument]:
        """Return the jobs that may have what few jobs have: none if all are ordinary."""
        return () if self.ordinary else jobs


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
