"""Keep the logs of the roles small while those who write them go on."""

import asyncio
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from weft.telemetry.log import log

LOG_BYTES_MAX = 16 << 20
LOOK_EVERY_S = 60.0


async def keep_small(paths: Sequence[Path]) -> None:
    """Look at the sizes now and then; until cancelled."""
    while True:
        for path in paths:
            try:
                await asyncio.to_thread(rotate, path)
            except OSError as error:
                log.warning("up.log_not_rotated", path=str(path), error=str(error))
        await asyncio.sleep(LOOK_EVERY_S)


def rotate(path: Path, *, bytes_max: int = LOG_BYTES_MAX) -> None:
    """Move the content of a log that is too large to `<name>.1` and empty it.

    Its writers append, so they need not be told. Lines that they write in between may be lost.
    """
    try:
        if path.stat().st_size <= bytes_max:
            return
    except FileNotFoundError:
        return
    kept = path.with_name(f"{path.name}.1")
    kept.touch(mode=0o600)
    shutil.copyfile(path, kept)
    os.truncate(path, 0)
