"""Parameters of production lines, `[parameters]`: values with a type, which expressions read as
`param.NAME`.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import Any, Final, Literal, get_args

from weft.core.lines.lifecycle import Say

ParameterType = Literal["text", "integer", "number", "boolean", "date", "list"]
TYPES: Final[tuple[str, ...]] = get_args(ParameterType)
PARAMETERS_MAX: Final = 200
"""Of one setup."""
PARAMETER: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
"""A name as expressions write it."""
VALUE_CHARS_MAX: Final = 4000
_INTEGER_MAX: Final = 2**63
_KINDS: Final[Mapping[type, ParameterType]] = {
    bool: "boolean", int: "integer", float: "number", str: "text", list: "list"
}  # fmt: skip


@dataclass(frozen=True)
class Parameter:
    """A value of a setup, as JSON."""

    type: ParameterType
    value: Any


def parse_parameters(given: object, say: Say) -> dict[str, Parameter]:
    """Check the parameters of a setup."""
    if not isinstance(given, Mapping) or len(given) > PARAMETERS_MAX:
        say((), f"it should be a table of at most {PARAMETERS_MAX} values")
        return {}
    found = {}
    for name, value in given.items():
        if not PARAMETER.fullmatch(name):
            say((name,), "a name has letters, digits and _, such as search_first")
            continue
        parameter = _parameter_of(value)
        if what := wrong_value(parameter.value):
            say((name,), what)
        else:
            found[name] = parameter
    return found


def _parameter_of(value: object) -> Parameter:
    if isinstance(value, datetime):
        whole = value if value.tzinfo else value.replace(tzinfo=UTC)
        return Parameter("date", whole.isoformat().replace("+00:00", "Z"))
    if isinstance(value, date):
        return Parameter("date", value.isoformat())
    return Parameter(_KINDS.get(type(value), "text"), value)


def wrong_value(value: object) -> str:
    """Return why this cannot be the value of a parameter; empty: it can."""
    many = value if isinstance(value, list) else [value]
    for one in many:
        if not isinstance(one, str | bool | int | float):
            return "a value is a text, a number, true or false, a date, or a list of these"
        if isinstance(one, int) and not -_INTEGER_MAX <= one < _INTEGER_MAX:
            return "a number has at most 64 bits"
        if isinstance(one, str) and ("\0" in one or not one.isprintable()):
            return "a text has printable characters"
    try:
        size = len(json.dumps(value, allow_nan=False))
    except ValueError:
        return "a number is finite"
    return "" if size <= VALUE_CHARS_MAX else f"it has more than {VALUE_CHARS_MAX} characters"


def bound(kind: str, value: Any) -> Any:  # noqa: ANN401 (JSON)
    """Return a value as expressions read it."""
    if kind == "date":
        found = datetime.fromisoformat(value)
        return found if found.tzinfo else datetime.combine(found.date(), time(), UTC)
    return float(value) if kind == "number" else value
