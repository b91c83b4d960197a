"""What a worker is called, and its files in the home: a home may have several workers."""

import socket

from weft.settings import Settings


def worker_name(settings: Settings) -> str:
    """Return the worker's name: the host's, if none is set."""
    return settings.worker_name or socket.gethostname()


def file_name_of(settings: Settings) -> str:
    """Return the name as it may stand in the name of a file."""
    return "".join(
        letter if letter.isalnum() or letter in "-_." else "_" for letter in worker_name(settings)
    )
