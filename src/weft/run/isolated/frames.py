"""What a process that is asked says: an answer is a message behind its length, and can be nothing
but data. Questions are pickles of a number and what is asked, as whoever asks is trusted.
"""

import struct
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import msgspec

from weft.core.errors import FieldError

LENGTH: Final = struct.Struct(">I")
Refused = tuple[str, str, str, str, Sequence[FieldError]]
"""An error in what was asked: its code, message, detail, hint and fields."""


class Asked(NamedTuple):
    """Questions, answered one after another, and the seconds of CPU for one of them and for all;
    0: without end.
    """

    questions: Sequence[Any]
    one_s: float = 0.0
    all_s: float = 0.0


class Failure(msgspec.Struct):
    """Why there is no answer."""

    text: str
    is_loaded: bool = True
    """What should answer was there."""
    is_memory: bool = False
    refused: Refused | None = None


class Said(NamedTuple):
    """An answer to one question; without a value and a failure: all seconds are spent."""

    number: int
    seconds: float = 0.0
    """Of CPU."""
    value: bytes | None = None
    failure: Failure | None = None
