"""What is said of output whose middle was not kept."""

from collections.abc import Callable

from weft.cli.terminal.report import note
from weft.core.ids import format_job_ref
from weft.core.text.amounts import size

LIMIT = "the setting `stream_bytes_max` of workers says how much of each stream is kept"


def say_left_out(n_bytes: int, stream: str, batch_id: int, job_id: int) -> None:
    """Say how much of a stream is missing at this place."""
    note(f"{format_job_ref(batch_id, job_id)}: {size(n_bytes)} of {stream} were left out")


def once(say: Callable[[], None]) -> Callable[[], None]:
    """Return a function of which only the first call says something."""
    left = [say]

    def call() -> None:
        while left:
            left.pop()()

    return call


def say_cut(batch_id: int, job_id: int) -> None:
    """Say that the middle of an output that was printed whole is missing."""
    note(f"{format_job_ref(batch_id, job_id)}: the middle of its output was left out; {LIMIT}")
