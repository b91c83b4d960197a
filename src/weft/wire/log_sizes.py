"""How long the files of output are that attempts have written."""

import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from weft.core.attempt_key import AttemptKey
from weft.wire.log_format import own_path, segment_path


def log_sizes(root: Path, keys: Sequence[AttemptKey], segments: Sequence[int]) -> dict[str, int]:
    """Return the lengths of the files of these attempts, and of these segments, by their paths
    below the root.
    """
    names_of: defaultdict[Path, set[str]] = defaultdict(set)
    for key in keys:
        own = own_path(root, key.batch_id, key.job_id, key.attempt)
        names_of[own.parent].add(own.name)
    found = {}
    for directory, names in names_of.items():
        for entry in _entries(directory):
            job, attempt, *_ = [*entry.name.split("."), ""]
            if f"{job}.{attempt}" in names and not entry.name.endswith("~"):
                path = os.path.relpath(entry.path, root)
                with suppress(FileNotFoundError):
                    found[path] = entry.stat(follow_symlinks=False).st_size
    for segment in segments:
        file = segment_path(root, segment)
        with suppress(FileNotFoundError):
            found[str(file.relative_to(root))] = file.stat().st_size
    return found


def _entries(directory: Path) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(directory) as entries:
            yield from entries
    except FileNotFoundError:
        return
