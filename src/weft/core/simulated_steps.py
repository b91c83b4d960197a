"""What has become of the steps of a simulated job, from the time that its attempt took: a step
takes as long as it says, but for COMPUTE, of which nothing is known before the end.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

DONE: Final = "done"
RUNNING: Final = "running"
WAITING: Final = "waiting"
FAILED: Final = "failed"
SKIPPED: Final = "not taken"
_LASTS: Final = {"SLEEP": "durationMs", "HTTP_CALL": "latencyMs"}
_UNKNOWN: Final = "COMPUTE"


class StepNow(NamedTuple):
    """A step, and what has become of it."""

    step: Mapping[str, Any]
    state: str
    after_ms: int | None
    """When it began or will begin, from the start; None: that depends on a COMPUTE."""
    lasts_ms: int | None


def steps_now(
    steps: Sequence[Mapping[str, Any]], elapsed_ms: int | None, end: str | None, reason: str | None
) -> list[StepNow]:
    """Return what has become of each step. `elapsed_ms`: since the start, None: it has not
    started; `end`: the state with which the attempt ended, None: it runs.
    """
    found: list[StepNow] = []
    after: int | None = 0
    is_over = elapsed_ms is None
    for step in steps:
        lasts = (
            None
            if step["action"] == _UNKNOWN
            else int(step.get(_LASTS.get(step["action"], ""), 0))
        )
        until = None if after is None or lasts is None else after + lasts
        if is_over:
            state = WAITING if end is None else SKIPPED
        elif end == "success":
            state = DONE
        elif step["action"] == "FAIL" and reason == "exit":
            state, is_over = FAILED, True
        elif reason == "exit" or (until is not None and until <= (elapsed_ms or 0)):
            state = DONE
        else:
            state, is_over = RUNNING if end is None else FAILED, True
        found.append(StepNow(step, state, after, lasts))
        after = until
    return found


def change_in_ms(found: Sequence[StepNow], elapsed_ms: int) -> int | None:
    """Return when the step that runs is over; None: time alone does not tell."""
    for one in found:
        if one.state == RUNNING and one.after_ms is not None and one.lasts_ms is not None:
            return max(1, one.after_ms + one.lasts_ms - elapsed_ms)
    return None
