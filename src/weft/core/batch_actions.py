"""What may be done to many batches at once, and how many jobs of a batch it concerns."""

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, Final


class BatchAction(StrEnum):
    """What is done to each of the batches. The words are those of the command line."""

    HOLD = "hold"
    RELEASE = "release"
    RETRY = "retry"
    CANCEL = "cancel"


def n_concerned(action: BatchAction, batch: Mapping[str, Any]) -> int:
    """Return how many jobs of a batch, given as its document, an action concerns. A batch of 0 is
    left as it is.
    """
    return _CONCERNED[action](batch)


def _n_left(batch: Mapping[str, Any]) -> int:
    return int(batch["n_jobs"] - batch["n_completed"])


def _n_held_back(batch: Mapping[str, Any]) -> int:
    return 0 if batch["held"] else _n_left(batch)


def _n_released(batch: Mapping[str, Any]) -> int:
    return _n_left(batch) if batch["held"] else 0


def _n_retried(batch: Mapping[str, Any]) -> int:
    if batch["cancelled"] and batch["cancel_after_n_failures"] is None:
        return 0  # what a person has cancelled does not run again
    return int(batch["n_failed"] + batch["n_errored"])


def _n_cancelled(batch: Mapping[str, Any]) -> int:
    return 0 if batch["cancelled"] else _n_left(batch)


_CONCERNED: Final[Mapping[BatchAction, Callable[[Mapping[str, Any]], int]]] = {
    BatchAction.HOLD: _n_held_back,
    BatchAction.RELEASE: _n_released,
    BatchAction.RETRY: _n_retried,
    BatchAction.CANCEL: _n_cancelled,
}
