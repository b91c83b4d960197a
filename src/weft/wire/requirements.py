"""Requirements of jobs: packages of Python by their names, and nothing that leads elsewhere.

The client reads a file of its user, the worker what was sent, which anybody may have written.
"""

import re
from typing import Final

BYTES_MAX: Final = 1 << 20
"""Of a text with requirements."""
_CHARS_MAX: Final = 1000
_COMMENT: Final = re.compile(r"(?:^|\s)#.*")
_HASH: Final = re.compile(r"sha(?:256|384|512):[0-9a-f]{64,128}")
_NAMED: Final = re.compile(
    r"[A-Za-z0-9][A-Za-z0-9._-]*(?: ?\[[A-Za-z0-9._, -]*\])?(?: ?\(?[<>=!~][\w .,*+!<>=~-]*\)?)?"
    r"(?: ?;[\w .<>=!~'\"()+*,-]+)?",
    re.ASCII,
)


def plain_requirements(text: bytes) -> bytes:
    """Return requirements without comments, one a line. Raise `ValueError` for what is none."""
    if len(text) > BYTES_MAX:
        raise ValueError(f"they have more than {BYTES_MAX} bytes")
    plain, first, parts = [], 1, list[str]()
    for number, line in enumerate([*text.decode("utf-8-sig").splitlines(), ""], 1):
        part = _COMMENT.sub("", line).rstrip()
        parts += part.removesuffix("\\").split()
        if part.endswith("\\"):  # it goes on
            continue
        if parts:
            whole = " ".join(parts)
            _check(whole, f"line {first}, {whole[:60]!r},")
            plain.append(f"{whole}\n")
        first, parts = number + 1, []
    return "".join(plain).encode() or b"\n"


def _check(line: str, what: str) -> None:
    name, *hashes = line.split(" --hash=")
    if name.startswith("-") or " -" in name:
        raise ValueError(f"{what} has an option, and only names of packages travel")
    if "/" in name or "@" in name:
        raise ValueError(f"{what} is an address or a path: workers install from their index alone")
    is_plain = len(name) <= _CHARS_MAX and _NAMED.fullmatch(name)
    if not is_plain or not all(map(_HASH.fullmatch, hashes)):
        raise ValueError(f"{what} is no requirement such as numpy==2.1.0")
