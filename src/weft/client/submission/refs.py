"""Names of jobs and groups before and after the server has numbered them."""

from dataclasses import dataclass
from typing import Protocol

from weft.core.errors import Conflict
from weft.core.ids import format_job_ref


class NotSubmitted(Conflict, code="CLIENT.NOT_SUBMITTED"):
    """A job has no number before its builder is submitted."""


@dataclass(slots=True, eq=False)
class Block:
    """The jobs of one submission, numbered without a gap. Where they begin is known when it is
    done.
    """

    batch_id: int | None = None
    first_job: int | None = None


@dataclass(frozen=True, slots=True)
class JobRef:
    """A job by its position in a block, from 1 on; or `count` of them, an array, by the first."""

    block: Block
    position: int
    count: int = 1

    @property
    def batch_id(self) -> int:
        """Return the number of the batch. Raise `NotSubmitted` if there is none yet."""
        if self.block.batch_id is None:
            raise _not_submitted()
        return self.block.batch_id

    @property
    def job_id(self) -> int:
        """Return the number within the batch. Raise `NotSubmitted` if there is none yet."""
        if self.block.first_job is None:
            raise _not_submitted()
        return self.block.first_job + self.position - 1

    def shown(self) -> str:
        """Return what a person calls it: `b7.j3`, or `b7.j3-j12` for an array."""
        if self.block.batch_id is None or self.block.first_job is None:
            return "that is not submitted yet"
        name = format_job_ref(self.batch_id, self.job_id)
        return name if self.count == 1 else f"{name}-j{self.job_id + self.count - 1}"


class HasRef(Protocol):
    """A job, asynchronous or not."""

    @property
    def ref(self) -> JobRef:
        """Return the job's reference."""


def ref_of(batch_id: int, job_id: int) -> JobRef:
    """Return the reference to a job that exists."""
    return JobRef(Block(batch_id, 1), job_id)


def _not_submitted() -> NotSubmitted:
    return NotSubmitted(
        "the job was not submitted yet",
        detail="A job gets its number when its builder is submitted.",
        hint="Call `submit()` first.",
    )
