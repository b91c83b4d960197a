"""What may be done to many batches at once, and how many jobs of a batch it concerns."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any


class BatchAction(StrEnum):
    """What is done to each of the batches. The words are those of the command line."""

    HOLD = "hold"
    RELEASE = "release"
    RETRY = "retry"
    CANCEL = "cancel"


def n_concerned(action: BatchAction, batch: Mapping[str, Any]) -> int:
    """Return how many jobs of a batch's document an action concerns; 0: it is left as it is."""
    n_left = int(batch["n_jobs"] - batch["n_completed"])
    match action:
        case BatchAction.HOLD:
            return 0 if batch["held"] else n_left
        case BatchAction.RELEASE:
            return n_left if batch["held"] else 0
        case BatchAction.CANCEL:
            return 0 if batch["cancelled"] else n_left
        case BatchAction.RETRY:
            if batch["cancelled"] and batch["cancel_after_n_failures"] is None:
                return 0  # what a person has cancelled does not run again
            return int(batch["n_failed"] + batch["n_errored"])
