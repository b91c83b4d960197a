"""What a container sees: the words of bubblewrap that put its root directory together.

The root is made anew for each job, of the entries of the image, because places for mounts that an
image does not have cannot be made in the image itself: other jobs use it.
"""

import os
from collections.abc import Iterator, Sequence
from typing import Final

from weft.core.errors import WeftError

_OWN: Final = frozenset({"/dev", "/proc", "/sys", "/tmp", "/run", "/weft"})  # noqa: S108 (its own)
_EMPTY: Final = ("/tmp", "/run")  # noqa: S108 (its own)


def root_words(root: str, targets: Sequence[str]) -> list[str]:
    """Return the words that show an image, with places for what is mounted at `targets`. Raise
    `WeftError` if one of them cannot be made.
    """
    for target in targets:
        own = _OWN - {"/tmp"}  # noqa: S108
        if target == "/" or any(target == path or target.startswith(f"{path}/") for path in own):
            raise WeftError(f"nothing can be mounted at {target}")
        if ".." in target.split("/"):
            raise WeftError(f"the mount {target} must not contain ..")
        _check_path(root, target)
    words = list(_shown(root, "", targets))
    for one in _EMPTY:
        words += ["--tmpfs", one]
    if os.path.isdir(f"{root}/var/tmp"):  # noqa: PTH112, S108 (text; its own)
        words += ["--tmpfs", "/var/tmp"]  # noqa: S108 (its own)
    return [*words, "--dev", "/dev", "--proc", "/proc", "--ro-bind-try", "/sys", "/sys"]


def _check_path(root: str, target: str) -> None:
    """Raise `WeftError` if a mount would lead through a symlink of the image."""
    at = root
    for part in (one for one in target.split("/") if one):
        at = f"{at}/{part}"
        if os.path.islink(at):  # noqa: PTH114 (text)
            raise WeftError(f"the mount {target} leads through a symlink of the image")


def _shown(root: str, directory: str, targets: Sequence[str]) -> Iterator[str]:
    """Yield the words for the entries of a directory of the image."""
    with os.scandir(root + directory) as entries:
        found = sorted(entries, key=lambda entry: entry.name)
    for entry in found:
        path = f"{directory}/{entry.name}"
        if path in _OWN or path in targets:
            continue
        inner = [target for target in targets if target.startswith(f"{path}/")]
        if entry.is_symlink():
            yield from ("--symlink", os.readlink(entry.path), path)  # noqa: PTH115 (text)
        elif entry.is_dir() and not all(os.path.lexists(root + one) for one in inner):
            yield from ("--dir", path)
            yield from _shown(root, path, inner)
        elif entry.is_dir() or entry.is_file():
            yield from ("--ro-bind", entry.path, path)
