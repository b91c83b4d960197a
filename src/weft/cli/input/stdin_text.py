"""Pass standard input on to a job."""

import os
import select
import stat

from weft.cli.input.options import NotUtf8
from weft.cli.terminal.report import note
from weft.core.errors import TooLarge

STDIN = 0
BYTES_MAX = 1 << 20
READ_BYTES = 64 * 1024
SILENCE_S = 2.0
HINT = "Write it to a file that the command reads: `weft run -n -- CMD FILE`."


class StdinTooLarge(TooLarge, code="CLI.STDIN_TOO_LARGE"):
    """More standard input than a job can carry."""


def read_stdin() -> str | None:
    """Return the text on standard input; `None` if that is a terminal, a device or closed."""
    if not has_stdin():
        return None
    data = _read_all()
    try:
        return data.decode() or None
    except UnicodeDecodeError as error:
        raise NotUtf8(
            "standard input is not valid UTF-8",
            detail=f"Byte {error.start + 1} is invalid; a job's standard input must be text.",
            hint=HINT,
        ) from error


def has_stdin() -> bool:
    """Say whether standard input is a file, a pipe or a socket."""
    try:
        mode = os.fstat(STDIN).st_mode
    except OSError:
        return False
    return not (stat.S_ISCHR(mode) or stat.S_ISDIR(mode))


def read_waiting(descriptor: int) -> bytes:
    """Read what comes next; none at the end. Also where the other end lets reads not wait, as ssh
    and node do with pipes that they share.
    """
    while True:
        try:
            return os.read(descriptor, READ_BYTES)
        except BlockingIOError:
            select.select([descriptor], [], [])


def _read_all() -> bytes:
    """Read to the end; if that takes a while, tell the user."""
    parts: list[bytes] = []
    size = 0
    told = False
    while True:
        if not told and not select.select([STDIN], [], [], SILENCE_S)[0]:
            note("waiting for the end of standard input (-n: run without it)")
            told = True
        part = read_waiting(STDIN)
        if not part:
            return b"".join(parts)
        parts.append(part)
        size += len(part)
        if size > BYTES_MAX:
            raise StdinTooLarge(
                f"standard input is larger than {BYTES_MAX >> 20} MiB",
                detail="Standard input is stored with the job.",
                hint=HINT,
            )
