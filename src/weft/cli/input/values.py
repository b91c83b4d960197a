"""Values of options."""

from collections.abc import Callable
from datetime import datetime
from typing import TypeVar

from weft.core.errors import Invalid

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
