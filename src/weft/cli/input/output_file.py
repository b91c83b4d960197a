"""Files that commands write for people."""

from pathlib import Path
from typing import IO

from weft.cli.input.documents import UnreadableDocument


def opened_to_write(path: Path) -> IO[str]:
    """Open a file for a text. Raise `UnreadableDocument` if it cannot be written."""
    try:
        return path.open("w", encoding="utf-8")
    except OSError as error:
        raise UnreadableDocument(
            f"cannot write {str(path)!r}",
            detail=f"{error.strerror}.",
            hint="Name a file in a directory that you may write to.",
        ) from error
