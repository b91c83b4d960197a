"""Remove what a job may have made: trees of any depth and size, by a program that has no limit.

`shutil.rmtree` goes down one call per level, and a job makes more levels than Python has calls.
"""

import subprocess
from itertools import islice
from pathlib import Path
from typing import ClassVar, Final

_COMMAND: Final = ("/bin/rm", "-rf", "--")
_SIMPLE_ENTRIES_MAX: Final = 1000


class TreeRemovals:
    """Remove trees without waiting for those that take long."""

    _begun: ClassVar[list["subprocess.Popen[bytes]"]] = []
    """Of all: they may outlive who has begun them."""

    def remove(self, path: Path) -> None:
        """Remove whatever has this path. It may stay, and nobody reads it then."""
        self._begun[:] = [process for process in self._begun if process.poll() is None]
        try:
            if not path.is_dir() or path.is_symlink():
                path.unlink(missing_ok=True)
            elif not _remove_simple(path):
                self._begun.append(_begin(path))
        except OSError:
            return

    def wait(self) -> None:
        """Wait for the removals that have begun."""
        for process in self._begun:
            process.wait()


def remove_tree(path: Path) -> None:
    """Remove a tree, and wait for that. Raise `OSError` if something is left."""
    with _begin(path, subprocess.PIPE) as removal:
        said = removal.communicate()[1].decode(errors="replace").strip()
    if removal.returncode:
        raise OSError(said.rpartition("\n")[2] or f"{path} could not be removed")


def _begin(path: Path, stderr: int = subprocess.DEVNULL) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [*_COMMAND, path],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=stderr,
        start_new_session=True,
    )


def _remove_simple(path: Path) -> bool:
    """Remove a directory of few files; return whether it is gone."""
    try:
        for entry in list(islice(path.iterdir(), _SIMPLE_ENTRIES_MAX)):
            entry.unlink()
        path.rmdir()
    except OSError:
        return False
    return True
