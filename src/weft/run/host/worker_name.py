"""What a worker is called, and its files in the home: a home may have several workers."""

import fcntl
import getpass
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path

from weft.core.errors import WorkerAlive
from weft.settings import Settings


def worker_name(settings: Settings) -> str:
    """Return the worker's name: the host's, if none is set."""
    return settings.worker_name or socket.gethostname()


def file_name_of(settings: Settings) -> str:
    """Return the name as it may stand in the name of a file: another one for each worker."""
    return file_name(worker_name(settings))


def file_name(name: str) -> str:
    """Return the name of a worker as it may stand in the name of a file."""
    kept = "".join(letter if letter.isalnum() or letter in "-_." else "_" for letter in name)
    return kept if kept == name else f"{kept}-{sha256(name.encode()).hexdigest()[:12]}"


@contextmanager
def holding_name(settings: Settings, run: Path) -> Iterator[None]:
    """Be the one agent of this name in the home; raise `WorkerAlive` if another one lives.

    A second one would take the runner with its jobs from the first, as a successor does. The
    kernel frees the name with the process, however that ends.
    """
    lock = run / f"worker-{file_name_of(settings)}.lock"
    handle = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise WorkerAlive(
                f'worker "{worker_name(settings)}" is already running',
                detail=f"Its process holds {lock}.",
                hint="Give this worker another name with --worker-name.",
            ) from error
        yield
    finally:
        os.close(handle)


def user_name() -> str:
    """Return the login name, or the number of a user who has none."""
    with suppress(OSError, KeyError):
        return getpass.getuser()
    return f"uid-{os.geteuid()}"
