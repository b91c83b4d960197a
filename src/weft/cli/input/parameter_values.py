"""Values of parameters as a person types them."""

from typing import Any

from weft.core.bounded import Unreadable, read_json


def typed_value(text: str, kind: str | None) -> Any:  # noqa: ANN401 (JSON)
    """Return what a person has typed: what reads as a number, true, false or a list in JSON is
    one, unless the parameter is a text or a date.
    """
    if kind in {"text", "date"}:
        return text
    try:
        value = read_json(text)
    except Unreadable:
        return text
    return value if isinstance(value, bool | int | float | list) else text
