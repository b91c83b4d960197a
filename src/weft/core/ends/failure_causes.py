"""What failures have in common: the line of the output that looks like the error, and its text
without what differs from job to job. Jobs that fail with the same text fail for one cause.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from weft.core.access.secret_variables import MASK, USUAL, matches, patterns_of, without_password
from weft.core.text.escapes import without_escapes

TAIL_BYTES: Final = 4096
"""How much of the end of the output is looked at."""
LINE_CHARS_MAX: Final = 300
CAUSE_CHARS_MAX: Final = 200
_READ_CHARS_MAX: Final = 2000
"""Of one line: a program may print a megabyte without a newline."""
_SECRET_CHARS_MIN: Final = 4
"""A shorter value is no secret, and would be found in any text."""

_SECRET_NAMES: Final = patterns_of(USUAL)
_ERROR: Final = re.compile(
    r"\w(?:Error|Exception|Interrupt)\b|\b(?:error|exception|fatal|panic(?:ked)?|fail(?:ed|ure)|"
    r"cannot|can't|could not|unable|denied|refused|not found|no such|killed|segmentation fault|"
    r"abort(?:ed)?|timed out)\b",
    re.IGNORECASE,
)
_ERROR_WORDS: Final = (
    "error",
    "exception",
    "interrupt",
    "fatal",
    "panic",
    "fail",
    "cannot",
    "can't",
    "could not",
    "unable",
    "denied",
    "refused",
    "not found",
    "no such",
    "killed",
    "segmentation fault",
    "abort",
    "timed out",
)
"""One of them is in all that `_ERROR` finds; looking for them is ten times as fast."""
_MILD: Final = re.compile(r"(?:\S+\s+){0,3}\W{0,2}(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING)\b")
_NAMED_SECRET: Final = re.compile(
    r"((?:token|secret|passw(?:or)?d|passphrase|credential|api[_-]?key|access[_-]?key|"
    r"private[_-]?key|cookie)[\w.-]*[\"']?\s*[=:]\s*)(?:\"[^\"]*\"|'[^']*'|(?:bearer\s+)?\S+)"
    r"|\b((?:bearer|basic)\s+)\S{8,}"
    r"|()\b(?:gh[opsu]_|github_pat_|glpat-|xox[abp]-|sk-|AKIA|eyJ)[\w.=-]{12,}",
    re.IGNORECASE,
)
_DIFFERENT: Final = re.compile(
    r"(?P<url>\b[a-z][a-z0-9+.-]*://\S+)"
    r"|(?P<text>(?<!\w)(?:\"[^\"]*\"|'[^']*'|`[^`']*[`']|\u2018[^\u2019]*\u2019|"
    r"\u201c[^\u201d]*\u201d)(?!\w))"
    r"|(?P<path>(?:(?<![\w.~])[a-z]:\\|~?/|(?<![\w.+@~-])[\w.+@~-]+[/\\])[^\s:,;()\[\]\"'<>]+|"
    r"(?<![^\s(])[\w+-][\w.+-]*\.[a-z]\w{0,3}(?=[:,;)]*(?:\s|$)))"
    r"|(?P<time>\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?)"
    r"|(?P<id>\b(?:0x[0-9a-f]+|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|"
    r"(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,}|(?=[a-z_]*\d\w*\d)(?=\d*[a-z_])\w{10,})\b)"
    r"|(?P<n>(?:(?<!\w)[-+])?\d+(?:[.,:]\d+)*)",
    re.IGNORECASE,
)


def error_line(output: bytes, environment: Mapping[str, str]) -> str:
    r"""Return the first line at the end of an output that looks like the error, else its last
    line, short and without what looks like a secret; empty: it says nothing. `environment`: of
    the job; the values of its secret variables are left out, too.

    >>> error_line(b"Traceback (most recent call last):\n  File 'a.py'\nKeyError: 'b'\n", {})
    "KeyError: 'b'"
    """
    text = output[-TAIL_BYTES:].decode("utf-8", "replace").replace("\r", "\n")
    lines = [one for one in text.split("\n") if one.strip()]
    if not lines:
        return ""
    found = [one for one in lines if is_like_error(one)]
    # Indented lines belong to another one: the code in a traceback, the note of a compiler.
    first = next((one for one in found if not one[0].isspace()), None)
    line = " ".join(without_escapes(first or (found or lines[-1:])[0])[:_READ_CHARS_MAX].split())
    for name, value in environment.items():
        if len(value) >= _SECRET_CHARS_MIN and value in line and matches(name, _SECRET_NAMES):
            line = line.replace(value, MASK)
    return without_secrets(line)[:LINE_CHARS_MAX]


def is_like_error(line: str) -> bool:
    """Say whether a line of output looks like an error; of a long one its begin.

    >>> [is_like_error(one) for one in ("ValueError: 3", "INFO no error", "fine")]
    [True, False, False]
    """
    line = line[:_READ_CHARS_MAX]
    return may_have_error(line) and _ERROR.search(line) is not None and _MILD.match(line) is None


def may_have_error(text: str) -> bool:
    """Say whether a text, of however many lines, holds a word that errors have."""
    lower = text.lower()
    return any(word in lower for word in _ERROR_WORDS)


def without_secrets(text: str) -> str:
    """Return a text without passwords in URLs and without values that look like secrets.

    >>> without_secrets("401 for postgres://ada:x@db, token=abc")
    '401 for postgres://ada:<masked>@db, token=<masked>'
    """
    return _NAMED_SECRET.sub(
        lambda match: f"{match[1] or match[2] or ''}{MASK}", without_password(text)
    )


@lru_cache(maxsize=1024)
def cause_text(message: str) -> str:
    """Return the text that the failures of one cause share: without numbers, ids, times, quoted
    texts, paths and secrets, at most 200 characters. What it returns is its own cause.

    >>> cause_text("ValueError: row 17 of /data/x.csv has no 'name'")
    'ValueError: row <n> of <path> has no <text>'
    """
    text = message[:_READ_CHARS_MAX]
    while (shorter := _shorter(text)) != text:
        text = shorter
    return text


@lru_cache(maxsize=1024)  # the last step of a cause is the same for all its failures
def _shorter(text: str) -> str:
    found = _DIFFERENT.sub(lambda match: f"<{match.lastgroup}>", without_secrets(text))
    return " ".join(found.split())[:CAUSE_CHARS_MAX].rstrip()
