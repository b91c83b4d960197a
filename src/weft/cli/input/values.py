"""Values of options, and attributes and texts as words of a command line. The limits of numbers
that cyclopts has take 3 ms to import.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TypeVar

from weft.core.errors import Invalid
from weft.core.text.texts import is_utf8

Value = TypeVar("Value")


class WrongOption(Invalid, code="CLI.WRONG_OPTION"):
    """An option with an impossible value."""


def read_option(option: str, text: str, parse: Callable[[str], Value]) -> Value:
    """Return the value of an option. Raise `WrongOption` with its name."""
    try:
        return parse(text)
    except ValueError as error:
        raise WrongOption(
            f"the value of {option} is wrong",
            detail=f"{str(error)[:1].upper()}{str(error)[1:]}.",
            hint="`--help` shows the form of each option.",
        ) from error


def need_one(noun: str, **given: object) -> None:
    """Raise `WrongOption` unless exactly one of these options says whose limit or quota is set."""
    if sum(one not in {None, False} for one in given.values()) != 1:
        options = [f"--{name.replace('_', '-')}" for name in given]
        raise WrongOption(
            f"it is not clear whose {noun} is set",
            detail=f"Exactly one of {', '.join(options[:-1])} and {options[-1]} says it.",
            hint=f"`weft {noun} set --help` shows examples.",
        )


def in_our_zone(at: datetime, refused: str) -> datetime:
    """Return a time in the zone of this host. Raise `Invalid` with the text `refused` for one that
    this host cannot tell.
    """
    try:
        return at.astimezone()
    except (OverflowError, ValueError, OSError) as error:
        raise Invalid(
            refused, detail=f"{error}.", hint="Write it as 2027-01-01T00:00:00."
        ) from error


class NotAnAttribute(Invalid, code="CLI.NOT_AN_ATTRIBUTE"):
    """An argument that is not `key=value`."""

    advice = "Write key=value to set an attribute, and key= to remove it."


def parse_attribute(word: str) -> tuple[str, str | None]:
    """Return key and value of `key=value`, of `key=` None."""
    key, equals, value = word.partition("=")
    if not key or not equals:
        raise NotAnAttribute(
            f"{word[:80]!r} is not an attribute", detail="It has no key, or no '=' after it."
        )
    return key, value or None


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


def bounded(least: float, most: float | None = None) -> Callable[[object, float | None], None]:
    """Return a validator of cyclopts that refuses numbers outside of these limits, and NaN."""

    def check(_kind: object, value: float | None) -> None:
        if value is None:
            return
        if not value >= least:
            raise ValueError(f"must be at least {least}")
        if most is not None and not value <= most:
            raise ValueError(f"must be at most {most}")

    return check
