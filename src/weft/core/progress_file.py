"""How far running jobs say that they are: the form of `$WEFT_PROGRESS`, one line `40 epoch 4`."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from weft.core.states import ENDED_WORDS
from weft.core.text.texts import harmless

PROGRESS_VARIABLE: Final = "WEFT_PROGRESS"
PROGRESS_BYTES_MAX: Final = 1024
TEXT_CHARS_MAX: Final = 200
FEW: Final = 10
"""A batch says of this number of running jobs all that they say of themselves."""
_DONE: Final = 100


class WrongProgress(ValueError):
    """What a job says is not a progress; the text says why."""


class Progress(NamedTuple):
    """How much of a job is done, and what it says about it."""

    percent: float
    text: str


def checked_progress(percent: float, text: str) -> Progress:
    """Return the progress, its text cut and in one line. Raise `WrongProgress`."""
    try:
        percent = float(percent)
    except OverflowError:  # an integer may be beyond all floats
        percent = math.inf if percent > 0 else -math.inf
    if not 0 <= percent <= _DONE:  # NaN is neither
        raise WrongProgress(f"{percent:g} % is not from 0 to 100")
    return Progress(round(percent, 1), harmless(" ".join(text.split()))[:TEXT_CHARS_MAX])


def progress_words(document: Mapping[str, Any], *, chars: int = TEXT_CHARS_MAX) -> str:
    """Return what a document of a job or a batch has of one that speaks: `40 %, epoch 4`."""
    text = harmless(" ".join(document["text"].split()))
    text = text if len(text) <= chars else text[: chars - 1] + "…"
    return f"{document['percent']:g} %" + (f", {text}" if text else "")


def progress_of(job: Mapping[str, Any]) -> str | None:
    """Return how far a job says that it is; if that was an earlier attempt, with its number."""
    progress = job.get("progress")
    if progress is None:
        return None
    runs_or_ran = job["state"] in {"running", *ENDED_WORDS}
    is_own = "attempt" not in progress or (runs_or_ran and progress["attempt"] == job["attempt"])
    return progress_words(progress) + ("" if is_own else f", in attempt {progress['attempt']}")


def parts_of(reports: Sequence[Mapping[str, Any]], n_running: int) -> float:
    """Return how many jobs are done in parts, by what running jobs say; 0 if many run."""
    return float(sum(each["percent"] for each in reports)) / _DONE if n_running <= FEW else 0.0


def write_progress(progress: Progress) -> bytes:
    """Return the content of a progress file."""
    return f"{progress.percent:g} {progress.text}\n".encode(errors="replace")


def read_progress(data: bytes) -> Progress:
    """Read the first line of a progress file. Raise `WrongProgress`, also for a line that is being
    written: without its end, and shorter than it may be.
    """
    line, end, _ = data[:PROGRESS_BYTES_MAX].partition(b"\n")
    if not end and len(data) <= PROGRESS_BYTES_MAX:
        raise WrongProgress("its line has no end")
    number, *text = line.decode(errors="replace").split(maxsplit=1) or [""]
    try:
        percent = float(number.removesuffix("%"))
    except ValueError as error:
        raise WrongProgress(f"{number[:40]!r} is not a number from 0 to 100") from error
    return checked_progress(percent, *text or [""])
