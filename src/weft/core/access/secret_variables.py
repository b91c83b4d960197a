"""Values of environment variables that nobody is shown, told by the names of the variables."""

import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Final

MASK: Final = "<masked>"
USUAL: Final = (
    "*TOKEN*,*SECRET*,*PASSWORD*,*PASSWD*,*PASSPHRASE*,*CREDENTIAL*,"
    "*_KEY,*_KEY_ID,*APIKEY*,*_PASS,*_PWD,*_AUTH,*COOKIE*"
)
"""Names of variables that are secret unless a setting says otherwise."""
_PASSWORD_IN_URL = re.compile(r"(://[^/?#\s:@]*:)[^/?#\s@]+(?=@)")


def patterns_of(text: str) -> tuple[str, ...]:
    """Return the patterns of a setting or an option: names with `*` and `?`, between commas."""
    return tuple(part for part in (one.strip() for one in text.split(",")) if part)


def matches(name: str, patterns: tuple[str, ...]) -> bool:
    """Say whether a variable has one of these names, in any case."""
    upper = name.upper()
    return any(fnmatchcase(upper, pattern.upper()) for pattern in patterns)


def masked(environment: Mapping[str, str], patterns: tuple[str, ...]) -> dict[str, str]:
    """Return an environment as it may be shown. A URL of any variable loses its password.

    >>> masked({"A_TOKEN": "x", "B": "http://me:x@host"}, ("*TOKEN*",))
    {'A_TOKEN': '<masked>', 'B': 'http://me:<masked>@host'}
    """
    return {
        name: MASK if value and matches(name, patterns) else without_password(value)
        for name, value in environment.items()
    }


def hides(document: object, patterns: tuple[str, ...]) -> bool:
    """Say whether a document, at any depth, holds what `masked` would not show: in a mapping of
    names, or in entries with a `name` and a `value`.

    >>> hides({"env": [{"name": "A_TOKEN", "value": "x"}]}, ("*TOKEN*",)), hides({"a": "b"}, ())
    (True, False)
    """
    if isinstance(document, str):
        return _PASSWORD_IN_URL.search(document) is not None
    if isinstance(document, Mapping):
        named = {**document, document.get("name"): document.get("value")}
        return any(
            (
                isinstance(name, str)
                and isinstance(value, str)
                and value
                and matches(name, patterns)
            )
            or hides(value, patterns)
            for name, value in named.items()
        )
    return isinstance(document, list | tuple) and any(hides(one, patterns) for one in document)


def without_password(text: str) -> str:
    """Return a text with the passwords of its URLs masked."""
    return _PASSWORD_IN_URL.sub(rf"\g<1>{MASK}", text)


def is_masked(value: str) -> bool:
    """Say whether this is what `masked` shows instead of a value."""
    return value == MASK or f":{MASK}@" in value
