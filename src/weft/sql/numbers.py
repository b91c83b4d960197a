"""Names of states, phases, reasons, permissions and a few constants in SQL, and their numbers.

A file says `j.state = STATE_RUNNING`; PostgreSQL gets `j.state = 4/*RUNNING*/`, a constant that
it compares with the predicates of indexes and shows in EXPLAIN. The numbers never change their
meaning (`weft.core.states`, `weft.core.access.permissions`), so migrations, which
are never edited, write the numbers themselves.
"""

import json
import re
from enum import IntEnum
from typing import Final

from weft.core.access.permissions import Permission
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
_NAME = re.compile(rf"\b(?:({'|'.join(_KINDS)})_([A-Z_]+)|({'|'.join(_CONSTANTS)}))\b")


def with_numbers(source: str) -> str:
    """Return the text with each name replaced by its number and a comment that says the name.

    Raises KeyError for a name that is none.
    """
    return _NAME.sub(_number, source)


def _number(match: re.Match[str]) -> str:
    kind, name, constant = match.groups()
    if constant:
        return f"{_CONSTANTS[constant]}/*{constant}*/"
    return f"{_KINDS[kind][name].value}/*{name}*/"
