"""`weft.progress` and `weft.note`: how far a job is and what it has found, said from within it."""

import os
import threading
from contextlib import suppress
from pathlib import Path

from weft.core.notes import NOTES_VARIABLE, Note, NoteKind, bytes_max_of, checked_note, named_note
from weft.core.progress_file import PROGRESS_VARIABLE, checked_progress, write_progress


def progress(fraction: float, text: str = "") -> None:
    """Say how much of the running job is done, from 0 to 1, and what it is doing.

    Only the newest word is read, every few seconds: call it as often as you like. Outside of a job
    it does nothing. Raise `ValueError` if `fraction` is not from 0 to 1.
    """
    if isinstance(fraction, str):  # type: ignore[unreachable]  # times 100 it is a long text
        raise TypeError(f"{fraction[:40]!r} is text, and a number from 0 to 1 is needed")
    content = write_progress(checked_progress(fraction * 100, text))
    file = os.environ.get(PROGRESS_VARIABLE)
    if file:
        with suppress(OSError):  # a full disk ends no job that could go on
            Path(file).write_bytes(content)


def note(what: str | os.PathLike[str], title: str = "", *, kind: NoteKind | None = None) -> Note:
    """Show a file beside the running job: Markdown, text, CSV or PNG. Or a text, if `kind` says
    what it is: `weft.note("https://…", "dashboard", kind="link")`.

    A note replaces that of the same title; the newest 16 are kept. Outside of a job nothing is
    told. Raise `WrongNote`, a `ValueError`, and `OSError` if the file cannot be read.
    """
    if kind is None:
        path = Path(what)
        name, kind = named_note(path.name)
        with path.open("rb") as file:
            result = checked_note(title or name, kind, file.read(bytes_max_of(kind) + 1))
    else:
        result = checked_note(title, kind, os.fspath(what).encode(errors="replace"))
    directory = os.environ.get(NOTES_VARIABLE)
    if directory:
        with suppress(OSError):  # a full disk ends no job that could go on
            _write(Path(directory), result)
    return result


def _write(directory: Path, a_note: Note) -> None:
    """Make the file of a note, complete as soon as it has its name."""
    directory.mkdir(mode=0o700, exist_ok=True)
    unfinished = directory / f".{os.getpid()}.{threading.get_ident()}"
    unfinished.write_bytes(a_note.body)
    unfinished.replace(directory / a_note.file_name)
