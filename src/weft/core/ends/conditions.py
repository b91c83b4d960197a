"""What a job asks to wait for: the form of `$WEFT_BLOCK_FILE`, and which conditions there are."""

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal, get_args

from msgspec import Meta

from weft.core.bounded import bounded

Kind = Literal[
    "executor_unavailable",
    "application_unavailable",
    "storage_unavailable",
    "quota",
    "connection_failed",
    "connection_timed_out",
    "authentication_failed",
    "rate_limited",
    "licence_missing",
    "custom",
]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
ALWAYS: Final = "always"
"""The tester that always passes: the job waits for its date alone, and no condition is made."""
BLOCK_FILE_VARIABLE: Final = "WEFT_BLOCK_FILE"
BLOCKS_EXIT_CODE: Final = 75
"""`EX_TEMPFAIL`: an external error."""
FILE_BYTES_MAX: Final = 16 << 10
PARAMETERS_MAX: Final = 20
NAME_CHARS_MAX: Final = 64
TEXT_CHARS_MAX: Final = 1000
MESSAGE_CHARS_MAX: Final = 300
_FIELDS: Final = ("condition", "tester", "parameters")
_NAME_FORM: Final = rf"\A[A-Za-z_][A-Za-z0-9_]{{0,{NAME_CHARS_MAX - 1}}}\Z"
_NAME: Final = re.compile(_NAME_FORM)


class WrongAsk(ValueError):
    """What a job asks for cannot be understood; the text says why, for its owner."""


@dataclass(frozen=True)
class Ask:
    """A condition and how to test whether it is over."""

    condition: Kind
    tester: Annotated[str, Meta(pattern=_NAME_FORM)]
    parameters: Annotated[
        dict[
            Annotated[str, Meta(pattern=_NAME_FORM)],
            Annotated[str, Meta(max_length=TEXT_CHARS_MAX, pattern=r"\A[^\0]*\Z")],
        ],
        Meta(max_length=PARAMETERS_MAX),
    ] = field(default_factory=dict)


class Blocked(Exception):
    """What runs or starts a job cannot go on now, and this is no fault of the job.

    Raised by a function that weft calls, by an executor that is given a spec and by an engine
    in `submit`; the job waits, and is run again when the test passes. `condition`: what is
    missing, one of `KINDS`. `tester`: how to find out that it is over; `always`: by the clock
    alone. Raises `ValueError` itself if these are wrong.
    """

    def __init__(
        self,
        condition: str = "custom",
        tester: str = ALWAYS,
        parameters: Mapping[str, str | int] = MappingProxyType({}),
        *,
        message: str = "",
    ) -> None:
        self.ask = checked_ask(condition, tester, dict(parameters))
        super().__init__(message or f"waits for {condition}")

    def __reduce__(self) -> tuple[Any, ...]:
        """Let it be pickled."""
        ask = self.ask
        make = partial(Blocked, message=str(self))
        return make, (ask.condition, ask.tester, ask.parameters)


@dataclass(frozen=True)
class Tested:
    """What a test found."""

    passed: bool
    message: str
    """In a few words, for the owners of the jobs."""


def read_ask(data: bytes) -> tuple[Ask, str]:
    """Return what a block file asks for, and what of it is ignored. Raise `WrongAsk`."""
    if len(data) > FILE_BYTES_MAX:
        raise WrongAsk(f"it has more than {FILE_BYTES_MAX >> 10} KiB")
    try:
        found = bounded(lambda: json.loads(data.decode(), object_pairs_hook=_once))
    except UnicodeDecodeError as error:
        raise WrongAsk("it is not text in UTF-8") from error
    except WrongAsk:
        raise
    except ValueError as error:
        raise WrongAsk("it is not JSON") from error
    if not isinstance(found, dict):
        raise WrongAsk("it is not a JSON object")
    unknown = next((name for name in found if name not in _FIELDS), None)
    told = "" if unknown is None else f"{unknown[:40]!r} is not one of {', '.join(_FIELDS)}"
    condition, parameters = found.get("condition", "custom"), found.get("parameters", {})
    return checked_ask(condition, found.get("tester"), parameters), told


def checked_ask(condition: object, tester: object, parameters: object) -> Ask:
    """Return what is asked for. Raise `WrongAsk`."""
    if condition not in KINDS:
        raise WrongAsk(f"its condition is not one of {', '.join(KINDS)}")
    if not _is_name(tester):
        raise WrongAsk("its tester is not the name of one")
    return Ask(condition, str(tester), _parameters(parameters))


def write_ask(ask: Ask) -> bytes:
    """Return the content of a block file."""
    fields = {"condition": ask.condition, "tester": ask.tester, "parameters": ask.parameters}
    return (json.dumps(fields) + "\n").encode()


def _once(pairs: Sequence[tuple[str, object]]) -> dict[str, object]:
    found: dict[str, object] = {}
    for name, value in pairs:
        if name in found:
            raise WrongAsk(f"it says {name[:40]!r} twice")
        found[name] = value
    return found


def _is_name(text: object) -> bool:
    return isinstance(text, str) and _NAME.fullmatch(text) is not None


def _parameters(given: object) -> dict[str, str]:
    if not isinstance(given, dict) or len(given) > PARAMETERS_MAX:
        raise WrongAsk(f"its parameters are not an object with at most {PARAMETERS_MAX} fields")
    found = {}
    for name, value in given.items():
        is_plain = isinstance(value, str | int) and not isinstance(value, bool)
        if not _is_name(name) or not is_plain:
            raise WrongAsk("a parameter is a name with a text or a whole number")
        text = str(value)
        if len(text) > TEXT_CHARS_MAX or not text.isprintable():
            raise WrongAsk(f"the parameter {name} is too long or not printable")
        found[name] = text
    return found


def parse_tester_commands(text: str) -> Mapping[str, str]:
    """Read names with programs such as `licences=/opt/check-licences`. Raise `ValueError`."""
    found: dict[str, str] = {}
    for part in filter(None, map(str.strip, text.split(","))):
        name, _, program = part.partition("=")
        if not _is_name(name) or not os.path.isabs(program):  # noqa: PTH117 (as above)
            raise ValueError(f"{part!r} is not a name with the absolute path of a program")
        if name in found:
            raise ValueError(f"{name} is there twice")
        found[name] = program
    return found
