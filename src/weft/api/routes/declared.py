"""The calls that are declared on their use cases, those of each file of `use_cases/`. Extensions
name theirs in their `ApiPart`.
"""

from collections.abc import Sequence
from typing import Final

from weft.api import use_cases
from weft.api.calls.call import Call, calls_of
from weft.api.http.declared import route_of
from weft.core.packages import modules_of
from weft.ports.extension import parts

CALLS: Final = calls_of(*modules_of(use_cases))


def all_calls() -> Sequence[Call]:
    """Return the declared calls, those of extensions included."""
    return [*CALLS, *(one for part in parts("api") for one in part.calls)]


ROUTES: Final = tuple(map(route_of, all_calls()))
"""The routes of declared calls, those of extensions included."""
