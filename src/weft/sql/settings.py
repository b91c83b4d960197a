"""Settings in SQL by name.

A file says `SETTING_LOSSES_MAX` for the value of the setting `losses_max` that the leading driver
follows, or its default while no driver has handed one over. PostgreSQL gets a sub-select, which it
runs at most once a statement, and only where the value is needed. Such a setting is declared with
`in_sql=True`.
"""

import re
from pathlib import Path
from types import MappingProxyType

from weft.settings import Declared, sql_settings

_NAME = re.compile(r"SETTING_(?<!\wSETTING_)([A-Z_]+)\b")
_INT_MAX = 2**31 - 1
_TYPES = MappingProxyType({bool: "boolean", float: "float8", str: "text", Path: "text"})


def with_settings(source: str) -> str:
    """Return the text with each name replaced by how to read the value.

    Raises KeyError for a name that is none.
    """
    return _NAME.sub(lambda match: reading_of(sql_settings()[match[1].lower()]), source)


def reading_of(one: Declared) -> str:
    """Return the sub-select that gives the value of a setting."""
    stored = f"(d.settings ->> '{one.name}')::{_type(one)}"
    return f"(SELECT coalesce({stored}, {_literal(one.default)}) FROM weft.driver_state d)"  # noqa: S608 (our own names, quoted values)


def _type(one: Declared) -> str:
    is_small = one.maximum is not None and one.maximum <= _INT_MAX
    return _TYPES.get(one.kind, "int" if is_small else "bigint")


def _literal(value: str | Path | float | None) -> str:
    """Return a value as SQL, for use in the body of a function, which a `$$` would end."""
    if value is None:
        return "NULL"
    if isinstance(value, str | Path):
        text = str(value).replace("\\", "\\\\").replace("'", "''").replace("$", "\\x24")
        return f"E'{text}'"
    return str(value)
