"""Setups: the TOML file of a production line. So far it holds lifecycles."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from itertools import takewhile
from typing import Final

from weft.core.errors import FieldError, InvalidSetup
from weft.core.lines.lifecycle import Lifecycle, Say, parse_lifecycle

LIFECYCLES_MAX: Final = 50
NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,62}")
_LATER: Final = frozenset({"source", "job", "sink", "parameters", "configure", "queue", "pool"})
_HEADER: Final = re.compile(r"\s*\[+\s*([^\]]+?)\s*\]+")
_KEY: Final = re.compile(r"\s*([\w.\"'-]+)\s*=")


@dataclass(frozen=True)
class Setup:
    """A checked setup: its lifecycles by name."""

    lifecycles: Mapping[str, Lifecycle]


def parse_setup(text: str) -> Setup:
    """Check a setup. Raise `InvalidSetup`, which names line and field of all that is wrong."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _invalid([FieldError("", str(error))]) from error
    problems: list[FieldError] = []

    def say(where: tuple[str, ...], what: str) -> None:
        line = line_of(text, where)
        pointer = "".join("/" + one.replace("~", "~0").replace("/", "~1") for one in where)
        problems.append(FieldError(pointer, f"line {line}: {what}" if line else what))

    for section in document.keys() - {"lifecycle"}:
        known = "weft does not have it yet" if section in _LATER else "a setup has no such part"
        say((section,), f"{known}; a setup has lifecycles, [lifecycle.NAME]")
    lifecycles = _lifecycles(document.get("lifecycle"), say)
    if problems:
        raise _invalid(sorted(problems, key=lambda one: one.pointer))
    return Setup(lifecycles)


def _lifecycles(given: object, say: Say) -> Mapping[str, Lifecycle]:
    if not isinstance(given, Mapping) or not 1 <= len(given) <= LIFECYCLES_MAX:
        say(("lifecycle",), f"there should be 1 to {LIFECYCLES_MAX} tables, [lifecycle.NAME]")
        return {}
    found = {}
    for name, document in given.items():
        if not NAME.fullmatch(name):
            say(("lifecycle", name), "a lifecycle has a name such as hrsi")
            continue
        one = parse_lifecycle(document, partial(_say_below, say, ("lifecycle", name)))
        if one is not None:
            found[name] = one
    return found


def _say_below(say: Say, table: tuple[str, ...], where: tuple[str, ...], what: str) -> None:
    say((*table, *where), what)


def line_of(text: str, where: tuple[str, ...]) -> int:
    """Return the line of a field, or of the table or section nearest to it; 0: none is."""
    best, best_line, table = 0, 0, ()  # type: tuple[int, int, tuple[str, ...]]
    for number, line in enumerate(text.splitlines(), 1):
        if header := _HEADER.match(line):
            table = path = _path(header[1])
        elif key := _KEY.match(line):
            path = (*table, *_path(key[1]))
        else:
            continue
        alike = _alike(path, where)
        if alike > best and (alike == len(path) or alike == len(where)):
            best, best_line = alike, number
    return best_line


def _alike(one: tuple[str, ...], other: tuple[str, ...]) -> int:
    pairs = zip(one, other, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _path(written: str) -> tuple[str, ...]:
    return tuple(part.strip().strip("\"'") for part in written.split("."))


def _invalid(problems: list[FieldError]) -> InvalidSetup:
    return InvalidSetup(
        "the setup cannot be used",
        detail="; ".join(f"{p.pointer or '/'}: {p.message}" for p in problems[:20]) + ".",
        errors=problems,
    )
