"""The calls that are declared on their use cases, by subject; extensions name theirs in their
`ApiPart`.
"""

from collections.abc import Sequence
from types import ModuleType
from typing import Final

from weft.api.calls.call import Call, calls_of
from weft.api.http.declared import route_of
from weft.api.use_cases import (
    conditions,
    file_stores,
    licences,
    pools,
    products,
    queues,
    reroute,
    saved_queries,
    secrets,
    tokens,
    workers,
)
from weft.ports.extension import parts

SUBJECTS: Final[Sequence[ModuleType]] = (
    licences, file_stores, saved_queries, secrets, tokens, conditions, pools, products, queues,
    reroute, workers,
)  # fmt: skip
CALLS: Final = calls_of(*SUBJECTS)


def all_calls() -> Sequence[Call]:
    """Return the declared calls, those of extensions included."""
    return [*CALLS, *(one for part in parts("api") for one in part.calls)]


ROUTES: Final = tuple(map(route_of, all_calls()))
"""The routes of declared calls, those of extensions included."""
