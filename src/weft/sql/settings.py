"""Settings in SQL by name.

A file says `SETTING_LOSSES_MAX` for the value of the setting `losses_max` that the leading driver
follows, or its default while no driver has handed one over. PostgreSQL gets a sub-select, which it
runs at most once a statement, and only where the value is needed. Such a setting is declared with
`in_sql=True`.
"""

import re

from weft.settings import Declared, sql_settings

_NAME = re.compile(r"\bSETTING_([A-Z_]+)\b")
_INT_MAX = 2**31 - 1


def with_settings(source: str) -> str:
    """Return the text with each name replaced by how to read the value.

    Raises KeyError for a name that is none.
    """
    return _NAME.sub(lambda match: _reading(sql_settings()[match[1].lower()]), source)


def _reading(one: Declared) -> str:
    stored = f"(d.settings ->> '{one.name}')::{_type(one)}"
    return f"(SELECT coalesce({stored}, {one.default}) FROM weft.driver_state d)"  # noqa: S608 (names of our own)


def _type(one: Declared) -> str:
    if isinstance(one.default, bool):
        return "boolean"
    if isinstance(one.default, float):
        return "float8"
    return "int" if one.maximum is not None and one.maximum <= _INT_MAX else "bigint"
