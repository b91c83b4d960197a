"""The pages of weft, below `/ui`: HTML over the use cases of the api. They show nothing that the
API cannot say.
"""

from collections.abc import Sequence
from typing import Final

from weft.api.http.routing import Route
from weft.api.pages import (
    actions,
    batch_actions,
    batches,
    conditions,
    costs,
    files,
    fleet_actions,
    home,
    incidents,
    job_actions,
    jobs,
    live,
    logs,
    operations,
    pictures,
    queues,
    saved_queries,
    sessions,
    system,
    tree,
    visit,
    workers,
)

ROUTES: Final[Sequence[Route]] = (
    *home.ROUTES,
    *batches.ROUTES,
    *jobs.ROUTES,
    *logs.ROUTES,
    *live.ROUTES,
    *pictures.ROUTES,
    *tree.ROUTES,
    *incidents.ROUTES,
    *conditions.ROUTES,
    *queues.ROUTES,
    *workers.ROUTES,
    *costs.ROUTES,
    *system.ROUTES,
    *visit.ROUTES,
    *actions.ROUTES,
    *job_actions.ROUTES,
    *fleet_actions.ROUTES,
    *batch_actions.ROUTES,
    *operations.ROUTES,
    *saved_queries.ROUTES,
    *sessions.ROUTES,
    *files.ROUTES,
)
