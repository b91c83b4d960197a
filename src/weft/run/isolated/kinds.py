"""What is asked of processes, and their bounds: a kind is a function that answers.

An answer is a message behind its length, and can be nothing but data. Questions are pickles of a
number and what is asked, as whoever asks is trusted.
"""

import struct
from collections.abc import Callable, Sequence
from pkgutil import resolve_name
from typing import Any, Final, NamedTuple

import msgspec

from weft.core.errors import FieldError
from weft.ports.lookup import ANSWER_BYTES_MAX
from weft.ports.source import READING_BYTES_MAX


class Kind(NamedTuple):
    """Questions of one kind."""

    name: str
    """Of the module whose `begin` takes what the site says, and returns what answers a question:
    it is loaded there alone.
    """
    answer_bytes_max: int
    memory_bytes: int
    """Of addresses, its threads' stacks with it; what it starts has no more."""
    is_serial: bool = True
    """A process has one question after another; else any number, each in a thread."""
    is_json: bool = True
    """Answers have numbers of any size; else there may be NaN among them."""
    start_s: float = 30.0
    """What Python and the modules may take to load."""
    idle_s: float = 60.0
    """A process without questions ends after this."""

    def load(self) -> Callable[[Any], Callable[[Any], Any]]:
        """Return the function `begin`."""
        found: Callable[[Any], Callable[[Any], Any]] = resolve_name(
            f"{__package__}.answering.{self.name}:begin"
        )
        return found


KINDS: Final = {
    kind.name: kind
    for kind in (
        Kind("tester", 1 << 16, 2 << 30, is_serial=False),
        Kind("lookup", 2 * ANSWER_BYTES_MAX, 2 << 30, is_serial=False),
        Kind("message", 16 << 20, 1 << 30),
        Kind("source", 2 * READING_BYTES_MAX, 2 << 30),
        Kind("evaluator", 16 << 20, 1 << 30, is_json=False, start_s=60.0, idle_s=300.0),
    )
}


LENGTH: Final = struct.Struct(">I")
Refused = tuple[str, str, str, str, Sequence[FieldError]]
"""An error in what was asked: its code, message, detail, hint and fields."""


class Asked(NamedTuple):
    """Questions, answered in turn, and seconds of CPU for one and for all; 0: unlimited."""

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
