"""Limits of names, attributes and other short texts, and texts of others as they are shown."""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Final

from weft.core.text.escapes import STEERING

_HARMFUL: Final = re.compile(STEERING)


def harmless(text: str) -> str:
    """Return the text with control characters replaced, so that it cannot steer what shows it."""
    return _HARMFUL.sub("\ufffd", text)


def wrong_name(name: str, *, chars_max: int) -> str | None:
    """Return why this cannot be a name, or None."""
    if not name:
        return "a name cannot be empty"
    if len(name) > chars_max:
        return f"{len(name)} characters, at most {chars_max} (name_chars_max)"
    if not name.isprintable():
        return "a name can have printable characters only"
    return None


def folded_name(name: str) -> str:
    """Return what names of one tenant, user or billing project have in common, as `_name_key` in
    SQL does: Unicode's compatibility caseless match.
    """
    return unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", name).casefold())


def wrong_key(key: str) -> str | None:
    """Return why this cannot be the key of an attribute, or None."""
    if "\0" in key:
        return "a key cannot contain a NUL character"
    if not key or not key.isprintable():
        return "a key has printable characters and at least one"
    return None


def wrong_attributes(
    attributes: Mapping[str, str], *, count_max: int, bytes_max: int
) -> tuple[str | None, str] | None:
    """Return the offending key (None: all of them) and why, or None."""
    if len(attributes) > count_max:
        return None, f"{len(attributes)} attributes, at most {count_max} (attributes_max)"
    for key, value in attributes.items():
        if wrong := wrong_key(key):
            return key, wrong
        if "\0" in value:
            return key, "a value cannot contain a NUL character"
        # A character has at most four bytes, so most need not be encoded to be measured.
        if 4 * (len(key) + len(value)) > bytes_max:
            size = len(key.encode()) + len(value.encode())
            if size > bytes_max:
                return key, f"{size} bytes, at most {bytes_max} (attribute_bytes_max)"
    return None


def is_utf8(text: str) -> bool:
    """Say whether text from the operating system was UTF-8 (PEP 383 marks what was not)."""
    return not any("\udc80" <= character <= "\udcff" for character in text)


LIKENESS: Final = 0.75
"""At least: below it a suggestion leads astray more often than it helps."""
LETTERS_MIN: Final = 3
"""A shorter word is like too many others."""
_LETTERS_COMPARED: Final = 40


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the known word that is much like this one.

    >>> nearest("runing", ["ready", "running"])
    'running'
    """
    if len(word.strip("-")) < LETTERS_MIN:
        return None
    import difflib  # noqa: PLC0415 (only mistakes need it)

    found = difflib.get_close_matches(word[:_LETTERS_COMPARED], [*known], n=1, cutoff=LIKENESS)
    return next(iter(found), None)


def parse_paths(text: str) -> tuple[str, ...]:
    """Read absolute paths between commas. Raise `ValueError`.

    >>> parse_paths("/data, /scratch/me")
    ('/data', '/scratch/me')
    """
    paths = tuple(one.strip() for one in text.split(",") if one.strip())
    for path in paths:
        if not path.startswith("/"):
            raise ValueError(f"{path!r} is not an absolute path")
    return paths
