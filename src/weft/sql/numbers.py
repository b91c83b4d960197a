"""Names of states, phases, reasons, permissions and a few constants in SQL, and their numbers.

A file says `j.state = STATE_RUNNING`; PostgreSQL gets `j.state = 4/*RUNNING*/`, a constant that
it compares with the predicates of indexes and shows in EXPLAIN. The numbers never change their
meaning (`weft.core.states`, `weft.core.access.rights`), so migrations, which
are never edited, write the numbers themselves.
"""

import json
import re
from enum import IntEnum
from functools import partial
from typing import Final

from weft.core.access.rights import Permission
from weft.core.pools.machine import EXECUTORS
from weft.core.scheduling.time_limits import MARGIN_S
from weft.core.states import JobState, Phase, Reason

_KINDS: Final[dict[str, type[IntEnum]]] = {
    "STATE": JobState,
    "PHASE": Phase,
    "REASON": Reason,
    "PERMISSION": Permission,
}
_CONSTANTS: Final = {
    "WALLTIME_MARGIN_S": MARGIN_S,
    "EXECUTORS_OF_MACHINES": f"'{json.dumps(EXECUTORS)}'",
    "NOTE_OF_PROGRESS": 0,  # the phase of what a running job says of itself (`attempt_note`)
    "ENDED_ELSEWHERE": 0,  # the state of a job of which there is a record only (`foreign_end`)
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
