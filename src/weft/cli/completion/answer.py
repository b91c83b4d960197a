"""What `weft --complete SHELL …` prints: a line that tells the shell what it completes itself
(`words`, `files`, `command N`), then one line a word, with a tab and a sentence behind some.

Bash gives its line and the last word as readline sees it, because it takes words apart at `=` and
`@`; the others give words, all but the last without quotes.
"""

import os
import re
import sys
from collections.abc import Mapping, Sequence
from itertools import islice, pairwise
from typing import Final

from weft.cli.completion.cursor import Cursor, cursor_of, read_commands
from weft.cli.terminal.plain import one_line

_SAFE: Final = re.compile(r"[\w/@][\w.,/+%@ -]*(?<! )")
"""Names that no shell takes apart or runs, but for blanks. Others are not offered: they can still
be typed."""
_MARK: Final = "\0"
WORDS_MAX: Final = 100
SENTENCE_CHARS: Final = 60


def print_completions(arguments: Sequence[str]) -> None:
    """Print the answer to the script of a shell."""
    shell, *words = arguments or [""]
    quote, seen = "", ""
    if shell == "bash":
        line, seen = (*words, "", "")[:2]
        words, quote = words_of(line)
        words = words[1:]
    elif words:  # of which the last one is as it was typed
        words[-1] = words_of(words[-1])[0][-1]
    cursor = cursor_of(words, read_commands())
    sys.stdout.write(f"{cursor.left or 'words'}\n")
    current = words[-1] if words else ""
    # Of the current word bash replaces only what it gave as such; behind a quote as it is.
    seen = seen if quote else words_of(seen)[0][-1]
    cut = len(current) - len(seen) if shell == "bash" else 0
    for word, sentence in offered(cursor, words).items():
        whole = f"{cursor.before}{word}"[cut:]
        if shell == "bash":
            sys.stdout.write(f"{whole if quote else escaped(whole)}\n")
        else:
            sys.stdout.write(f"{whole}\t{sentence}".rstrip("\t") + "\n")
    sys.stdout.flush()


def words_of(line: str) -> tuple[list[str], str]:
    """Return the words of a line as a shell reads them, and the quote that is open at its end. The
    last word is the one at the end of the line, maybe empty.
    """
    import shlex  # noqa: PLC0415 (only bash needs it)

    for quote in ("", '"', "'"):
        try:
            *words, last = shlex.split(f"{line}{_MARK}{quote}")
        except ValueError:  # the quote is not the one that is open
            continue
        return [*words, last.removesuffix(_MARK)], quote
    return [""], ""


def escaped(word: str) -> str:
    """Return a word as one that is typed into bash."""
    return word.replace(" ", "\\ ")


def offered(cursor: Cursor, words: Sequence[str]) -> Mapping[str, str]:
    """Return the words that begin like the current one, each with a sentence or nothing."""
    found = {word: text for word, text in cursor.words.items() if word.startswith(cursor.begun)}
    if not cursor.asks:
        return found
    from weft.cli.completion.live_words import ask_server  # noqa: PLC0415 (only now needed)

    home, visit = option_of("--home", words), option_of("--visit", words)
    asked = ask_server(cursor.asks, cursor.begun, home=home, visit=visit)
    return {**found, **harmless_words(asked, cursor)}


def harmless_words(found: Mapping[str, str], cursor: Cursor) -> Mapping[str, str]:
    """Return the names that begin like the current word and that no shell misreads."""
    return dict(
        islice(
            (
                (word, one_line(sentence, width=SENTENCE_CHARS))
                for word, sentence in found.items()
                if word.startswith(cursor.begun) and _SAFE.fullmatch(word)
            ),
            WORDS_MAX,
        )
    )


def option_of(name: str, words: Sequence[str]) -> str | None:
    """Return the value that an option has on the line, before the word at its end."""
    before = words[:-1]
    for word, after in pairwise((*before, "")):
        if word.startswith(f"{name}="):
            return _expanded(word.removeprefix(f"{name}="))
        if word == name and after:
            return _expanded(after)
    return None


def _expanded(value: str) -> str:
    return os.path.expanduser(os.path.expandvars(value))  # noqa: PTH111 (as a shell does)
