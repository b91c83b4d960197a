"""Values of options."""

from collections.abc import Callable
from typing import TypeVar

from weft.core.errors import Invalid

Value = TypeVar("Value")


class WrongOption(Invalid):
    """An option with an impossible value."""

    code = "CLI.WRONG_OPTION"


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
