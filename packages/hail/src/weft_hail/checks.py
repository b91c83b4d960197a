"""Checks of JSON documents, with the words of Hail's own: `jobs[0].timeout does not satisfy the
condition x > 0`.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from weft_hail.requests import Refused, bad_request

Json: TypeAlias = Any  # what a JSON document may hold
Check = Callable[[str, Json], None]


def of_type(kind: type) -> Check:
    """Take values of a type; a boolean is not a number."""

    def check(name: str, value: Json) -> None:
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise bad_request(f"{name} is not {kind}")

    return check


def integer(name: str, value: Json) -> None:
    """Take whole numbers that the database can hold."""
    of_type(int)(name, value)
    if abs(value) > INTEGER_MAX:
        raise bad_request(f"{name} is too large: {value}")


INTEGER_MAX: Final = 2_000_000_000
TEXT = of_type(str)
FLAG = of_type(bool)


def number(
    condition: str,
    holds: Callable[[float], bool],
    *,
    whole: bool = False,
    most: float = INTEGER_MAX,
) -> Check:
    """Take numbers for which a condition holds, and that weft can keep."""
    kinds = int if whole else (int, float)

    def check(name: str, value: Json) -> None:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise bad_request(f"{name} is not numeric")
        if not isinstance(value, kinds) or not holds(value):
            raise bad_request(f"{name} does not satisfy the condition {condition}")
        if value > most:
            raise bad_request(f"{name} is too large: at most {most:g}")

    return check


def pattern(text: str) -> Check:
    """Take texts that match as a whole."""
    compiled = re.compile(text, re.ASCII)

    def check(name: str, value: Json) -> None:
        TEXT(name, value)
        if not compiled.fullmatch(value):
            raise bad_request(f"{name} must match regex: {text}")

    return check


def one_of(*words: str) -> Check:
    """Take one of these texts."""

    def check(name: str, value: Json) -> None:
        if not isinstance(value, str) or value not in words:
            raise bad_request(f"{name} must be one of: {set(words)}")

    return check


def any_of(*checks: Check) -> Check:
    """Take what one of these takes."""

    def check(name: str, value: Json) -> None:
        found: list[str] = []
        for one in checks:
            try:
                one(name, value)
            except Refused as error:
                found.append(error.text)
            else:
                return
        raise bad_request(f"{name} does not satisfy any conditions: {' or '.join(found)}")

    return check


def nullable(inner: Check) -> Check:
    """Take null, too."""

    def check(name: str, value: Json) -> None:
        if value is not None:
            inner(name, value)

    return check


def list_of(inner: Check, *, is_filled: bool = False) -> Check:
    """Take lists."""

    def check(name: str, value: Json) -> None:
        if not isinstance(value, list):
            raise bad_request(f"{name} is not {list}")
        if is_filled and not value:
            raise bad_request(f"{name} is an empty list")
        for index, one in enumerate(value):
            inner(f"{name}[{index}]", one)

    return check


def dict_of(inner: Check) -> Check:
    """Take objects with any keys."""

    def check(name: str, value: Json) -> None:
        if not isinstance(value, dict):
            raise bad_request(f"{name} is not {dict}")
        for key, one in value.items():
            inner(f"{name}[{key}]", one)

    return check


def keyed(required: Mapping[str, Check], optional: Mapping[str, Check] | None = None) -> Check:
    """Take objects with these keys and no others."""
    known = {**required, **(optional or {})}

    def check(name: str, value: Json) -> None:
        if not isinstance(value, dict):
            raise bad_request(f"{name} is not {dict}")
        if unknown := value.keys() - known.keys():
            raise bad_request(f"unknown keys in {name}: {unknown}")
        for key in required:
            if key not in value:
                raise bad_request(f"{name} missing required key {key}.")
        for key, one in value.items():
            known[key](f"{name}.{key}", one)

    return check


def by_type(kinds: Mapping[str, tuple[Mapping[str, Check], Mapping[str, Check]]]) -> Check:
    """Take objects whose key `type` says which other keys they have: required and optional."""
    checks = {
        kind: keyed({"type": TEXT, **required}, optional)
        for kind, (required, optional) in kinds.items()
    }

    def check(name: str, value: Json) -> None:
        if not isinstance(value, dict):
            raise bad_request(f"{name} is not {dict}")
        if "type" not in value:
            raise bad_request(f"{name} missing required key type.")
        one_of(*checks)(f"{name}.type", value["type"])
        checks[value["type"]](name, value)

    return check
