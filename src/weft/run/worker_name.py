"""What a worker is called, and its files in the home: a home may have several workers."""

import socket
from hashlib import sha256

from weft.settings import Settings


def worker_name(settings: Settings) -> str:
    """Return the worker's name: the host's, if none is set."""
    return settings.worker_name or socket.gethostname()


def file_name_of(settings: Settings) -> str:
    """Return the name as it may stand in the name of a file: another one for each worker."""
    name = worker_name(settings)
    kept = "".join(letter if letter.isalnum() or letter in "-_." else "_" for letter in name)
    return kept if kept == name else f"{kept}-{sha256(name.encode()).hexdigest()[:12]}"
