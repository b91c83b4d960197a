"""Errors about batches."""

from weft.core.errors.kinds import Conflict, NotFound


class BatchNotFound(NotFound, code="API.BATCH_NOT_FOUND", sqlstate="WF101"):
    """The batch does not exist."""

    def __init__(self, batch_id: int) -> None:
        super().__init__(
            f"batch b{batch_id} does not exist",
            detail="No batch has this number, or you may not see it.",
            hint="List your batches with `weft ls`.",
        )


class BatchCancelled(Conflict, code="API.BATCH_CANCELLED", sqlstate="WF204"):
    """A cancelled batch or group takes no new jobs."""


class BatchFull(Conflict, code="API.BATCH_FULL", sqlstate="WF210"):
    """The batch is full."""


class RenameTooLarge(Conflict, code="API.RENAME_TOO_LARGE", sqlstate="WF232"):
    """A new name would change the paths of too many groups."""


class BatchRunning(Conflict, code="API.BATCH_RUNNING", sqlstate="WF236"):
    """What failed in a batch is known when all its jobs have ended."""
