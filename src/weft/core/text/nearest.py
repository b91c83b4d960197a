"""Did you mean: which known word somebody meant who wrote another one."""

from collections.abc import Iterable
from typing import Final

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
