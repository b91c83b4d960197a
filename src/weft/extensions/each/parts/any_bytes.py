"""Commands with bytes that are not UTF-8: a shell puts the bytes together where the job runs."""

import string
from collections.abc import Sequence

from weft.core.text.texts import is_utf8

_PLAIN = frozenset((string.ascii_letters + string.digits + "/._-+,:=@").encode())
_END = "_"


def portable(command: Sequence[str]) -> list[str]:
    """Return a command in UTF-8 that does the same.

    Arguments travel as UTF-8 text. Words with other bytes become octal numbers, which `printf`
    turns into bytes again; the shell is then replaced by the program.
    """
    if all(map(is_utf8, command)):
        return list(command)
    made: list[str] = []
    words: list[str] = []
    given: list[str] = []
    for number, word in enumerate(command):
        if is_utf8(word):
            given.append(word)
            words.append(f'"${{{len(given)}}}"')
        else:
            # `$()` drops newlines at the end, so another character is put behind them.
            made.append(f"v{number}=$(printf '{_octal(word)}{_END}')")
            words.append(f'"${{v{number}%{_END}}}"')
    return ["/bin/sh", "-c", "; ".join([*made, "exec " + " ".join(words)]), "sh", *given]


def _octal(word: str) -> str:
    data = word.encode("utf-8", "surrogateescape")
    return "".join(chr(one) if one in _PLAIN else f"\\{one:03o}" for one in data)
