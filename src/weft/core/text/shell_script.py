"""Values within the script of `sh -c`: each is filled in as text of the word in which it stands,
whatever characters it has.
"""

import re
import shlex
from collections.abc import Sequence
from enum import Enum
from pathlib import PurePath
from typing import Final

_SHELLS: Final = frozenset(("ash", "bash", "dash", "ksh", "mksh", "sh", "yash", "zsh"))
_OTHERS: Final = frozenset(("csh", "fish", "tcsh"))
"""Shells that quote in other ways."""
_PLAIN: Final = re.compile(r"[A-Za-z0-9_@%+=:,./-]*")
"""What means nothing to a shell, wherever it stands."""
_CLOSED: Final = re.compile(r"\$\{\w+\}|\$\((?![^)]*case)[^()'\"`\\#<;&|\n]*\)")
"""Substitutions that are over and have no quotes: behind them all is as before."""
_NAMES: Final = "|".join(sorted(_SHELLS | _OTHERS))
_OPAQUE: Final = re.compile(
    rf"`|\$[('\"{{]|\$\Z|\(\(|<<|(?<!\S)#|\b(?:{_NAMES})\s+-\w*c\b|\b(?:eval|let|ssh|su)\b"
)
"""Other substitutions, arithmetic, here-documents, comments, other quotes, and what is a script
once more: behind them it is not told by quotes alone how a shell reads what follows.
"""
_IN_DOUBLE: Final = re.compile(r'([$`"\\])')
_RUN_ONE: Final = frozenset(("flock", "runuser", "script", "su"))
"""Programs that give the word behind their `-c` to a shell."""
_WITH_VALUE: Final = frozenset(("--rcfile", "--init-file"))


class Unsafe(ValueError):
    """A value whose characters would mean something to the shell where it stands."""


class Quoting(Enum):
    """How a shell reads a place of its script."""

    NONE = "none"
    SINGLE = "single"
    DOUBLE = "double"
    UNKNOWN = "unknown"


def script_words(arguments: Sequence[str]) -> dict[int, bool]:
    """Return the positions of the words that a shell runs as its script, also behind `env` or
    `timeout 5`; and whether it quotes as `sh` does.

    >>> script_words(("nice", "bash", "-eo", "pipefail", "-c", "cat {} | wc"))
    {5: True}
    """
    found: dict[int, bool] = {}
    for start, word in enumerate(arguments):
        name = PurePath(word).name
        if name in _SHELLS | _OTHERS and (at := _script_of(arguments, start + 1)) is not None:
            found[at] = name in _SHELLS
        elif name in _RUN_ONE and "-c" in arguments[start + 1 : -1]:
            found[arguments.index("-c", start + 1) + 1] = True
    return found


def _script_of(arguments: Sequence[str], at: int) -> int | None:
    has_script = False
    while at < len(arguments) and arguments[at][:1] in {"-", "+"} and arguments[at] != "-":
        word = arguments[at]
        at += 1
        if word == "--":
            break
        if word in _WITH_VALUE:
            at += 1
        elif not word.startswith("--"):
            has_script = has_script or (word[0] == "-" and "c" in word)
            at += "o" in word or "O" in word  # each takes a word
    return at if has_script and at < len(arguments) else None


def quoting_before(script: str) -> Quoting:
    """Return how a shell reads what stands behind this part of its script."""
    script = _CLOSED.sub("", script)
    if _OPAQUE.search(script):
        return Quoting.UNKNOWN
    state, at = Quoting.NONE, 0
    while at < len(script):
        character = script[at]
        if character == "\\" and state is not Quoting.SINGLE:
            if at + 1 == len(script):
                return Quoting.UNKNOWN
            at += 1
        elif character == "'" and state is not Quoting.DOUBLE:
            state = Quoting.NONE if state is Quoting.SINGLE else Quoting.SINGLE
        elif character == '"' and state is not Quoting.SINGLE:
            state = Quoting.NONE if state is Quoting.DOUBLE else Quoting.DOUBLE
        at += 1
    return state


def is_plain(value: str) -> bool:
    """Say whether a value means nothing to a shell, wherever it stands."""
    return bool(value and _PLAIN.fullmatch(value))


def quoted(value: str, quoting: Quoting) -> str:
    r"""Return a value as text that the shell reads as this value. Raise `Unsafe`.

    >>> quoted("a; b", Quoting.NONE), quoted("it's $1", Quoting.DOUBLE)
    ("'a; b'", "it's \\$1")
    """
    if is_plain(value):
        return value
    match quoting:
        case Quoting.NONE:
            return shlex.quote(value)
        case Quoting.SINGLE:
            return value.replace("'", "'\\''")
        case Quoting.DOUBLE:
            return _IN_DOUBLE.sub(r"\\\1", value)
    raise Unsafe('the shell could run it: write "$1" there, and `sh {}` behind the script')
