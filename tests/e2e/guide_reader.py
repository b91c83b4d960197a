"""Types the commands of a guide as they stand there, in terminals of a plain user, and compares
what is printed, but for figures, dates and codes.
"""

import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Final

from e2e.plain_user import PlainUser

FIGURE: Final = r"\d[\d.,:]*"
ANYTHING: Final = "…"
_FREE_CELL: Final = re.compile(rf"\d|{ANYTHING}|^-$")
_ON_TERMINAL: Final = "import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)"
URL: Final = "http://127.0.0.1:8765"
TOKEN: Final = re.compile(rf"^weft_\w+{ANYTHING}$", re.MULTILINE)


class GuideReader:
    """A user with the guide before them; each block of commands is a terminal of its own."""

    def __init__(self, user: PlainUser, known: Mapping[str, str]) -> None:
        """`known`: what the guide calls otherwise than it is here."""
        self.user = user
        self.known = dict(known)
        self.wrong: list[tuple[str, ...]] = []
        self.n_tables = 0

    def here(self, text: str) -> str:
        """Return a text with the names that things have here."""
        url = json.loads((self.user.weft_home / "client.json").read_text())["url"]
        for name, real in ({URL: url} | self.known).items():
            text = re.sub(rf"(?<![\w-]){re.escape(name)}(?!\w)", real, text)
        return text

    def read(self, block: str, *, on_terminal: Sequence[str] = ()) -> Iterator[tuple[str, str]]:
        """Type the commands of a block; yield each with all that it prints, after a comparison.
        `on_terminal`: those that want one.
        """
        exported = "set -e"
        for command, expected in commands_in(block):
            typed = self.here(command)
            if command.startswith("export "):
                exported += f"; {typed}"
                continue
            words = ["sh", "-c", f"cd {self.user.home}; {exported}; {typed}"]
            if command in on_terminal:
                words = [sys.executable, "-c", _ON_TERMINAL, *words]
            done = self.user.run(*words, env={"WEFT_PORT": "0"})
            said = done.stdout + done.stderr
            self._learn(expected, said)
            is_refusal = expected.startswith("weft: ")
            if (done.returncode != 0) is not is_refusal:
                self.wrong.append((command, said))
            else:
                self._compare(command, expected, said.replace("\r\n", "\n"))
            yield command, said

    def _learn(self, expected: str, said: str) -> None:
        """Keep a token that is not shown again."""
        if token := TOKEN.search(expected):
            self.known[token[0]] = said.partition("\n")[0]

    def _compare(self, command: str, expected: str, said: str) -> None:
        lines = [self.here(one) for one in expected.splitlines() if one != ANYTHING]
        told = [one for line in said.splitlines() for one in {line, line.removeprefix("weft: ")}]
        is_table = bool(lines) and "  " in lines[0].strip()
        self.n_tables += is_table
        for number, line in enumerate(lines):
            if line.startswith("  ") or not is_table:
                found = any(re.fullmatch(_pattern(line), one) for one in told)
            else:
                cells = re.split(r" {2,}", line.strip())
                of_told = told[:1] if number == 0 else told
                found = any(
                    _is_row(cells, re.split(r"\t| {2,}", one.rstrip("\t"))) for one in of_told
                )
            if not found:
                self.wrong.append((command, line, said))


def blocks_of(page: str) -> Iterator[tuple[str, str]]:
    """Yield the kind and text of each block of a page."""
    yield from re.findall(r"^```(\w+)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)


def commands_in(block: str) -> Iterator[tuple[str, str]]:
    """Yield the commands of a block, each with what is printed below it."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE):
        if part:
            command, _, expected = part.partition("\n")
            yield command, expected


def _pattern(line: str) -> str:
    parts = re.split(rf"({FIGURE}|{ANYTHING})", line)
    return "".join(
        re.escape(one) if number % 2 == 0 else ".*" if one == ANYTHING else FIGURE
        for number, one in enumerate(parts)
    )


def _is_row(expected: Sequence[str], told: Sequence[str]) -> bool:
    """Say whether a row is the expected one; its last cells may be empty."""
    return len(expected) >= len(told) and all(
        one == other or _FREE_CELL.search(one)
        for one, other in zip_longest(expected, told, fillvalue="")
    )
