"""The calls that are declared on their use cases, by subject; extensions name theirs in their
`ApiPart`.
"""

from collections.abc import Sequence
from types import ModuleType
from typing import Final

from weft.api.calls.call import calls_of
from weft.api.http.declared import route_of
from weft.api.use_cases import (
    conditions,
    file_stores,
    licences,
    pools,
    products,
    saved_queries,
    secrets,
    tokens,
)

SUBJECTS: Final[Sequence[ModuleType]] = (
    licences, file_stores, saved_queries, secrets, tokens, conditions, pools, products,
)  # fmt: skip
CALLS: Final = tuple(call for subject in SUBJECTS for call in calls_of(subject))
ROUTES: Final = tuple(route_of(call) for call in CALLS)
"""The routes of declared calls."""
