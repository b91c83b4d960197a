"""Texts from the operating system that have to travel as UTF-8."""

from collections.abc import Sequence

from weft.core.errors import Invalid
from weft.core.text.texts import is_utf8


class NotUtf8(Invalid, code="CLI.NOT_UTF8"):
    """Bytes that are not valid UTF-8 text."""

    advice = "Pass such bytes in a file: arguments and standard input travel as UTF-8 text."


def check_text(texts: Sequence[str]) -> None:
    """Raise `NotUtf8` if one of these came from bytes that are not UTF-8."""
    for text in texts:
        if not is_utf8(text):
            shown = text.encode("utf-8", "backslashreplace").decode()
            raise NotUtf8(
                f"{shown!r} is not valid UTF-8",
                detail="Commands must be valid UTF-8 text.",
                hint="Rename the file, or use a pattern or a symbolic link to it.",
            )
