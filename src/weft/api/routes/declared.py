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
    bulk,
    callbacks,
    cancel,
    command,
    conditions,
    delete,
    edit,
    failures,
    file_stores,
    file_trial,
    files,
    hide,
    hold,
    imports,
    licences,
    limits,
    operations,
    parameters,
    permissions,
    pictures,
    pools,
    products,
    projects,
    queues,
    quotas,
    read,
    release,
    reroute,
    resubmit,
    retry,
    saved_queries,
    schedules,
    secrets,
    sessions,
    sets,
    system,
    tenants,
    tokens,
    trail,
    transports,
    users,
    why,
    workers,
)
from weft.ports.extension import parts

SUBJECTS: Final[Sequence[ModuleType]] = (
    apps, attempt_usage, bulk, callbacks, cancel, command, conditions, delete, edit, failures,
    file_stores, file_trial, files, hide, hold, imports, licences, limits, operations, parameters,
    permissions, pictures, pools, products, projects, queues, quotas, read, release, reroute,
    resubmit, retry, saved_queries, schedules, secrets, sessions, sets, system, tenants, tokens,
    trail, transports, users, why, workers,
)  # fmt: skip
CALLS: Final = calls_of(*SUBJECTS)


def all_calls() -> Sequence[Call]:
    """Return the declared calls, those of extensions included."""
    return [*CALLS, *(one for part in parts("api") for one in part.calls)]


ROUTES: Final = tuple(map(route_of, all_calls()))
"""The routes of declared calls, those of extensions included."""
