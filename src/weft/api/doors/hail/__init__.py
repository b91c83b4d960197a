"""The door for Hail's own client: `/api/v1alpha` and `/api/v2alpha`, as `hailtop` 0.2.139 uses
them.

Its routes answer by Hail's contract: errors are a status and a text, lists have pages of exactly
fifty, and a request with a token that is known is a repeat, whatever else it says.
`docs/guides/coming-from-hail.md` says what is the same and what differs.
"""

from collections.abc import Sequence
from typing import Final

from litestar.types import ControllerRouterHandler

from weft.api.doors.hail import (
    batch_routes,
    billing_routes,
    group_routes,
    job_routes,
    old_routes,
    site_routes,
)

ROUTES: Final[Sequence[ControllerRouterHandler]] = (
    *batch_routes.ROUTES,
    *group_routes.ROUTES,
    *job_routes.ROUTES,
    *billing_routes.ROUTES,
    *old_routes.ROUTES,
    *site_routes.ROUTES,
)
