"""What a page says of the steps of a simulated job."""

from hypothesis import given
from hypothesis import strategies as st

from cases import cases
from weft_pages.jobs import change_in_ms, steps_now

SLEEP = {"action": "SLEEP", "durationMs": 100}
CALL = {"action": "HTTP_CALL", "latencyMs": 50}
LOG = {"action": "LOG", "message": "x"}
COMPUTE = {"action": "COMPUTE", "iterations": 10}
FAIL = {"action": "FAIL"}


@cases(
    ("steps", "elapsed_ms", "end", "reason", "states"),
    [
        ([SLEEP, LOG], None, None, None, "waiting waiting"),
        ([SLEEP, LOG], 99, None, None, "running waiting"),
        ([SLEEP, LOG, CALL, LOG], 100, None, None, "done done running waiting"),
        ([SLEEP, COMPUTE, LOG], 5000, None, None, "done running waiting"),
        ([SLEEP, COMPUTE, LOG], 5000, "success", None, "done done done"),
        ([COMPUTE, FAIL, LOG], 10, "failed", "exit", "done failed not taken"),
        ([SLEEP, SLEEP, LOG], 150, "cancelled", "cancelled", "done failed not taken"),
        ([SLEEP, LOG], None, "cancelled", None, "not taken not taken"),
    ],
)
def test_steps_follow_the_time_and_the_end(
    steps: list[dict[str, object]], elapsed_ms: int | None, end: str, reason: str, states: str
) -> None:
    found = steps_now(steps, elapsed_ms, end, reason)

    assert " ".join(one.state for one in found) == states


def test_times_are_known_until_a_compute() -> None:
    found = steps_now([SLEEP, CALL, COMPUTE, SLEEP], 120, None, None)

    assert [(one.after_ms, one.lasts_ms) for one in found] == [
        (0, 100),
        (100, 50),
        (150, None),
        (None, 100),
    ]
    assert change_in_ms(found, 120) == 30
    assert change_in_ms(steps_now([COMPUTE], 120, None, None), 120) is None


@given(
    st.lists(st.sampled_from([SLEEP, CALL, LOG, COMPUTE, FAIL]), max_size=8),
    st.integers(0, 1000),
    st.integers(0, 1000),
)
def test_a_step_that_is_done_stays_done(
    steps: list[dict[str, object]], before_ms: int, later_ms: int
) -> None:
    """And at most one runs."""
    first = steps_now(steps, before_ms, None, None)
    second = steps_now(steps, before_ms + later_ms, None, None)

    n_done = [sum(one.state == "done" for one in found) for found in (first, second)]
    assert n_done[0] <= n_done[1]
    assert sum(one.state == "running" for one in first) <= 1
