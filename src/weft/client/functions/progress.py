"""`weft.progress`: how far a job is, said from within it."""

import os
from contextlib import suppress
from pathlib import Path

from weft.core.progress_file import PROGRESS_VARIABLE, checked_progress, write_progress


def progress(fraction: float, text: str = "") -> None:
    """Say how much of the running job is done, from 0 to 1, and what it is doing.

    Only the newest word is read, every few seconds: call it as often as you like. Outside of a job
    it does nothing. Raise `ValueError` if `fraction` is not from 0 to 1.
    """
    content = write_progress(checked_progress(fraction * 100, text))
    file = os.environ.get(PROGRESS_VARIABLE)
    if file:
        with suppress(OSError):  # a full disk ends no job that could go on
            Path(file).write_bytes(content)
