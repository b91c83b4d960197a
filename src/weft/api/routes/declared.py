"""The calls that are declared on their use cases, by subject; extensions name theirs in their
`ApiPart`.
"""

from collections.abc import Sequence
from types import ModuleType
from typing import Final

from weft.api.calls.call import Call, calls_of
from weft.api.http.declared import route_of
from weft.api.use_cases import (
    apps,
    attempt_usage,
    conditions,
    file_stores,
    licences,
    limits,
    operations,
    parameters,
    permissions,
    pools,
    products,
    projects,
    queues,
    quotas,
    reroute,
    saved_queries,
    schedules,
    secrets,
    sessions,
    system,
    tenants,
    tokens,
    transports,
    users,
    workers,
)
from weft.ports.extension import parts

SUBJECTS: Final[Sequence[ModuleType]] = (
    apps, attempt_usage, conditions, file_stores, licences, limits, operations, parameters,
    permissions, pools, products, projects, queues, quotas, reroute, saved_queries, schedules,
    secrets, sessions, system, tenants, tokens, transports, users, workers,
)  # fmt: skip
CALLS: Final = calls_of(*SUBJECTS)


def all_calls() -> Sequence[Call]:
    """Return the declared calls, those of extensions included."""
    return [*CALLS, *(one for part in parts("api") for one in part.calls)]


ROUTES: Final = tuple(map(route_of, all_calls()))
"""The routes of declared calls, those of extensions included."""
