"""Files that nobody else may read, as spawner and warm processes write them.

Beside both, because neither may import the other; small, because both must stay so.
"""

import os


def make_private(directory: str) -> None:
    """Make a directory and those above it, each for us alone: `makedirs` cares for the last."""
    try:
        os.mkdir(directory, 0o700)
    except FileNotFoundError:
        make_private(os.path.dirname(directory))
        make_private(directory)
    except FileExistsError:
        pass


def write_all(fd: int, data: bytes) -> None:
    """Write everything; raise `OSError` when a part of it could not be written."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(fd, rest) :]
