"""What Slurm's states mean beside the marks of an attempt."""

from signal import SIGTERM

from cases import cases
from weft.extensions.engines.slurm.runner.commands import Task
from weft.extensions.engines.slurm.runner.folder import Marks, marks_of
from weft.extensions.engines.slurm.runner.statuses import ended, is_undecided


def marks(*, ended_s_ago: float = 1.0, **more: float) -> Marks:
    ages = {"started": 9.0, "ended": ended_s_ago, **more}
    texts = {"started": "7 2 n1\n", "ended": "0\n", "used": "0m0.010s 0m0.000s\n1m2.50s 0m0.25s\n"}
    return marks_of(ages, texts)


@cases(
    ("state", "own", "expected"),
    [
        ("COMPLETING", marks(termed=2.0), True),
        ("RUNNING", marks(termed=2.0, ended_s_ago=0.1), True),
        ("COMPLETING", marks(), False),
        ("COMPLETING", marks(termed=2.0, stopped=3.0), False),
        ("COMPLETING", marks(termed=99.0, ended_s_ago=90.0), False),
        ("CANCELLED", marks(termed=2.0), False),
        ("COMPLETED", marks(termed=2.0), False),
    ],
)
def test_an_end_that_slurm_has_asked_for_waits_for_its_state(
    state: str, own: Marks, *, expected: bool
) -> None:
    """But not for ever, and no other end does."""
    assert is_undecided(own, Task(7, 2, state)) == expected
    assert not is_undecided(own, None)


def test_good_end_of_a_cancelled_job_is_none() -> None:
    """One that Slurm has warned and that ends well is."""
    cancelled, well = (
        ended(marks(termed=2.0), 1.0, Task(7, 2, state)) for state in ("CANCELLED", "COMPLETED")
    )
    assert (cancelled.exit_code, cancelled.signal) == (None, SIGTERM)
    assert (well.exit_code, well.signal, well.cpu_ms) == (0, None, 62_750)


@cases("text", ["", "x", "0m0s 0m0s\n1m1.2.3s ²m1s\n", "\n" + "9" * 100 + "m1s"])
def test_odd_times_are_no_times(text: str) -> None:
    assert marks_of({}, {"used": text}).cpu_ms <= 10**15
