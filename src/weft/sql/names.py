"""Names of states, phases, reasons, permissions, … in SQL, and their numbers.

A file says `j.state = STATE_RUNNING`; PostgreSQL gets `j.state = 4/*RUNNING*/`, a constant that
it compares with the predicates of indexes and shows in EXPLAIN. The numbers never change their
meaning (`weft.core.states`, `weft.core.access.rights`), so migrations, which
are never edited, write the numbers themselves.

A file says `SETTING_LOSSES_MAX` for the value of the setting `losses_max` that the leading driver
follows, or its default while no driver has handed one over. PostgreSQL gets a sub-select, which it
runs at most once a statement, and only where the value is needed. Such a setting is declared with
`in_sql=True`.

A head says `PLAN_BY_KEY PLAN_ONCE`; PostgreSQL gets the settings of the planner that they stand
for. A function that needs a setting beside them, or only one, names it.
"""

import json
import re
from enum import IntEnum
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Final

from weft.core.access.rights import Permission
from weft.core.pools.machine import EXECUTORS
from weft.core.scheduling.time_limits import MARGIN_S
from weft.core.states import SHARE_NEED, JobState, Need, Phase, Reason
from weft.settings import Declared, sql_settings

_KINDS: Final[dict[str, type[IntEnum]]] = {
    "STATE": JobState,
    "PHASE": Phase,
    "REASON": Reason,
    "NEED": Need,
    "PERMISSION": Permission,
}
_CONSTANTS: Final = {
    "WALLTIME_MARGIN_S": MARGIN_S,
    "EXECUTORS_OF_MACHINES": f"'{json.dumps(EXECUTORS)}'",
    "NOTE_OF_PROGRESS": 0,  # the phase of what a running job says of itself (`attempt_note`)
    "SHARE_NEED": SHARE_NEED,
    "ENDED_ELSEWHERE": -1,  # the state of a job of which there is a record only (`foreign_state`)
}
_NAMES = {kind: re.compile(rf"{kind}_(?<!\w{kind}_)([A-Z_]+)\b") for kind in _KINDS}
_NAME = {name: re.compile(rf"{name}(?<!\w{name})\b") for name in _CONSTANTS}


def with_numbers(source: str) -> str:
    """Return the text with each name replaced by its number and a comment that says the name.

    Raises KeyError for a name that is none.
    """
    for kind, name in _NAMES.items():
        source = name.sub(partial(_number, _KINDS[kind]), source)
    for constant, value in _CONSTANTS.items():
        source = _NAME[constant].sub(f"{value}/*{constant}*/", source)
    return source


def _number(kind: type[IntEnum], match: re.Match[str]) -> str:
    return f"{kind[match[1]].value}/*{match[1]}*/"


_SETTING = re.compile(r"SETTING_(?<!\wSETTING_)([A-Z_]+)\b")
_INT_MAX = 2**31 - 1
_TYPES = MappingProxyType({bool: "boolean", float: "float8", str: "text", Path: "text"})


def with_settings(source: str) -> str:
    """Return the text with each name replaced by how to read the value.

    Raises KeyError for a name that is none.
    """
    return _SETTING.sub(lambda match: reading_of(sql_settings()[match[1].lower()]), source)


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


_BY_INDEX: Final = ("enable_seqscan = off", "enable_hashjoin = off", "enable_mergejoin = off")

PROFILES: Final = MappingProxyType(
    {
        # Tables grow, statistics of small ones mislead: rows are found by indexes, one by one.
        "PLAN_BY_INDEX": _BY_INDEX,
        # The same, of few rows each: no index is read as a whole first.
        "PLAN_BY_KEY": (*_BY_INDEX, "enable_bitmapscan = off"),
        # Rows come in the order of an index, so that reading ends with the page.
        "PLAN_IN_ORDER": ("enable_seqscan = off", "enable_bitmapscan = off", "enable_sort = off"),
        # The plan is made once in a connection: planning joins takes longer than running them.
        "PLAN_ONCE": ("plan_cache_mode = force_generic_plan",),
    }
)
_PLAN = re.compile(r"PLAN_(?<!\wPLAN_)[A-Z_]+\b")


def with_profiles(source: str) -> str:
    """Return the text with each name replaced by the settings that it stands for.

    Raises KeyError for a name that is none.
    """
    return _PLAN.sub(lambda match: " ".join(f"SET {one}" for one in PROFILES[match[0]]), source)
