"""Directories for the databases of tests: in memory, where there is room.

Each of a thousand tests gets a copy of 800 files. On a disk, its file system spends three times as
long on them as the test on all the rest.
"""

import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_MEMORY = Path("/dev/shm")
_PREFIX = "weft-test-data-"
_ROOM_BYTES = 4 << 30
"""What two servers need is a tenth of this."""
_SURELY_LOCKED_S = 60


@contextmanager
def data_directory() -> Iterator[Path]:
    """Give a directory that is gone afterwards. Its path is short, as that of a socket must be."""
    _remove_leftovers(_MEMORY)  # first, because they may be what fills it
    memory = _MEMORY if _has_room(_MEMORY) else None
    path = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=memory))
    # Held as long as this process lives: what a killed one has left must not fill the memory.
    lock = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
        os.close(lock)


def _has_room(directory: Path) -> bool:
    try:
        found = os.statvfs(directory)
        memory = Path("/proc/meminfo").read_text().partition("MemAvailable:")[2].split()[0]
    except (OSError, IndexError):
        return False
    free = min(found.f_bavail * found.f_frsize, int(memory) * 1024)
    return free >= _ROOM_BYTES and os.access(directory, os.W_OK)


def _remove_leftovers(directory: Path) -> None:
    for path in directory.glob(f"{_PREFIX}*"):
        try:
            if path.stat().st_mtime > time.time() - _SURELY_LOCKED_S:
                continue
            lock = os.open(path, os.O_RDONLY)
        except OSError:
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(path, ignore_errors=True)
        except BlockingIOError:
            pass
        finally:
            os.close(lock)
