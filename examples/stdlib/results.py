"""Where a job leaves its result for the next one: a file, which is there as a whole or not at all.

So a job that was killed and runs again does no harm.
"""

import json
import os
from pathlib import Path

from counting import Count


def write_whole(path: Path, text: str) -> None:
    """Write a file under another name, then give it its own."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_text(text)
    temporary.replace(path)


def write_count(path: Path, count: Count) -> None:
    """Leave what was counted."""
    write_whole(path, json.dumps(count.to_document()))


def read_counts(paths: list[Path]) -> Count:
    """Return the sum of what others left."""
    result = Count()
    for path in paths:
        result.add(Count.from_document(json.loads(path.read_text())))
    return result
