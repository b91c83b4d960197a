"""Files that only their owner may read, written by the spawner and warm processes.

A module of its own because neither may import the other; small because both must stay small.
"""

import os


def make_private(directory: str) -> None:
    """Make a directory and its parents, all private: `makedirs` sets the last one's mode only."""
    try:
        os.mkdir(directory, 0o700)
    except FileNotFoundError:
        make_private(os.path.dirname(directory))
        make_private(directory)
    except FileExistsError:
        pass


def write_all(fd: int, data: bytes) -> None:
    """Write everything; raise `OSError` if a part of it could not be written."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(fd, rest) :]
