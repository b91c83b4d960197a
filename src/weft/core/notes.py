"""Notes of running jobs: each a file in `$WEFT_NOTES`, its title the name and its kind the ending,
as `loss by epoch.csv`.
"""

import re
import struct
from collections.abc import Mapping
from pathlib import PurePath
from types import MappingProxyType
from typing import Annotated, Final, Literal, NamedTuple
from urllib.parse import unquote

from msgspec import Meta

from weft.core.text.texts import harmless

NOTES_VARIABLE: Final = "WEFT_NOTES"
NOTES_ENDING: Final = ".notes"
"""Their directory is called as the file of the progress, with this."""
NOTES_MAX: Final = 16
"""The newest ones of a job are kept; SQL has the numbers, too."""
TITLE_CHARS_MAX: Final = 60
TEXT_BYTES_MAX: Final = 64 * 1024
PICTURE_BYTES_MAX: Final = 1024 * 1024
SIDE_MAX: Final = 4096
"""Of a picture, in pixels: what shows it holds all of them at once."""
NoteKind = Literal["markdown", "text", "table", "picture", "link"]
ENDINGS: Final[Mapping[str, NoteKind]] = MappingProxyType(
    {".md": "markdown", ".txt": "text", ".csv": "table", ".png": "picture", ".url": "link"}
)
_ENDING_OF: Final = {kind: ending for ending, kind in ENDINGS.items()}
_LINK: Final = re.compile(r"(?:https?://|mailto:)[!-~]{1,2000}")
_PNG: Final = b"\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR"
_PNG_END: Final = b"IEND\xaeB`\x82"
_SIDES: Final = struct.Struct("!II")


class WrongNote(ValueError):
    """This cannot be a note; the text says why."""


class Note(NamedTuple):
    """What a job says about itself, for people."""

    title: Annotated[str, Meta(max_length=TITLE_CHARS_MAX)]
    kind: NoteKind
    body: Annotated[bytes, Meta(max_length=PICTURE_BYTES_MAX)]

    @property
    def file_name(self) -> str:
        """Return the name of its file."""
        name = self.title.replace("%", "%25").replace("/", "%2F")
        return f"{'%2E' + name[1:] if name[0] == '.' else name}{_ENDING_OF[self.kind]}"


def bytes_max_of(kind: NoteKind) -> int:
    """Return how long a note may be."""
    return PICTURE_BYTES_MAX if kind == "picture" else TEXT_BYTES_MAX


def named_note(file_name: str) -> tuple[str, NoteKind]:
    """Return the title and the kind that the name of a file says. Raise `WrongNote`."""
    path = PurePath(file_name)
    kind = ENDINGS.get(path.suffix.lower())
    if kind is None:
        raise WrongNote(f"its name ends in none of {', '.join(ENDINGS)}")
    return unquote(path.stem), kind


def checked_note(title: str, kind: NoteKind, body: bytes) -> Note:
    """Return the note, its title cut and in one line. Raise `WrongNote`."""
    title = title.encode(errors="replace").decode()  # a name of a file need not be UTF-8
    title = harmless(" ".join(title.split()))[:TITLE_CHARS_MAX]
    if not title:
        raise WrongNote("it has no title")
    if len(body) > bytes_max_of(kind):
        raise WrongNote(f"it has more than {bytes_max_of(kind):,} bytes")
    if kind == "picture" and not _is_picture(body):
        raise WrongNote(f"it is no whole PNG of at most {SIDE_MAX} x {SIDE_MAX} pixels")
    if kind == "link":
        body = body.strip()
        if not _LINK.fullmatch(body.decode(errors="replace")):
            raise WrongNote("it is no address with http, https or mailto")
    return Note(title, kind, body)


def _is_picture(body: bytes) -> bool:
    if not (body.startswith(_PNG) and body.endswith(_PNG_END)):
        return False
    return all(0 < side <= SIDE_MAX for side in _SIDES.unpack_from(body, len(_PNG)))
